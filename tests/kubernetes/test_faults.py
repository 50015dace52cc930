"""Bad times of a network and of an API server: said while they last; afterwards all is right and nothing is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.engine import LogFile
from jupyterlab_t9kjob.core.manifests.names import OWNER
from jupyterlab_t9kjob.engines.kubernetes import cluster, discovery
from tests.kubernetes.between import Between
from tests.kubernetes.engines import KINDS, PLURALS, WAIT, Bench, serving
from tests.kubernetes.fakeapi import Act, Call, Request, refuse
from tests.kubernetes.harness import Kube
from tests.kubernetes.test_access import until_info
from tests.kubernetes.test_reasons import kubeflow_job, t9k_job, template

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

TALKS = "n=0; while true; do n=$((n+1)); echo $n; sleep 0.05; done"
JOB = {"t9k": t9k_job, "kubeflow": kubeflow_job}
Fault = Callable[[Between], AbstractAsyncContextManager[None]]


def make(kube: Kube, engine: str, name: str, image: str, *, paused: bool = False) -> dict[str, Any]:
    job = JOB[engine](name, template(image, TALKS))
    job["metadata"]["annotations"] = {OWNER: "tester"}
    if paused:
        job["spec"] |= KINDS[engine]().pause(job, on=True)["spec"]
    return kube.create(PLURALS[engine], job)


@pytest.fixture(scope="module")
def talkers(kube: Kube, image: str, controller: object, kubeflow: object) -> Iterator[dict[str, tuple[str, str]]]:
    """Run a job of each kind that prints numbers for ever; give its uid and its pod's name."""
    made = {engine: make(kube, engine, f"talks-{engine}", image) for engine in KINDS}
    pods = {}
    for engine, job in made.items():

        def runs(found: list[Any], job: Any = job) -> list[Any]:
            return [
                pod
                for pod in found
                if pod["metadata"]["name"].startswith(job["metadata"]["name"]) and pod["status"]["phase"] == "Running"
            ]

        pods[engine] = runs(kube.until_all("pods", runs))[0]["metadata"]["name"]
    yield {engine: (job["metadata"]["uid"], pods[engine]) for engine, job in made.items()}


def all_do(act: Act, *kinds: str) -> Fault:
    """Answer everything in this way, or what is of these kinds; what was open is cut."""

    @asynccontextmanager
    async def fault(between: Between) -> AsyncIterator[None]:
        def rule(request: Request) -> Any:
            kind = "log" if request.path.endswith("/log") else request.kind
            return (lambda _between, call: act(call)) if not kinds or kind in kinds else None

        between.rule = rule
        between.cut_all()
        yield
        between.rule = lambda request: None

    return fault


async def expired(call: Call) -> None:
    await call.begin()
    await call.event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
    await call.end()


@asynccontextmanager
async def cut_every_two_seconds(between: Between) -> AsyncIterator[None]:
    async def cut() -> None:
        while True:
            between.cut_all()
            await asyncio.sleep(2)

    cutting = asyncio.create_task(cut())
    yield
    cutting.cancel()


@asynccontextmanager
async def half_open(between: Between) -> AsyncIterator[None]:
    between.freeze()
    yield
    between.thaw()


@asynccontextmanager
async def gone(between: Between) -> AsyncIterator[None]:
    await between.stop()
    yield
    await between.start()


busy = refuse(429, "TooManyRequests", "slow down", Retry_After="1")
broken = refuse(500, "InternalError", "boom")
FAULTS: dict[str, tuple[Fault, bool]] = {
    # what happens, and whether it keeps the state from being known
    "cut every two seconds": (cut_every_two_seconds, False),
    "410": (all_do(refuse(410, "Expired", "too old"), "watch"), False),
    "410 in the stream": (all_do(expired, "watch"), False),
    "429": (all_do(busy), True),
    "429 for watches and logs": (all_do(busy, "watch", "log"), True),
    "500": (all_do(broken), True),
    "500 for watches and logs": (all_do(broken, "watch", "log"), True),
    "half-open": (half_open, True),
    "gone": (gone, True),
}


async def log_of(bench: Bench, engine: str, uid: str) -> bytes:
    file = await log_file(bench, engine, uid)
    return await asyncio.to_thread(file.path.read_bytes) if file is not None and file.path.exists() else b""


async def log_file(bench: Bench, engine: str, uid: str) -> LogFile | None:
    files = await bench.engines[engine].log_files(uid)
    return next((file for file in files if file.stream.source == "container"), None)


async def until_log(bench: Bench, engine: str, uid: str, reached: Callable[[bytes], Any]) -> bytes:
    """Wait for what a log has; nobody announces it."""
    end = time.monotonic() + WAIT
    while not reached(data := await log_of(bench, engine, uid)):
        assert time.monotonic() < end, (data[-100:], await log_file(bench, engine, uid))
        await asyncio.sleep(0.05)
    return data


async def see_through(
    bench: Bench,
    talkers: dict[str, tuple[str, str]],
    fault: AbstractAsyncContextManager[None],
    *,
    stale: bool,
    lasts: float = 0.0,
) -> None:
    """Live through a fault: what happens meanwhile is known afterwards, and every line is there once."""
    kube = bench.kube
    witnesses = {}
    for engine, (uid, _pod) in talkers.items():
        made = await asyncio.to_thread(make, kube, engine, f"witness-{engine}", bench.image, paused=True)
        witnesses[engine] = await bench.until_known(engine, made["metadata"]["uid"])
        await until_log(bench, engine, uid, len)
    begun = time.time()
    async with fault:
        for engine, witness in witnesses.items():
            await asyncio.to_thread(kube.delete, PLURALS[engine], witness.name)
        if stale:
            for engine, (uid, _pod) in talkers.items():
                info = await until_info(bench, engine, lambda info: info.cluster.stale_since is not None)
                assert info.cluster is not None and info.cluster.stale_since is not None
                assert info.available
                assert begun - 90 < info.cluster.stale_since < time.time()
                assert info.cluster.stale_reason
                assert (await bench.engines[engine].job(uid)).phase == "Running"
                assert await log_of(bench, engine, uid)
        await asyncio.sleep(lasts)
    over = time.monotonic()
    written = {engine: await asyncio.to_thread(kube.log, pod) for engine, (_uid, pod) in talkers.items()}
    took = {}
    for engine, witness in witnesses.items():
        await bench.until(witness, lambda seen: seen.deleted)
        took[f"{engine} state"] = time.monotonic() - over
        await until_info(bench, engine, lambda info: info.cluster.stale_since is None)
        await bench.engines[engine].remove(witness.uid)
    for engine, (uid, pod) in talkers.items():
        wanted = written[engine].encode()
        data = await until_log(bench, engine, uid, lambda data, wanted=wanted: len(data) >= len(wanted))
        took[f"{engine} log"] = time.monotonic() - over
        whole = (await asyncio.to_thread(kube.log, pod)).encode()
        assert whole.startswith(data)
        file = await log_file(bench, engine, uid)
        assert file is not None
        assert file.stream.missing == []
    print("; ".join(f"{name} {seconds:.1f} s" for name, seconds in took.items()))


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_lived_through(
    name: str,
    kube: Kube,
    image: str,
    talkers: dict[str, tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "BEAT_SECONDS", 2.0)
    monkeypatch.setattr(discovery, "SILENCE_SECONDS", 4.0)
    fault, stale = FAULTS[name]
    async with (
        Between(kube=kube) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        await see_through(bench, talkers, fault(between), stale=stale, lasts=0.0 if stale else 5.0)
