"""The program that clones a job's repository on this machine, with a git that hangs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.system.processes import alive, process_id
from jupyterlab_t9kjob.engines.local.supervisor import clone_program

HANGING_GIT = """#!/bin/sh
case "$*" in
  *get-regexp*) exit 1;;
  *fetch*) sleep 600 & echo $! > "$PIDS"; wait;;
esac
"""


def test_a_clone_that_takes_too_long_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that git has started, such as ssh, end too."""
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin" / "git"
    git.write_text(HANGING_GIT)
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:/usr/bin:/bin")
    monkeypatch.setenv("PIDS", str(tmp_path / "pid"))
    monkeypatch.setattr(clone_program, "MOST_SECONDS", 1.0)
    folder = tmp_path / "copy"
    folder.mkdir()
    code = {"folder": str(folder), "address": "https://example.org/a.git", "ref": "", "commit": "a" * 40}
    plan = tmp_path / "run.json"
    plan.write_text(json.dumps({"code": {**code, "submodules": False, "history": False, "protocols": ["https"]}}))
    assert clone_program.main(plan, tmp_path / "error.json") == 1
    assert "timed out" in json.loads((tmp_path / "error.json").read_text())["words"]
    end, pid = time.monotonic() + 60, int((tmp_path / "pid").read_text())
    while alive(process_id(pid)):  # The kernel ends a killed process when it next gives it a turn.
        assert time.monotonic() < end
        time.sleep(0.02)
    assert [path.name for path in folder.iterdir()] in ([], ["lock"])
