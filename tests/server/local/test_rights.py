"""Files of a job belong to its owner alone; a file that the server may not read is an error with a sentence."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.lab import Lab
from tests.server.conftest import ENDED
from tests.server.local.conftest import listing

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
TRAIN = """
import os, sys, time
from pathlib import Path
print("a line", flush=True)
print("an error", file=sys.stderr, flush=True)
Path(os.environ["T9KJOB_LOG_DIR"]).mkdir(parents=True, exist_ok=True)
(Path(os.environ["T9KJOB_LOG_DIR"]) / "events.out.tfevents.1").touch()
Path("mine").touch()
time.sleep(float(sys.argv[1]))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that everybody may enter, with a path short enough for sockets."""
    path = Path(tempfile.mkdtemp(prefix="t9-"))
    path.chmod(0o755)
    (path / "x").mkdir(mode=0o700)
    yield path
    for _ in range(20):  # what still ends removes its own files meanwhile
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        shutil.rmtree(path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_job_directories_and_sockets_are_their_owners(folder: Path, umask: int):
    run = folder / "x"
    lab = Lab(folder, umask=umask, environment={"XDG_RUNTIME_DIR": str(run)}, grace_seconds=1)
    lab.start()
    try:
        work = lab.spec(TRAIN, "train", args=["60"], torchrun={"proc_per_node": 1})
        work["tensorboard"] = {"log_dirs": [str(lab.root / "runs")]}
        job = lab.submit(work, "request-0001").json
        job = lab.until(job["id"], lambda job: job["phase"] == "Running" and (lab.root / "mine").exists())
        other = lab.submit(lab.spec(TRAIN, "other", args=["0"]), "request-0002").json
        lab.until(other["id"], lambda job: job["phase"] in ENDED)
        board = lab.ask("POST", "tensorboards", body={"job_id": job["id"]})
        assert board.status == 201, board.body
        sockets: list[Path] = []
        while not sockets:
            sockets = [path for path in map(Path, listing(run)) if path.is_socket()]
        assert mode(lab.jobs) == 0o700
        for place in (run / "t9kjob", *(run / "t9kjob").iterdir(), *lab.jobs.iterdir()):
            with contextlib.suppress(FileNotFoundError):  # the socket of a supervisor that ends
                assert mode(place) == (0o700 if place.is_dir() else 0o600), place
        written = [path for path in map(Path, listing(*lab.jobs.iterdir())) if path.exists()]
        assert {"spec.json", "run.json", "record.json", "heartbeat", "events.jsonl", "desired", "supervisor.log"} <= {
            path.name for path in written
        }
        for path in written:
            if "ranks" not in path.relative_to(lab.jobs).parts:  # torchrun made those, in a folder that is closed
                with contextlib.suppress(FileNotFoundError):  # it was about to replace another
                    assert mode(path) == (0o700 if path.is_dir() else 0o600), path
        # what a job itself makes has the modes that its user wants
        assert mode(lab.root / "mine") == 0o666 & ~umask
        if os.geteuid() == 0 and shutil.which("setpriv"):
            nobody_gets_in(lab, run, sockets)
    finally:
        for job in lab.listed():
            lab.ask("DELETE", "jobs", job["id"], remove="true")
        lab.kill()


def nobody_gets_in(lab: Lab, run: Path, sockets: list[Path]) -> None:
    """Try everything as another user, were the folder above open to all."""
    run.chmod(0o755)
    lab.home.chmod(0o755)
    everything = sorted(listing(lab.jobs, run / "t9kjob"))
    assert len(everything) > 20
    # what is there can't even be seen by another user
    for test in ("-e", "-r", "-x"):
        script = f'for path in "$@"; do if [ {test} "$path" ]; then echo "$path"; fi; done'
        seen = subprocess.run([*NOBODY, "sh", "-c", script, "sh", *everything], capture_output=True, text=True)
        allowed = {str(path) for path in (lab.jobs, run / "t9kjob")}
        assert (set(seen.stdout.split()) - allowed, seen.stderr) == (set(), ""), test
    for place in (lab.jobs, run / "t9kjob"):
        assert subprocess.run([*NOBODY, "ls", str(place)], capture_output=True).returncode != 0
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is not None:
        done = subprocess.run([*NOBODY, python, "-c", connect, str(sockets[0])], capture_output=True, text=True)
        assert "PermissionError" in done.stderr


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[Lab]:
    """A server that has no right to all files, even where it is root's."""
    prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if prefix and subprocess.run([*prefix, "true"], capture_output=True).returncode:
        prefix = []
    lab = Lab(tmp_path, prefix=prefix)
    lab.start()
    yield lab
    lab.kill()


