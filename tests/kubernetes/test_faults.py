"""Bad times of a network and of an API server: said while they last; afterwards all is right and nothing is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from jupyterlab_t9kjob.core.log_sources import LogFile
from jupyterlab_t9kjob.core.manifests.names import OWNER
from jupyterlab_t9kjob.engines.kubernetes.cluster import connection, discovery, kind_availability
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from tests.kubernetes.between import Between
from tests.kubernetes.engines import KINDS, PLURALS, WAIT, Bench, serving
from tests.kubernetes.fakeapi import Act, Call, Certificates, Request, refuse
from tests.kubernetes.harness import Kube
from tests.kubernetes.test_access import until_info
from tests.kubernetes.test_reasons import kubeflow_job, t9k_job, template

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

TALKS = "n=0; while true; do n=$((n+1)); echo $n; sleep 0.05; done"
JOB = {"t9k": t9k_job, "kubeflow": kubeflow_job}
Fault = Callable[[Between, Path], AbstractAsyncContextManager[None]]


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
    async def fault(between: Between, _folder: Path) -> AsyncIterator[None]:
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
async def cut_every_two_seconds(between: Between, _folder: Path) -> AsyncIterator[None]:
    async def cut() -> None:
        while True:
            between.cut_all()
            await asyncio.sleep(2)

    cutting = asyncio.create_task(cut())
    yield
    cutting.cancel()


@asynccontextmanager
async def half_open(between: Between, _folder: Path) -> AsyncIterator[None]:
    between.freeze()
    yield
    between.thaw()


@asynccontextmanager
async def gone(between: Between, _folder: Path) -> AsyncIterator[None]:
    await between.stop()
    yield
    await between.start()


def bearer(token: str) -> Callable[[Request], Any]:
    """Make a rule that lets only one token through."""
    denied = refuse(401, "Unauthorized", "Unauthorized")
    return lambda request: None if request.authorization == f"Bearer {token}" else lambda _between, call: denied(call)


@asynccontextmanager
async def token_expires(between: Between, folder: Path) -> AsyncIterator[None]:
    between.rule = bearer("second")
    between.cut_all()
    yield
    (folder / "token").write_text("second")


@asynccontextmanager
async def certificate_changes(between: Between, _folder: Path) -> AsyncIterator[None]:
    assert between.certificates is not None
    await between.stop()
    between.certificates.renew()
    await between.start()
    yield


@asynccontextmanager
async def authority_changes(between: Between, folder: Path) -> AsyncIterator[None]:
    await between.stop()
    between.certificates = Certificates(folder / "second")
    await between.start()
    yield
    (folder / "first" / "ca.crt").write_bytes((folder / "second" / "ca.crt").read_bytes())


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
    "token expires": (token_expires, True),
    "certificate changes": (certificate_changes, False),
    "authority changes": (authority_changes, True),
}


async def log_of(bench: Bench, engine: str, uid: str, attempt: int = 1) -> bytes:
    file = await log_file(bench, engine, uid, attempt)
    return await asyncio.to_thread(file.path.read_bytes) if file is not None and file.path.exists() else b""


async def log_file(bench: Bench, engine: str, uid: str, attempt: int = 1) -> LogFile | None:
    streams = [(file, file.stream) for file in await bench.engines[engine].log_sources(uid)]
    return next((file for file, stream in streams if (stream.source, stream.attempt) == ("container", attempt)), None)


async def until_log(bench: Bench, engine: str, uid: str, reached: Callable[[bytes], Any], attempt: int = 1) -> bytes:
    """Wait for what a log has; nobody announces it."""
    end = time.monotonic() + WAIT
    while not reached(data := await log_of(bench, engine, uid, attempt)):
        assert time.monotonic() < end, (data[-100:], await log_file(bench, engine, uid, attempt))
        await asyncio.sleep(0.05)
    return data


async def see_through(
    bench: Bench,
    talkers: dict[str, tuple[str, str]],
    fault: AbstractAsyncContextManager[None],
    *,
    stale: bool,
    lasts: float = 0.0,
    late: bool = False,
    same: bool = True,
) -> None:
    """Live through a fault: what happens meanwhile is known afterwards, and every line is there once.

    Parameters
    ----------
    stale
        Whether it keeps the state from being known, which is said then.
    lasts
        Seconds.
    late
        Whether nothing can happen in the cluster meanwhile.
    same
        Whether it is the same cluster afterwards, as far as a lab can tell.
    """
    kube = bench.kube
    witnesses = {}
    for engine, (uid, _pod) in talkers.items():
        made = await asyncio.to_thread(make, kube, engine, f"witness-{engine}", bench.image, paused=True)
        witnesses[engine] = await bench.until_known(engine, made["metadata"]["uid"])
        await until_log(bench, engine, uid, len)
        await bench.until_phase(await bench.engines[engine].job(uid), "Running")
    begun = time.time()
    async with fault:
        for engine, witness in witnesses.items() if not late else ():
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
            await bench.engines[engine].refresh()  # as somebody does who sees that
        await asyncio.sleep(lasts)
    over = time.monotonic()
    for engine, witness in witnesses.items() if late else ():
        await asyncio.to_thread(kube.delete, PLURALS[engine], witness.name)
    written = {engine: await asyncio.to_thread(kube.log, pod) for engine, (_uid, pod) in talkers.items()}
    took = {}
    for engine, witness in witnesses.items():
        await bench.until(witness, lambda seen: seen.deleted if same else "another cluster" in (seen.read_only or ""))
        took[f"{engine} state"] = time.monotonic() - over
        await until_info(bench, engine, lambda info: info.cluster.stale_since is None)
        await bench.engines[engine].remove(witness.uid)
    for engine, (uid, pod) in talkers.items():
        job = await bench.engines[engine].job(uid)
        await bench.until(job, lambda seen: seen.phase == "Running" and seen.read_only is None)
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
    monkeypatch.setattr(connection, "HEALTH_SECONDS", 2.0)
    monkeypatch.setattr(discovery, "SILENCE_SECONDS", 4.0)
    fault, stale = FAULTS[name]
    (tmp_path / "token").write_text("first")
    async with Between(kube=kube, certificates=Certificates(tmp_path / "first")) as between:
        kubeconfig = between.kubeconfig(tmp_path, {"tokenFile": str(tmp_path / "token")})
        async with serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench:
            await see_through(
                bench,
                talkers,
                fault(between, tmp_path),
                stale=stale,
                lasts=0.0 if stale else 5.0,
                same=fault is not authority_changes,
            )


@pytest.mark.parametrize("others", ["go on", "are dead too"])
async def test_streams_that_fall_silent_are_found_while_a_page_is_open(
    others: str, kube: Kube, image: str, tmp_path: Path
) -> None:
    """A load balancer drops all connections, or only those that were idle for long."""
    async with (
        Between(kube=kube) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path, {"token": "x"})) as bench,
    ):
        made = await asyncio.to_thread(make, kube, "kubeflow", f"quiet-{others[:2]}", image, paused=True)
        job = await bench.until_known("kubeflow", made["metadata"]["uid"])
        leave = bench.cluster.attend()
        await asyncio.sleep(1.0)  # the page has been open for a while
        between.forget_connections(streams_alone=others == "go on")
        begun = time.monotonic()
        await asyncio.to_thread(kube.delete, PLURALS["kubeflow"], job.name)
        said: list[float] = []

        def listen() -> None:
            if bench.cluster.stale(KINDS["kubeflow"]()) is not None:
                said.append(time.monotonic() - begun)

        end = bench.cluster.listen(listen)
        await bench.until(job, lambda seen: seen.deleted)
        print(f"said after {said[:1]} s, right after {time.monotonic() - begun:.1f} s")
        assert said
        assert said[0] < 60.0  # a watch that nobody probes is silent for longer
        await until_info(bench, "kubeflow", lambda info: info.cluster.stale_since is None)
        leave()
        end()
        await bench.engines["kubeflow"].remove(job.uid)


@pytest.mark.parametrize("engine", KINDS)
async def test_an_eviction_under_the_follower(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    """The pod that comes in its place is the next attempt, and the first one's log is whole."""

    def restarts(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        for group in spec.get("replicaSpecs") or spec["pytorchReplicaSpecs"].values():
            group["restartPolicy"] = "OnFailure"

    async with serving(kube, image, tmp_path) as bench:
        script = f"trap 'echo leaving; exit 143' TERM; {TALKS}"
        job = await bench.submit(engine, bench.spec(script), edit=restarts)
        await bench.until_phase(job, "Running")
        await until_log(bench, engine, job.uid, len)
        (replica,) = await bench.engines[engine].replicas(job.uid)
        assert replica.pod is not None
        pod = replica.pod.name
        follower = await asyncio.create_subprocess_exec(
            *kube.command("logs", "--follow", pod), stdout=asyncio.subprocess.PIPE
        )
        assert follower.stdout is not None
        theirs = b"".join([await follower.stdout.readline() for _ in range(20)])
        assert theirs.count(b"\n") == 20
        rest = asyncio.create_task(follower.stdout.read())
        await until_log(bench, engine, job.uid, lambda data: data.count(b"\n") > 20)
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        await asyncio.to_thread(kube.ask, "POST", kube.path("pods", pod, "eviction"), eviction)
        await bench.until(job, lambda seen: seen.restarts == 1 and seen.replicas_running == 1)
        files = await bench.engines[engine].log_sources(job.uid)
        end = time.monotonic() + WAIT
        while not (len(files) == 2 and files[0].stream.complete):
            told = "\n".join(file.stream.model_dump_json() for file in files)
            assert time.monotonic() < end, f"{told}\n{await bench.engines[engine].job(job.uid)}"
            await asyncio.sleep(0.1)
            files = await bench.engines[engine].log_sources(job.uid)
        assert [file.stream.attempt for file in files] == [1, 2]
        kept = files[0].path.read_text()
        assert kept.splitlines() == [*map(str, range(1, kept.count("\n"))), "leaving"]
        # A node that has removed the container by then says so at the end.
        said = (theirs + await rest).partition(b"rpc error: ")[0]
        assert kept.encode().startswith(said)
        assert await follower.wait() == 0
        await until_log(bench, engine, job.uid, lambda data: data.startswith(b"1\n2\n"), attempt=2)
        second = await log_file(bench, engine, job.uid, attempt=2)
        assert second is not None
        assert second.stream.missing == []
        await bench.engines[engine].act(job.uid, "delete")


def until_ready(kube: Kube) -> None:
    end = time.monotonic() + WAIT
    while True:
        try:
            kube.ask("GET", "/readyz")
            return
        except httpx.HTTPError:
            assert time.monotonic() < end
            time.sleep(0.1)


@pytest.mark.alone
async def test_the_api_server_restarts(
    kube: Kube,
    image: str,
    talkers: dict[str, tuple[str, str]],
    tmp_path: Path,
    api_server: Callable[[str], Awaitable[Any]],
) -> None:
    @asynccontextmanager
    async def restart() -> AsyncIterator[None]:
        await api_server("stop")
        try:
            yield
        finally:
            await api_server("start")
            await asyncio.to_thread(until_ready, kube)

    async with serving(kube, image, tmp_path) as bench:
        await see_through(bench, talkers, restart(), stale=True, late=True)


async def test_a_log_is_rotated_under_the_follower(kube: Kube, image: str, tmp_path: Path) -> None:
    """A node begins a new file at 10 MiB and gives only the newest; what it passes over itself is said."""
    # at most 0.8 MB a second, until the kubelet, which looks every 10 s, has found more than 10 MiB
    talks = (
        "i=0; until [ -e /tmp/rotated ]; do i=$((i+1)); printf '%d %0800d\n' $i 0;"
        " [ $((i % 100)) -eq 0 ] && sleep 0.1; done; echo end; sleep 1000"
    )
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.submit("kubeflow", bench.spec(talks))
        pod = f"{job.name}-master-0"
        await bench.until(job, lambda job: job.phase == "Running")
        await asyncio.to_thread(kube.until_rotated, pod, first=1)
        await asyncio.to_thread(kube.write, pod, "/tmp/rotated")
        data = await until_log(bench, "kubeflow", job.uid, lambda data: data.endswith(b"end\n"))
        file = await log_file(bench, "kubeflow", job.uid)
        assert file is not None
        numbers = [int(line.split()[0]) for line in data.splitlines()[:-1]]
        assert len(set(numbers)) == len(numbers)
        assert numbers == sorted(numbers)
        assert numbers == list(range(1, len(numbers) + 1)) or file.stream.missing
        newest = (await asyncio.to_thread(kube.log, pod)).encode()
        assert data.endswith(newest[newest.index(b"\n") + 1 :])
        await bench.engines["kubeflow"].act(job.uid, "delete")


async def test_a_kind_is_removed_and_installed_while_all_runs(
    kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEALTH_SECONDS", 1.0)
    monkeypatch.setattr(kind_availability, "MISSING_SECONDS", 0.5)

    class OfTheTest(Kubeflow):
        """A kind like Kubeflow's that nobody else in the cluster misses."""

        group = f"{kube.namespace}.example.org"

    name = f"{OfTheTest.plural}.{OfTheTest.group}"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    definition = {
        "metadata": {"name": name},
        "spec": {
            "group": OfTheTest.group,
            "scope": "Namespaced",
            "names": {"plural": OfTheTest.plural, "singular": "pytorchjob", "kind": OfTheTest.kind},
            "versions": [{"name": OfTheTest.version, "served": True, "storage": True, "schema": schema}],
        },
    }
    path = f"/apis/{OfTheTest.group}/{OfTheTest.version}/namespaces/{kube.namespace}/{OfTheTest.plural}"
    job = kubeflow_job("once", template(image)) | {"apiVersion": f"{OfTheTest.group}/{OfTheTest.version}"}
    job["metadata"]["annotations"] = {OWNER: "tester"}
    async with serving(kube, image, tmp_path, kinds={"kubeflow": OfTheTest, "t9k": KINDS["t9k"]}) as bench:
        assert not (await bench.engines["kubeflow"].info()).available
        for _ in range(2):
            await asyncio.to_thread(kube.create, "customresourcedefinitions", definition)
            try:
                await until_info(bench, "kubeflow", lambda info: info.available)
                made = await asyncio.to_thread(kube.ask, "POST", path, job)
                seen = await bench.until_known("kubeflow", made["metadata"]["uid"])
            finally:
                await asyncio.to_thread(kube.delete, "customresourcedefinitions", name)
            await bench.until(seen, lambda seen: seen.deleted)
            info = await until_info(bench, "kubeflow", lambda info: not info.available)
            assert "has no PyTorchJob" in (info.reason or "")
            assert (await bench.engines["t9k"].info()).available
