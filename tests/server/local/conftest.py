"""For tests over the real local engine: a place with a script, submitting, and what a refusal leaves behind."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Answer, Api

# schemathesis needs Python 3.11, and the contract is the same on all
collect_ignore = ["test_any_request.py"] if sys.version_info < (3, 11) else []


def processes_of(home: Path) -> list[str]:
    """Return the command lines of all processes that were started for a job below `home`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if any(part.startswith(f"{home}/") for part in command):
                found.append(" ".join(command))
    return found


def listing(*folders: Path) -> set[str]:
    """Return everything that lies below some folders, hidden files too."""
    return {
        os.path.join(where, name)  # noqa: PTH118
        for folder in folders
        for where, folders_there, files in os.walk(folder)
        for name in (*folders_there, *files)
    }


@dataclass
class Place:
    """A server with the local engine, and its files."""

    api: Api
    root: Path
    home: Path

    async def form(self, path: str = "train.py", **changes: Any) -> dict[str, Any]:
        """Return a filled form's spec with changes to it."""
        answer = await self.api("POST", "launch", "prefill", body={"path": path})
        assert answer.status == 200, answer.json
        return {**answer.json["spec"], "torchrun": {"proc_per_node": 1}, **changes}

    async def create(self, spec: Any, request_id: str = "request-0001") -> Answer:
        return await self.api("POST", "jobs", body={"spec": spec, "request_id": request_id})

    async def submit(self, spec: Any, request_id: str = "request-0001") -> dict[str, Any]:
        answer = await self.create(spec, request_id)
        assert answer.status == 201, answer.json
        return answer.json

    async def refused(self, spec: Any, field: str | None, status: int = 422) -> Answer:
        """Submit what can't run: it is refused at the field, alike in the preview, and nothing is left behind."""
        before = listing(self.root, self.home)
        answer = await self.create(spec)
        assert (answer.status, answer.json["field"]) == (status, field), answer.json
        assert answer.json["message"][0].isupper() or answer.json["message"][0] in "/“" or field
        assert listing(self.root, self.home) == before
        assert processes_of(self.home) == []
        assert (await self.api("GET", "jobs", deleted="true")).json["total"] == 0
        dry = await self.api("POST", "launch", "preview", body={"spec": spec})
        if dry.status == 200:
            errors = {(check["field"], check["message"]) for check in dry.json["checks"] if check["level"] == "error"}
            assert (field, answer.json["message"]) in errors, (answer.json, errors)
        else:
            assert (dry.status, dry.json) == (answer.status, answer.json)
        assert listing(self.root, self.home) == before
        return answer

    async def checks(self, spec: Any) -> list[dict[str, Any]]:
        answer = await self.api("POST", "launch", "preview", body={"spec": spec})
        assert answer.status == 200, answer.json
        return answer.json["checks"]


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "jobs"), "grace_seconds": 10.0}
    return jp_server_config


@pytest.fixture
def place(api: Api, jp_root_dir: Path, tmp_path: Path) -> Place:
    (jp_root_dir / "train.py").write_text("print(1)\n")
    return Place(api, jp_root_dir, tmp_path / "jobs")
