"""Packages of a Python, found without starting it."""

from __future__ import annotations

import sys
from pathlib import Path

from jupyterlab_t9kjob.experiments.of_jobs.packages import packages_of


def test_packages_are_read_from_the_names_of_folders(tmp_path: Path) -> None:
    base, venv = tmp_path / "base", tmp_path / "venv"
    for prefix, names in ((base, ["numpy-1.0.dist-info", "torch-1.0.dist-info"]), (venv, ["Torch-2.1+cpu.dist-info"])):
        for name in names:
            (prefix / "lib/python3.9/site-packages" / name).mkdir(parents=True)
    (venv / "lib/python3.9/site-packages/-broken.dist-info").mkdir()
    python = venv / "bin/python"
    (venv / "pyvenv.cfg").write_text(f"home = {base}/bin\ninclude-system-site-packages = false\n")
    assert packages_of(python) == ("3.9", {"torch": "2.1+cpu"})
    (venv / "pyvenv.cfg").write_text(f"home = {base}/bin\ninclude-system-site-packages = true\n")
    assert packages_of(python) == ("3.9", {"numpy": "1.0", "torch": "2.1+cpu"})
    assert packages_of(tmp_path / "none/bin/python") == (None, {})
    assert packages_of(Path(sys.executable))[1]["pytest"]
