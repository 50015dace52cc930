"""Keeps the logs of the pods with a label, as an engine would have it done: in a test, or as a process to be killed.

python -m tests.kubernetes.logkeeper NAMESPACE JOB FOLDER [RANKS]
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx

from jupyterlab_t9kjob.core.job import LogStream
from jupyterlab_t9kjob.core.log_sources import LogFile
from jupyterlab_t9kjob.engines.kubernetes.client.api import KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import load_connection
from jupyterlab_t9kjob.engines.kubernetes.client.fair_slots import Slots
from jupyterlab_t9kjob.engines.kubernetes.client.watch.informer import Informer
from jupyterlab_t9kjob.engines.kubernetes.logs.job_logs import JobLogs
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView, newest
from tests.patience import PATIENCE

LABEL = "logs-job"


class Keeper:
    """A `JobLogs` fed by a watch of the pods ``<job>-<index>``."""

    def __init__(self, namespace: str, job: str, folder: Path, *, server: str | None = None, **options: Any) -> None:
        connection = load_connection()
        self.api = KubeApi(dataclasses.replace(connection, server=server or connection.server))
        self.logs = JobLogs(
            self.api, namespace, folder, **{"ranks": None, "always": True, "slots": Slots(64), **options}
        )
        self.asked: list[dict[str, Any]] = []
        self._job = job
        self._stream = self.api.stream
        self.api.stream = self._note_stream  # type: ignore[method-assign]
        self._earlier: dict[int, dict[str, int]] = {}
        self._pods = Informer(
            self.api,
            f"/api/v1/namespaces/{namespace}/pods",
            lambda _before, _now: self._tell(),
            params={"labelSelector": f"{LABEL}={job}"},
        )

    async def start(self) -> None:
        self._pods.start()
        await self._pods.listed()

    async def stop(self) -> None:
        await self._pods.stop()
        await self.logs.stop()
        await self.api.close()

    def _tell(self) -> None:
        pods = list(self._pods.objects.values())
        places = []
        for pod in pods:
            index = int(pod["metadata"]["name"].rpartition("-")[2])
            statuses = pod["status"].get("containerStatuses", [])
            known = self._earlier.setdefault(index, {})
            known[pod["metadata"]["uid"]] = max((status["restartCount"] + 1 for status in statuses), default=1)
        for index, known in self._earlier.items():
            mine = [pod for pod in pods if pod["metadata"]["name"] == f"{self._job}-{index}"]
            pod = newest(mine)
            uid = pod["metadata"]["uid"] if pod else None
            earlier = sum(number for other, number in known.items() if other != uid)
            places.append(ReplicaView("worker", index, container="pytorch", pod_uid=uid, pod=pod, earlier=earlier))
        phases = [pod["status"].get("phase") for pod in pods]
        self.logs.update(places, ended=bool(phases) and all(phase in ("Succeeded", "Failed") for phase in phases))

    def _note_stream(self, path: str, params: Any = None, **options: Any) -> Any:
        if path.endswith("/log"):
            self.asked.append({key: value for key, value in params.items() if value is not None})
        return self._stream(path, params, **options)

    def follows(self, stream: str) -> bool:
        """Return True if this lab writes the log now."""
        return bool(self.logs._tasks)

    # -- what there is ------------------------------------------------------------------------------------------------

    async def file(self, stream: str) -> LogFile:
        return next(file for file in await self.logs.files() if file.stream.id == stream)

    async def bytes(self, stream: str) -> bytes:
        return (await self.file(stream)).path.read_bytes()

    async def until(
        self, reached: Callable[[dict[str, LogStream]], Any], seconds: float = PATIENCE
    ) -> dict[str, LogStream]:
        """Look at the streams until they are as wanted; nobody announces them."""
        end = time.monotonic() + seconds
        while True:
            streams = {file.stream.id: file.stream for file in await self.logs.files()}
            if reached(streams):
                return streams
            assert time.monotonic() < end, streams
            await asyncio.sleep(0.05)

    async def complete(self, *streams: str, seconds: float = PATIENCE) -> dict[str, LogStream]:
        return await self.until(lambda have: all(one in have and have[one].complete for one in streams), seconds)


@contextlib.asynccontextmanager
async def keeping(namespace: str, job: str, folder: Path, **options: Any) -> AsyncIterator[Keeper]:
    keeper = Keeper(namespace, job, folder, **options)
    await keeper.start()
    try:
        yield keeper
    finally:
        await keeper.stop()


def pod(job: str, image: str, script: str, index: int = 0, **spec: Any) -> dict[str, Any]:
    """Return a pod of a job that runs a script of Python's."""
    container = {
        "name": "pytorch",
        "image": image,
        "command": ["python", "-u", "-c", script],
        **spec.pop("container", {}),
    }
    return {
        "metadata": {"name": f"{job}-{index}", "labels": {LABEL: job}},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "containers": [container, *spec.pop("containers", [])],
            **spec,
        },
    }


class Cable:
    """A way to the API server that can be cut."""

    def __init__(self, server: str) -> None:
        self._to = httpx.URL(server)
        self._ends: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    async def join(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for end in list(self._ends):
            end.transport.abort()
        self._ends.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.add(writer)
        with contextlib.suppress(OSError):
            inward, outward = await asyncio.open_connection(self._to.host, self._to.port)
            self._ends.add(outward)
            await asyncio.gather(_copy(reader, outward), _copy(inward, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def main(namespace: str, job: str, folder: str, ranks: str | None = None) -> None:
    async with keeping(namespace, job, Path(folder), ranks=Path(ranks) if ranks else None):
        print("keeping", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
