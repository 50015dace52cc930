"""A server with real launching over clusters that only keep what they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.core.engine.info import Volume
from jupyterlab_t9kjob.core.lab import Lab, LabMount
from jupyterlab_t9kjob.core.spec import Security
from tests.server.conftest import Answer, Api
from tests.server.fakes import FakeCluster

SCRIPT = """import argparse
import torch.distributed as dist
parser = argparse.ArgumentParser()
parser.add_argument('--log_dir')
dist.init_process_group()
"""


@dataclass
class Place:
    """A lab with its PVC ``work`` at the contents root's folder ``work``, and two engines."""

    api: Api
    root: Path
    t9k: FakeCluster
    kubeflow: FakeCluster

    def write(self, path: str, text: str = SCRIPT) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    async def form(self, path: str | None = "work/train.py", engine: str = "t9k", **more: Any) -> dict[str, Any]:
        answer = await self.api("POST", "launch", "prefill", body={"path": path, "engine": engine, **more})
        assert answer.status == 200, answer.json
        return answer.json

    async def preview(self, engine: str = "t9k", **more: Any) -> Answer:
        return await self.api("POST", "launch", "preview", body={"engine": engine, **more})

    async def checks(self, spec: dict[str, Any], level: str = "", **more: Any) -> dict[str, dict[str, Any]]:
        """Return what is said of a spec, by code."""
        answer = await self.preview(spec=spec, **more)
        assert answer.status == 200, answer.json
        return {line["code"]: line for line in answer.json["checks"] if level in ("", line["level"])}

    async def create(self, engine: str = "t9k", request_id: str = "request-0001", **more: Any) -> Answer:
        return await self.api("POST", "jobs", body={"engine": engine, "request_id": request_id, **more})

    async def refused(self, reason: str, field: str | None, status: int = 422, **request: Any) -> dict[str, Any]:
        """Submit what can't be: it is refused at the field, and nothing is created."""
        files = sorted(self.root.rglob("*"))
        answer = await self.create(**request)
        assert (answer.status, answer.json["code"], answer.json["field"]) == (status, reason, field), answer.json
        assert answer.json["message"].endswith(".") and answer.json["hint"]
        assert not self.t9k.submitted and not self.kubeflow.submitted
        assert sorted(self.root.rglob("*")) == files
        return answer.json


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jp_root_dir: Path) -> Place:
    """Return the place; ask for `api` beside it, which starts the server."""
    make = T9kJobApp._make_services
    root = jp_root_dir.resolve()
    for folder in ("work", "sets"):
        (root / folder).mkdir()
    lab = Lab(
        mounts=(
            LabMount("work", "team", root / "work", PurePosixPath("/t9k/mnt"), access_modes=("ReadWriteMany",)),
            LabMount("sets", "team", root / "sets", PurePosixPath("/sets"), "v2", True, ("ReadOnlyMany",)),
        ),
        image="lab:1",
        pull_policy="IfNotPresent",
        pull_secrets=("regcred",),
        security=Security(uid=1000, gid=100, fs_group=2000),
        user="me",
        home=root / "work" / "home",
    )
    engines = [FakeCluster(tmp_path / name, name, lab) for name in ("t9k", "kubeflow")]
    for engine in engines:
        (tmp_path / engine.name).mkdir()
        engine.claims["team"] = [
            Volume(claim="work", access_modes=["ReadWriteMany"], phase="Bound"),
            Volume(claim="sets", access_modes=["ReadOnlyMany"], phase="Bound"),
            Volume(claim="once", access_modes=["ReadWriteOnce"], phase="Bound"),
        ]

    def make_with_clusters(app: T9kJobApp) -> Any:
        services = make(app)
        services.jobs.engines._engines.update({engine.name: engine for engine in engines})
        return services

    monkeypatch.setattr(T9kJobApp, "_make_services", make_with_clusters)
    return Place(None, root, *engines)  # type: ignore[arg-type]


@pytest.fixture
def cluster(place: Place, api: Api) -> Place:
    place.api = api
    return place
