"""Ways to drive a local engine and to wait for what it does."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib
import json
import os
import shutil
import signal
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.engine.interpreter import Interpreter
from jupyterlab_t9kjob.core.job import Job, JobSummary
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.engines.local.engine import LocalEngine
from jupyterlab_t9kjob.engines.local.settings import Settings
from tests.patience import PATIENCE

ENDED = ("Succeeded", "Failed")


async def this_python(name: str | None) -> Interpreter:
    return Interpreter(sys.executable, {"FROM_KERNEL": "yes"}, name or "python3")


@dataclass
class Bench:
    """An engine, a folder for scripts, and what was heard from the engine."""

    engine: LocalEngine
    home: Path
    root: Path
    heard: list[tuple[str, JobSummary | None]] = field(default_factory=list)
    uids: list[str] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, job_id: str, summary: JobSummary | None) -> None:
        self.heard.append((job_id, summary))
        self._news.set()

    def script(self, text: str, name: str = "train.py") -> Path:
        path = self.root / name
        path.write_text(textwrap.dedent(text))
        return path

    def spec(self, text: str = "", **fields: Any) -> JobSpec:
        number = uuid.uuid4().hex[:6]
        script = self.script(text, f"train_{number}.py")
        defaults: dict[str, Any] = {
            "name": f"job-{number}",
            "entrypoint": Entrypoint(value=str(script)),
            "torchrun": None,
        }
        return JobSpec.model_validate(defaults | fields)

    async def submit(self, text: str = "", *, request_id: str | None = None, **fields: Any) -> Job:
        job = await self.engine.create(
            self.spec(text, **fields), namespace="", request_id=request_id or uuid.uuid4().hex
        )
        self.uids.append(job.uid)
        return job

    async def until(self, uid: str, reached: Callable[[Job], bool], seconds: float = PATIENCE) -> Job:
        """Wait, by the engine's own announcements, until the job is as wanted."""
        end = time.monotonic() + seconds
        while True:
            self._news.clear()
            job = await self.engine.job(uid)
            if reached(job):
                return job
            await asyncio.wait_for(self._news.wait(), end - time.monotonic())

    async def known(self, uid: str) -> None:
        """Wait until the engine has found a job that another one made."""
        while uid not in {job.uid for job in await self.engine.jobs()}:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)

    async def ended(self, uid: str, seconds: float = PATIENCE) -> Job:
        return await self.until(uid, lambda job: job.phase in ENDED, seconds)

    async def running(self, uid: str) -> Job:
        return await self.until(uid, lambda job: job.phase == "Running")

    async def output(self, uid: str, stream: str) -> bytes:
        files = {file.stream.id: file for file in await self.engine.log_sources(uid)}
        return files[stream].path.read_bytes()

    async def codes(self, uid: str) -> list[str]:
        """Return the reasons of all events, oldest first."""
        return [event.reason for event in reversed(await self.engine.events(uid))]

    async def until_code(self, uid: str, code: str) -> None:
        """Wait until there is an event with this reason."""
        while True:
            self._news.clear()
            if code in await self.codes(uid):
                return
            await asyncio.wait_for(self._news.wait(), PATIENCE)

    async def until_ranks(self, uid: str) -> list[list[int]]:
        """Wait until the global ranks of all replicas are known."""
        while True:
            self._news.clear()
            ranks = [replica.ranks for replica in await self.engine.replicas(uid)]
            if all(ranks):
                return ranks
            await asyncio.wait_for(self._news.wait(), PATIENCE)

    async def prepared(self, uid: str) -> None:
        """Wait until a job's supervisor has imported what it needs in the end, which its first heartbeat says."""
        folder = self.home / "jobs" / uid

        def beats() -> bool:
            started = json.loads((folder / "record.json").read_bytes())["started_at"]
            return started is not None and float((folder / "heartbeat").read_text()) > started

        await eventually(beats)

    async def written(self, path: Path, seconds: float = PATIENCE) -> str:
        """Wait until a job's script has written a file (it has no other way to tell)."""
        return await asyncio.to_thread(_wait_for_text, path, seconds)


async def eventually(true: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait for something outside of the engine, which nothing announces."""

    def wait() -> None:
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(0.01)

    await asyncio.to_thread(wait)


def _wait_for_text(path: Path, seconds: float) -> str:
    end = time.monotonic() + seconds
    while not (path.exists() and path.read_text()):
        if time.monotonic() > end:
            raise TimeoutError(f"{path} was not written")
        time.sleep(0.02)
    return path.read_text()


def carrying(uid: str) -> list[int]:
    """Return all processes of the machine that carry the job's mark, by our own reading of /proc."""
    mark = f"T9KJOB_UID={uid}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def remove(folder: Path) -> None:
    """Remove a folder that somebody writes in: what comes or goes meanwhile makes one try again."""
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                raise


@contextlib.contextmanager
def pretended_driver(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Put a stand-in for NVIDIA's pynvml in its place; give the module, whose `State` says what hardware there is."""
    from jupyterlab_t9kjob.engines.local.devices import nvml

    patch.syspath_prepend(str(Path(__file__).parent / "fakes"))
    patch.delitem(sys.modules, "pynvml", raising=False)
    patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    patch.setattr(nvml, "FRESH_SECONDS", 0.0)
    module = importlib.import_module("pynvml")
    yield module
    hangs = module.State.hangs
    module.reset()
    if hangs is not None:
        hangs.set()
    del sys.modules["pynvml"]


def make_engine(home: Path, root: Path, **settings: Any) -> LocalEngine:
    return LocalEngine(home, root, this_python, Settings(**{"backoff_seconds": 0.1} | settings))
