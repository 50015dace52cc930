"""Options of scripts in source distributions on PyPI, compared with what the libraries made of them when they ran.

``sdists/<name>.json`` was written by ``record_expected.py`` (without help). pip downloads the distributions; nothing of
them is built or run. The test is skipped where no registry can be reached, which CI does not accept.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from jupyterlab_t9kjob.launch.options.reader import read_options
from tests.patience import PATIENCE
from tests.unit.options.test_corpus import as_dict, facts

SDISTS = {"litgpt": ("0.5.13", "litgpt/__main__.py")}
"""Version and script by the name of the distribution."""


def download(name: str, version: str, folder: Path) -> Path:
    """Return the unpacked folder of a source distribution."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    command += ["--no-build-isolation", "--retries", "0", "--timeout", "20", "-d", str(folder), f"{name}=={version}"]
    subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    archive = folder / f"{name}-{version}.tar.gz"
    if not archive.exists():
        pytest.skip("no package registry can be reached")
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):  # Debian 12's Python has none
            opened.extraction_filter = tarfile.data_filter
        opened.extractall(folder)
    return folder / f"{name}-{version}"


@pytest.mark.parametrize("name", SDISTS)
def test_scripts_of_source_distributions(name: str, tmp_path: Path) -> None:
    version, path = SDISTS[name]
    folder = download(name, version, tmp_path)
    expected = json.loads((Path(__file__).parent / "sdists" / f"{name}.json").read_text())
    read = read_options(folder, folder / path, (folder / path).read_text())
    options = [{**as_dict(option), "help": None} for option in read.options]
    wanted, got = facts(expected), facts(options)
    assert {fact[0] for fact in got} <= {fact[0] for fact in wanted}, "invented options"
    assert 2 * len(wanted & got) / (len(wanted) + len(got)) >= 0.98