def test_what_may_not_be_read_is_refused_at_its_field(unprivileged: Lab, tmp_path: Path):
    lab = unprivileged
    spec = lab.spec("print(1)", "train")
    (lab.root / "open.ipynb").write_text(json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "1"}]}))
    for name in ("closed", "folder"):
        (lab.root / name).mkdir()
    (lab.root / "secret.py").write_text("1")
    (lab.root / "closed" / "inner.py").write_text("1")
    (lab.root / "secret.py").chmod(0)
    (lab.root / "closed").chmod(0)
    try:
        if os.access(lab.root / "secret.py", os.R_OK) and not lab._prefix:
            pytest.fail("this test needs setpriv when it is root's")
        cases = [
            ({"entrypoint": {"value": str(lab.root / "secret.py")}}, "/spec/entrypoint/value", "can't be read"),
            (
                {"entrypoint": {"value": str(lab.root / "closed" / "inner.py")}},
                "/spec/entrypoint/value",
                "can't be read",
            ),
            ({"working_dir": str(lab.root / "closed")}, "/spec/working_dir", "can't be entered"),
            ({"working_dir": str(lab.root / "closed" / "deep")}, "/spec/working_dir", "can't be entered"),
            (
                {"replica_specs": [{}, {"type": "b", "entrypoint": {"value": str(lab.root / "secret.py")}}]},
                "/spec/replica_specs/1/entrypoint/value",
                "can't be read",
            ),
        ]
        for change, field, words in cases:
            answer = lab.submit({**spec, **change}, "request-0001")
            assert (answer.status, answer.json["field"]) == (422, field), answer.json
            assert words in answer.json["message"] and answer.json["hint"]
            preview = lab.ask("POST", "launch", "preview", body={"spec": {**spec, **change}})
            errors = [check for check in preview.json["checks"] if check["level"] == "error"]
            assert field in [check["field"] for check in errors], preview.json
        form = lab.ask("POST", "launch", "prefill", body={"path": "secret.py"})
        assert (form.status, form.json["field"], form.json["verbatim"]) == (422, "/path", "Permission denied")
        # a log directory that can't be written is a warning, for the script may make it elsewhere
        boards = {"tensorboard": {"log_dirs": [str(lab.root / "closed" / "runs")]}}
        preview = lab.ask("POST", "launch", "preview", body={"spec": {**spec, **boards}})
        assert ("warning", "LogDirectoryReadOnly") in [(c["level"], c["code"]) for c in preview.json["checks"]]
        # a notebook's script that can't be written beside it
        (lab.root / "folder" / "n.ipynb").write_bytes((lab.root / "open.ipynb").read_bytes())
        (lab.root / "folder").chmod(0o555)
        notebook = {"kind": "notebook", "value": str(lab.root / "folder" / "n.ipynb")}
        answer = lab.submit({**spec, "entrypoint": notebook}, "request-0001")
        assert (answer.status, answer.json["code"]) == (422, "NotWritable")
        assert answer.json["field"] == "/spec/entrypoint/value"
        assert lab.listed(deleted="true") == [] and list(lab.jobs.iterdir()) == []
    finally:
        for name in ("closed", "folder"):
            (lab.root / name).chmod(0o755)
