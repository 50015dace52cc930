"""Jobs that certainly can't run are refused at the field: missing commands, more devices than the machine has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.engines.local.plan import limits
from tests.server.local.conftest import Place

ENTRYPOINT = "/spec/entrypoint/value"
PROCESSES = "/spec/torchrun/proc_per_node"


@pytest.fixture
def commands(place: Place) -> Path:
    """A working directory with commands in it, and a folder of PATH that is relative to it."""
    root = place.root
    (root / "bin").mkdir()
    for name, text in {
        "run.sh": "#!/bin/sh\necho ran\n",
        "bin/tool": "#!/bin/sh\necho ran\n",
        "lost.sh": "#!/no/such/shell -e\n",
        "windows.sh": "#!/bin/sh\r\necho ran\r\n",
        "plain.sh": "#!/bin/sh\n",
    }.items():
        (root / name).write_text(text, newline="")
        (root / name).chmod(0o644 if name == "plain.sh" else 0o755)
    return root


@pytest.mark.parametrize("torchrun", [None, {"proc_per_node": 1}], ids=["alone", "torchrun"])
async def test_commands(place: Place, commands: Path, torchrun: Any) -> None:
    spec = await place.form(torchrun=torchrun, env=[{"name": "PATH", "value": "bin:/usr/bin:/bin"}])
    refused = {
        "no-such-program": ("There is no command no-such-program in the job's PATH: bin:/usr/bin:/bin.", "installed"),
        "run.sh": ("There is no command run.sh in the job's PATH", "enter ./run.sh."),
        "tool --x": ("There is no command tool --x", "arguments have a field of their own"),
        "./gone.sh": (f"There is no command ./gone.sh in the working directory {place.root}.", "path"),
        "/no/such/tool": ("There is no command /no/such/tool.", "path"),
        "./bin": (f"{place.root}/bin is a folder.", "another program"),
        "./plain.sh": (f"{place.root}/plain.sh is not executable.", "chmod +x"),
        "./lost.sh": ("lost.sh, /no/such/shell, does not exist", "first line"),
        "./windows.sh": ("ends as on Windows", "Unix line ends"),
        "x" * 4000: ("There is no command xxx", "installed"),
    }
    for value, (message, hint) in refused.items():
        answer = await place.refused({**spec, "entrypoint": {"kind": "command", "value": value}}, ENTRYPOINT)
        assert message in answer.json["message"] and hint in answer.json["hint"], answer.json
        assert len(answer.json["message"]) < 1500
    for value in ("sh", "tool", "./run.sh", "bin/tool", "/bin/sh"):
        found = await place.checks({**spec, "entrypoint": {"kind": "command", "value": value}})
        assert [check for check in found if check["level"] == "error"] == [], value


async def test_a_command_of_one_replica_type(place: Place) -> None:
    spec = await place.form(torchrun=None)
    types = [{"type": "worker"}, {"type": "other", "entrypoint": {"kind": "command", "value": "no-such-program"}}]
    await place.refused({**spec, "replica_specs": types}, "/spec/replica_specs/1/entrypoint/value")


async def test_more_than_the_machine_has(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = await place.form()
    gib = 1024**3
    monkeypatch.setattr("jupyterlab_t9kjob.engines.local.plan.size_checks.most_memory", lambda: 24 * gib)
    answer = await place.refused({**spec, "torchrun": {"proc_per_node": 1000}}, PROCESSES)
    assert answer.json["message"] == (
        "1001 processes that import PyTorch need 97.8 GiB of memory or more, and this machine has 24 GiB."
    )
    assert answer.json["hint"] == "Ask for at most 244 in all."
    checks = await place.checks({**spec, "torchrun": {"proc_per_node": 64}})
    assert [check["level"] for check in checks if check["field"] == PROCESSES] == ["warning"]

    group = {**spec["replica_specs"][0], "resources": {"memory": {"request": "25Gi"}}}
    field = "/spec/replica_specs/0/resources/memory/request"
    answer = await place.refused({**spec, "replica_specs": [group]}, field)
    assert answer.json["message"] == "The job asks for 25 GiB of memory, and this machine has 24 GiB."

    monkeypatch.setattr("jupyterlab_t9kjob.engines.local.plan.size_checks.most_processes", lambda: 20)
    answer = await place.refused({**spec, "torchrun": {"proc_per_node": 20}}, PROCESSES)
    assert answer.json["message"] == "The job starts 21 processes, and only 20 are allowed here."


def test_limits_of_control_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = limits.most_memory()
    monkeypatch.setattr(limits, "CGROUPS", tmp_path)
    monkeypatch.setattr(limits, "_groups", lambda _controller: iter([tmp_path / "pod" / "container", tmp_path / "pod"]))
    (tmp_path / "pod" / "container").mkdir(parents=True)
    assert limits.most_memory() == machine
    (tmp_path / "pod" / "container" / "memory.max").write_text("max\n")
    (tmp_path / "pod" / "memory.max").write_text("1048576\n")
    (tmp_path / "pod" / "pids.max").write_text("100\n")
    assert (limits.most_memory(), limits.most_processes()) == (1048576, 100)


async def test_a_job_whose_script_was_moved_is_not_run_again(place: Place) -> None:
    """The hint says what can be done where a job is repeated, where no file can be chosen."""
    job = await place.submit(await place.form(torchrun=None, paused=True))
    (place.root / "train.py").rename(place.root / "moved.py")
    answer = await place.api("POST", "jobs", job["id"], "rerun")
    assert (answer.status, answer.json["message"]) == (422, "train.py does not exist.")
    assert answer.json["hint"] == "Put it back, or clone the job and choose the file at its new place."
    (place.root / "moved.py").rename(place.root / "train.py")
    assert (await place.api("POST", "jobs", job["id"], "rerun")).status == 201
