"""Faults of log streams that a real API server does not produce on demand; a fake server plays them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from jupyterlab_t9kjob.core.job import LogStream
from jupyterlab_t9kjob.engines.kubernetes.client import fair_slots
from jupyterlab_t9kjob.engines.kubernetes.client.api import KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import load_connection
from jupyterlab_t9kjob.engines.kubernetes.client.fair_slots import Slots
from jupyterlab_t9kjob.engines.kubernetes.logs import container_follower, spool_store
from jupyterlab_t9kjob.engines.kubernetes.logs.job_logs import JobLogs
from jupyterlab_t9kjob.engines.kubernetes.logs.listing import FOR_EVER
from jupyterlab_t9kjob.engines.kubernetes.logs.manager import LogManager
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView
from jupyterlab_t9kjob.logs.storage.index import TimeIndex
from jupyterlab_t9kjob.logs.storage.lease import Lease
from tests.kubernetes.fakeapi import Call, FakeApi, refuse, write_kubeconfig
from tests.local.disks import small_disk
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio

START = 1_790_000_000
OUT = "worker-0.1.container.out"
Act = Callable[[Call], Awaitable[None]]


def stamp(second: float) -> str:
    whole = int(second)
    moment = datetime.fromtimestamp(START + whole, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{round((second - whole) * 1e9):09d}Z"


def line(number: int, text: str | None = None) -> bytes:
    """Return the line with a number, of which there are ten in a second."""
    return f"{stamp(number / 10)} {number if text is None else text}\n".encode()


def lines(start: int, end: int, text: str | None = None) -> bytes:
    return b"".join(line(number, text) for number in range(start, end))


def text(start: int, end: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(start, end))


def running(life: int = 0) -> dict[str, Any]:
    last = {"terminated": {"containerID": f"cri://{life - 1}", "startedAt": stamp(0), "finishedAt": stamp(1)}}
    return {
        "name": "pytorch",
        "restartCount": life,
        "containerID": f"cri://{life}",
        "state": {"running": {"startedAt": stamp(0)}},
        "lastState": last if life else {},
    }


def ended(life: int = 0) -> dict[str, Any]:
    state = {"terminated": {"containerID": f"cri://{life}", "startedAt": stamp(0), "finishedAt": stamp(100)}}
    return {**running(life), "state": state}


def pod_of(status: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {
        "metadata": {"name": f"p-{index}", "uid": f"uid-{index}"},
        "spec": {"containers": [{"name": "pytorch"}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }


class FakeLogs(FakeApi):
    """Serves pods, and their logs by acts, each for one request."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.pods: dict[str, dict[str, Any]] = {}
        self.acts: deque[Act] = deque()
        self.asked: list[dict[str, str]] = []
        self.instead: Act | None = None
        self.always: Act | None = None  # For all requests for logs.
        self.failing = False
        self.failed = 0

    async def _handle(self, call: Call) -> None:
        parts = call.request.path.split("/")
        if self.instead is not None:
            self.asked.append(call.request.query)
            await self.instead(call)
        elif parts[-1] == "log":
            self.asked.append(call.request.query)
            act = (
                self.always
                or (self.acts.popleft() if self.acts else None)
                or refuse(500, "InternalError", "nothing is left to say")
            )
            await act(call)
        elif self.failing:
            self.failed += 1
            await refuse(500, "InternalError", "it is broken")(call)
        elif parts[-1] in self.pods:
            await call.answer(200, self.pods[parts[-1]])
        else:
            await refuse(404, "NotFound", "it is not there")(call)


def says(data: bytes, *, ends: bool = True, cut: bool = False) -> Act:
    async def act(call: Call) -> None:
        await call.begin()
        if data:
            await call.chunk(data)
        if cut:
            call.cut()
        elif ends:
            await call.end()
        else:
            await asyncio.Event().wait()

    return act


class Bench:
    def __init__(self, server: FakeLogs, logs: JobLogs) -> None:
        self.server = server
        self.logs = logs

    def update(self, *statuses: dict[str, Any], tell: bool = True) -> None:
        self.server.pods = {f"p-{index}": pod_of(status, index) for index, status in enumerate(statuses)}
        if tell:
            self.logs.update(self.places, ended=False)

    @property
    def places(self) -> list[ReplicaView]:
        return [
            ReplicaView("worker", index, container="pytorch", pod_uid=f"uid-{index}", pod=pod)
            for index, pod in enumerate(self.server.pods.values())
        ]

    def count_streams(self) -> list[int]:
        """Return a list that gets how many streams are open, whenever that changes."""
        api, counts, now = self.logs._api, [], 0
        assert api is not None
        opened = api.stream

        @contextlib.asynccontextmanager
        async def stream(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
            nonlocal now
            now += 1
            counts.append(now)
            try:
                async with opened(*arguments, **options) as chunks:
                    yield chunks
            finally:
                now -= 1
                counts.append(now)

        api.stream = stream  # type: ignore[method-assign]
        return counts

    async def data(self, stream: str = OUT) -> bytes:
        files = {file.stream.id: file for file in await self.logs.files()}
        return files[stream].path.read_bytes() if stream in files and files[stream].path.exists() else b""

    async def until(self, reached: Callable[[dict[str, LogStream]], Any]) -> dict[str, LogStream]:
        end = time.monotonic() + PATIENCE
        while True:
            streams = {file.stream.id: file.stream for file in await self.logs.files()}
            if reached(streams):
                return streams
            assert time.monotonic() < end, (streams, self.server.asked[:20])
            await asyncio.sleep(0.01)

    async def has(self, expected: bytes, stream: str = OUT) -> dict[str, LogStream]:
        return await self.until(lambda streams: stream in streams and streams[stream].size >= len(expected))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "FIRST_DELAY",
        "LONGEST_DELAY",
        "REFUSED_DELAY",
        "CONFIRM_SECONDS",
        "LAST_WORDS_SECONDS",
        "QUIET_SECONDS",
    ):
        monkeypatch.setattr(container_follower, name, 0.05)


@contextlib.asynccontextmanager
async def bench(tmp_path: Path, **options: Any) -> AsyncIterator[Bench]:
    async with FakeLogs() as server:
        write_kubeconfig(tmp_path / "kubeconfig", {"server": server.url})
        with pytest.MonkeyPatch.context() as patches:
            patches.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
            api = KubeApi(await asyncio.to_thread(load_connection))
        folder = options.pop("folder", tmp_path / "logs")
        logs = JobLogs(api, "lab", folder, **{"ranks": None, "always": True, "slots": Slots(64), **options})
        try:
            yield Bench(server, logs)
        finally:
            await logs.stop()
            await api.close()


async def test_an_answer_that_ends_is_not_the_containers_end(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [
            says(lines(0, 13)),
            says(lines(10, 17), cut=True),
            refuse(500, "InternalError", "try later"),
            says(lines(10, 25)[:-3]),
            says(lines(20, 30), ends=False),
        ]
        job.update(running())
        streams = await job.has(text(0, 30))
        assert await job.data() == text(0, 30)
        assert not streams[OUT].complete
        assert [query.get("sinceTime") for query in job.server.asked] == [
            None,
            stamp(1)[:19] + "Z",
            stamp(1)[:19] + "Z",
            stamp(1)[:19] + "Z",
            stamp(2)[:19] + "Z",
        ]
        job.server.acts += [says(lines(20, 31))]
        job.update(ended())
        streams = await job.until(lambda streams: streams[OUT].complete)
        assert await job.data() == text(0, 31)
        assert "follow" not in job.server.asked[-1]
        assert streams[OUT].missing == []


async def test_a_lost_beginning_is_said_however_slow_the_first_answer_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The node has the lines since second 100: a file of 10 MiB if the container always wrote 100 kB a second."""
    monkeypatch.setattr(container_follower, "WATCHED_SILENCE_SECONDS", 0.05)
    settled, some = asyncio.Event(), asyncio.Event()

    async def slow(call: Call) -> None:
        await call.begin()
        await settled.wait()
        await call.chunk(lines(1000, 1001, "z" * 10_000))
        await some.wait()
        await call.chunk(lines(1001, 1020, "z" * 10_000))
        await asyncio.Event().wait()

    async with bench(tmp_path) as job:
        job.server.acts += [slow]
        job.update(running())
        await job.until(lambda _streams: job.server.asked)
        await job.logs.fetched()
        settled.set()
        streams = await job.has(b"z" * 10_000)
        assert streams[OUT].missing == []
        some.set()
        streams = await job.until(lambda streams: streams[OUT].missing)
        (span,) = streams[OUT].missing
        assert (span.offset, span.since, span.until) == (0, START, START + 100)
        assert not streams[OUT].complete


async def test_a_stream_that_has_gone_silent_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(container_follower, "SILENCE_SECONDS", 0.3)
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5), ends=False), says(lines(0, 9), ends=False)]
        job.update(running())
        streams = await job.has(text(0, 9))
        assert await job.data() == text(0, 9)
        assert streams[OUT].waiting is None


async def test_a_watch_that_has_fallen_silent_makes_followers_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(container_follower, "ALIVE_SECONDS", 0.0)
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5), ends=False), says(lines(0, 9), ends=False)]
        job.update(running())
        await job.has(text(0, 5))
        assert len(job.server.asked) == 1
        assert job.logs._api is not None
        job.logs._api.silence.send()
        streams = await job.has(text(0, 9))
        assert await job.data() == text(0, 9)
        assert streams[OUT].waiting is None


async def test_a_log_at_which_somebody_looks_is_asked_for_anew_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(container_follower, "WATCHED_SILENCE_SECONDS", 0.3)
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5), ends=False), says(lines(0, 9), ends=False)]
        job.server.acts += [says(b"", ends=False)] * 1000  # one for each silence of a slow machine
        stop = job.logs.subscribe()
        job.update(running())
        streams = await job.has(text(0, 9))
        assert await job.data() == text(0, 9)
        assert streams[OUT].waiting is None
        stop()


async def test_who_comes_while_a_log_is_let_go_of_gets_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    released, releases = threading.Event(), asyncio.Event()
    loop, release = asyncio.get_running_loop(), Lease.release

    def slowly(lease: Lease) -> None:
        if not lease.valid:  # the second time, as the last thing
            loop.call_soon_threadsafe(releases.set)
            released.wait(PATIENCE)
        release(lease)

    async with bench(tmp_path, always=False) as job:
        job.server.acts += [says(lines(0, 5), ends=False), says(lines(0, 9), ends=False)]
        job.update(running())
        stop = job.logs.subscribe()
        await job.has(text(0, 5))
        monkeypatch.setattr(Lease, "release", slowly)
        stop()
        await releases.wait()
        job.logs.subscribe()
        released.set()
        await job.has(text(0, 9))


async def test_lines_of_the_next_life_are_never_taken_for_this_ones(tmp_path: Path):
    async with bench(tmp_path) as job:

        async def next_life(call: Call) -> None:
            # the API server knows of the restart, the watch has not told it yet
            job.update(running(1), tell=False)
            await says(lines(500, 510), ends=False)(call)

        job.server.acts += [says(lines(0, 5)), next_life]
        job.update(running())
        await job.until(lambda _streams: len(job.server.asked) >= 2)
        job.server.acts.clear()
        job.server.acts += [says(lines(0, 8)), says(lines(500, 510), ends=False)]
        job.update(running(1))
        second = "worker-0.2.container.out"
        streams = await job.has(text(500, 510), second)
        assert await job.data() == text(0, 8)
        assert await job.data(second) == text(500, 510)
        assert streams[OUT].complete
        assert streams[OUT].missing == streams[second].missing == []
        assert job.server.asked[-2]["previous"] == "true"


async def test_lines_of_the_next_life_that_were_taken_for_this_ones_are_put_right(tmp_path: Path):
    """The node has started the next run before the API server learns that the first one has ended."""
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(500, 510), ends=False)]
        job.update(running())
        await job.has(text(500, 510))
        job.server.acts += [says(b""), says(lines(0, 8)), says(lines(500, 510), ends=False)]
        job.update(running(1))
        second = "worker-0.2.container.out"
        streams = await job.has(text(500, 510), second)
        assert await job.data() == text(0, 8)
        assert await job.data(second) == text(500, 510)
        assert streams[OUT].complete
        assert streams[OUT].missing == streams[second].missing == []
        assert [query.get("previous") for query in job.server.asked] == [None, "true", "true", None]
        assert [query.get("sinceTime") for query in job.server.asked] == [None, stamp(50)[:19] + "Z", None, None]


def answers(before: bytes, now: bytes) -> Act:
    """Answer a request for the previous run, or for the present one, which goes on."""

    async def act(call: Call) -> None:
        previous = call.request.query.get("previous") is not None
        await says(before if previous else now, ends=previous)(call)

    return act


def ends_when_it_is_kept(job: Bench, meanwhile: Callable[[], None] = lambda: None) -> Act:
    """Answer with lines of the second in which the run has ended, then do something, then end."""

    async def act(call: Call) -> None:
        await call.begin()
        await call.chunk(lines(1000, 1010))
        await job.has(text(1000, 1010))
        meanwhile()
        await call.end()

    return act


async def each_run_gets_its_lines(job: Bench) -> None:
    """Tell of the next run, and wait for the lines of both."""
    job.server.always = answers(lines(0, 8), lines(1000, 1010))
    job.update(running(1))
    second = "worker-0.2.container.out"
    streams = await job.has(text(1000, 1010), second)
    assert await job.data() == text(0, 8)
    assert streams[OUT].missing == streams[second].missing == []


async def test_a_run_that_is_first_seen_after_its_end_gets_no_lines_of_the_next_one(tmp_path: Path):
    """The API server knows that the run has ended, and not yet that the node has started the next one."""
    async with bench(tmp_path) as job:
        job.server.acts += [ends_when_it_is_kept(job, lambda: job.update(running(1), tell=False))]
        job.update(ended())
        await job.until(lambda _streams: len(job.server.asked) >= 2)
        assert await job.data() == b""
        await each_run_gets_its_lines(job)


async def test_lines_of_the_last_second_stay_if_there_is_no_next_run(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [ends_when_it_is_kept(job)]
        job.update(ended())
        streams = await job.until(lambda streams: OUT in streams and streams[OUT].complete)
        assert await job.data() == text(1000, 1010)
        assert streams[OUT].missing == [] and len(job.server.asked) == 1


async def test_lines_of_the_last_second_stay_if_the_pod_is_removed(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [ends_when_it_is_kept(job, lambda: job.server.pods.clear())]
        job.update(ended())
        streams = await job.until(lambda streams: OUT in streams and streams[OUT].complete)
        assert await job.data() == text(1000, 1010)
        assert streams[OUT].missing == []


async def test_a_server_that_fails_when_the_next_run_is_asked_for_is_asked_again(tmp_path: Path):
    async with bench(tmp_path) as job:

        def fail() -> None:
            job.server.failing = True

        job.server.acts += [ends_when_it_is_kept(job, fail)]
        job.update(ended())
        await job.until(lambda _streams: job.server.failed >= 1)
        job.server.failing = False
        await each_run_gets_its_lines(job)


async def test_lines_stay_if_the_node_no_longer_has_the_log(tmp_path: Path):
    """The run wrote in the second in which it ended, so its lines could be those of the next one."""
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(1000, 1005), ends=False)]
        job.update(running())
        await job.has(text(1000, 1005))
        job.server.acts += [says(b"unable to retrieve container logs for cri://0")]
        job.update(ended())
        streams = await job.until(lambda streams: streams[OUT].complete)
        assert await job.data() == text(1000, 1005)
        assert "unable to retrieve" not in str(streams[OUT].missing)


async def test_a_life_that_was_missed_and_one_that_is_gone(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [
            refuse(400, "BadRequest", 'previous terminated container "pytorch" in pod "p-0" not found'),
            says(lines(900, 903), ends=False),
        ]
        job.update(running(3))
        last, before = "worker-0.4.container.out", "worker-0.3.container.out"
        streams = await job.has(text(900, 903), last)
        assert streams[before].complete
        sentences = [span.sentence for span in streams[before].missing]
        assert any("2 earlier runs" in sentence for sentence in sentences)
        assert any("previous terminated container" in sentence for sentence in sentences)


async def test_what_the_kubelet_says_itself_is_no_line(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [says(b"unable to retrieve container logs for cri://0")]
        job.update(ended())
        streams = await job.until(lambda streams: OUT in streams and streams[OUT].complete)
        assert await job.data() == b""
        assert "unable to retrieve" in streams[OUT].missing[0].sentence


async def test_what_was_followed_to_its_end_is_all_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The pod is gone before the log of its last life can be read once more."""
    monkeypatch.setattr(container_follower, "LAST_WORDS_SECONDS", 30)
    async with bench(tmp_path) as job:

        async def last_words(call: Call) -> None:
            job.update(ended())
            await says(lines(0, 5))(call)

        job.server.acts += [last_words, refuse(404, "NotFound", 'pods "p-0" not found')]
        job.update(running())
        streams = await job.until(lambda streams: OUT in streams and streams[OUT].complete)
        assert await job.data() == text(0, 5)
        assert streams[OUT].missing == []


async def test_a_pod_in_its_place_takes_nothing_from_what_was_followed_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The new pod has the same name, and its log is requested before the watch reports it."""
    monkeypatch.setattr(container_follower, "LAST_WORDS_SECONDS", 30)
    async with bench(tmp_path) as job:

        async def last_words(call: Call) -> None:
            await call.begin()
            await call.chunk(lines(0, 5))
            await job.has(text(0, 5))
            another = pod_of({**running(), "containerID": "cri://another"})
            job.server.pods = {"p-0": {**another, "metadata": {"name": "p-0", "uid": "uid-another"}}}
            await call.end()

        job.server.acts += [last_words, says(lines(50, 55))]
        job.update(running())
        await job.until(lambda _streams: len(job.server.asked) >= 2)
        job.logs.update([ReplicaView("worker", 0)], ended=False)
        streams = await job.until(lambda streams: streams[OUT].complete)
        assert await job.data() == text(0, 5)
        assert streams[OUT].missing == []


async def test_a_pod_that_is_gone_long_after_its_log_seemed_to_end(tmp_path: Path):
    """The node died: the later output of the container is unknown."""
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5))]
        job.update(running())
        await job.until(lambda _streams: len(job.server.asked) >= 4)  # the others were answered with 500
        job.server.pods = {}
        job.logs.update([ReplicaView("worker", 0)], ended=True)
        streams = await job.until(lambda streams: streams[OUT].complete)
        (span,) = streams[OUT].missing
        assert span.offset == len(text(0, 5))


async def test_a_pod_that_vanishes_while_the_network_is_down(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5), cut=True)]
        job.update(running())
        await job.has(text(0, 5))
        job.server.pods = {}
        job.logs.update([ReplicaView("worker", 0)], ended=True)
        streams = await job.until(lambda streams: streams[OUT].complete)
        (span,) = streams[OUT].missing
        assert span.offset == len(text(0, 5))
        assert span.since == START + 0.4
        assert span.until is not None and "pod" in span.sentence
        assert streams[OUT].size == len(text(0, 5))


@pytest.mark.parametrize(
    "answer",
    [
        refuse(500, "InternalError", "boom"),
        refuse(403, "Forbidden", "may not"),  # as an API server says that has just begun
        lambda call: call.answer(404, "<html>default backend", Content_Type="text/html"),
    ],
)
async def test_what_an_api_server_says_in_bad_times_loses_no_log(tmp_path: Path, answer: Act):
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5), cut=True)]
        job.update(running())
        await job.has(text(0, 5))
        job.server.instead = answer
        job.update(ended())
        before = len(job.server.asked)
        await job.until(lambda _streams: len(job.server.asked) > before + 10)
        assert not (await job.until(len))[OUT].complete
        job.server.instead = None
        job.server.acts.clear()
        job.server.acts += [says(lines(0, 9))]
        streams = await job.until(lambda streams: streams[OUT].complete)
        assert await job.data() == text(0, 9)
        assert streams[OUT].missing == []


async def test_a_log_is_not_put_off_for_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(container_follower, "LASTING_DELAY", 0.05)
    async with bench(tmp_path) as job:
        job.server.instead = refuse(500, "InternalError", "later", Retry_After="86400")
        job.update(running())
        await job.until(lambda _streams: len(job.server.asked) > 2)


async def test_who_waits_is_woken_when_the_cluster_answers_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(container_follower, "LASTING_DELAY", 3600.0)
    monkeypatch.setattr(container_follower, "FIRST_DELAY", 3600.0)
    async with bench(tmp_path) as job:
        api = job.logs._api
        assert api is not None
        await api.lose()
        job.server.acts += [says(b"", cut=True)] * 2
        job.update(running())
        await job.until(lambda streams: OUT in streams and streams[OUT].waiting)
        job.server.acts += [says(lines(0, 5), ends=False)]
        await api.find()
        await job.has(text(0, 5))


async def test_a_stream_from_before_an_outage_is_begun_anew(tmp_path: Path):
    """Its connection may be dead without anybody knowing."""
    async with bench(tmp_path) as job:
        api = job.logs._api
        assert api is not None
        job.server.acts += [says(lines(0, 5), ends=False)]
        job.update(running())
        await job.has(text(0, 5))
        await api.lose()
        job.server.acts += [says(lines(0, 9), ends=False)]
        await api.find()
        await job.has(text(0, 9))
        assert await job.data() == text(0, 9)


async def test_a_pod_that_only_seems_to_be_gone_is_followed_on(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5), ends=False), says(lines(0, 9), ends=False)]
        job.update(running())
        await job.has(text(0, 5))
        job.logs.update([ReplicaView("worker", 0)], ended=False)  # as while pods could not be listed
        await job.has(text(0, 9))
        assert await job.data() == text(0, 9)


async def test_a_refusal_is_said_and_hinders_nothing_else(tmp_path: Path):
    async with bench(tmp_path) as job:
        forbidden = refuse(403, "Forbidden", 'cannot get resource "pods/log"')

        async def by_pod(call: Call) -> None:
            await (forbidden if "/p-0/" in call.request.path else says(lines(0, 3), ends=False))(call)

        job.server.acts += [by_pod] * 1000
        job.update(running(), running())
        streams = await job.until(
            lambda streams: OUT in streams and streams[OUT].waiting and streams["worker-1.1.container.out"].size
        )
        assert "may not read" in (streams[OUT].waiting or "")
        assert await job.data("worker-1.1.container.out") == text(0, 3)


async def test_more_logs_than_turns_are_followed_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fair_slots, "HOLD_SECONDS", 0.5)
    async with bench(tmp_path, slots=Slots(2)) as job:
        job.server.acts += [says(lines(0, 3), ends=False)] * 1000
        names = [f"worker-{index}.1.container.out" for index in range(6)]
        counts = job.count_streams()
        job.update(*[running()] * 6)
        await job.until(lambda streams: all(name in streams and streams[name].size for name in names))
        assert [await job.data(name) for name in names] == [text(0, 3)] * 6
        assert max(counts) == 2


def folders_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.is_dir()]


def keeping(job: Bench, folder: Path, *, mine: bool, phase: str) -> tuple[LogManager, Any, Any]:
    """Return a keeper of logs, the cluster that it sees, and the job as it is told of it."""
    known = SimpleNamespace(uid="1", namespace="lab", present=True, record=None, paths=SimpleNamespace(ranks=None))
    known.lifetime = FOR_EVER
    state = SimpleNamespace(phase=phase)
    seen = SimpleNamespace(job=known, mine=mine, complete=True, events=[], state=state, replicas=job.places)
    cluster: Any = SimpleNamespace(api=job.logs._api, log_turns=Slots(4))
    records: Any = SimpleNamespace(folder=lambda _namespace, uid: folder / uid)
    return LogManager(cluster, records, follow_replicas=2, log_bytes=None), cluster, seen


async def test_a_job_that_turns_out_to_be_large_is_followed_only_while_somebody_looks(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 3), ends=False)] * 1000
        counts = job.count_streams()
        keeper, _cluster, seen = keeping(job, tmp_path, mine=True, phase="Running")

        async def are_open(number: int) -> None:
            end = time.monotonic() + PATIENCE
            while not counts or counts[-1] != number:
                assert time.monotonic() < end, counts
                await asyncio.sleep(0.01)

        for replicas, followed in ((2, 2), (4, 0)):
            job.update(*[running()] * replicas, tell=False)
            seen.replicas = job.places
            keeper.update(seen)
            await are_open(followed)
        stop = await keeper.subscribe(seen)
        await are_open(4)
        stop()
        await are_open(0)
        await keeper.stop()


async def test_the_log_of_a_job_of_others_that_ends_is_read_only_if_the_job_was_opened(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 3))] * 2
        job.update(ended(), tell=False)
        keeper, _cluster, seen = keeping(job, tmp_path, mine=False, phase="Running")
        for uid, record in (("unopened", None), ("opened", object())):
            seen.job.uid, seen.job.record, seen.state.phase = uid, record, "Running"
            keeper.update(seen)
            seen.state.phase = "Succeeded"
            keeper.update(seen)
            await asyncio.sleep(0)  # the reading begins
        await keeper.subscribe(seen)
        await keeper.stop()
        assert folders_in(tmp_path) == ["opened"]


async def test_who_looks_is_told_what_is_written_until_that_ends(tmp_path: Path):
    async with bench(tmp_path) as job:
        say = asyncio.Queue[bytes]()

        async def as_told(call: Call) -> None:
            await call.begin()
            while True:
                await call.chunk(await say.get())

        job.server.acts += [as_told]
        told: list[int] = []

        async def written(number: int) -> None:
            end = time.monotonic() + PATIENCE
            while not told or told[-1] != len(text(0, number)):
                assert time.monotonic() < end, told
                await asyncio.sleep(0.01)

        def note() -> None:
            told.extend(path.stat().st_size for path in (tmp_path / "logs").glob("*.log"))

        stop, stop_other = job.logs.subscribe(note), job.logs.subscribe(lambda: None)
        job.update(running())
        for number in range(10):
            say.put_nowait(line(number))
            await written(number + 1)
        assert len(told) == 10
        stop()
        stop()
        say.put_nowait(line(10))
        await job.has(text(0, 11))
        assert len(told) == 10
        stop_other()


async def test_who_looks_is_told_of_ranks_when_their_lines_have_a_time(tmp_path: Path):
    log = tmp_path / "ranks" / "uid-0" / "none_a" / "attempt_0" / "0" / "stdout.log"
    log.parent.mkdir(parents=True)
    async with bench(tmp_path, ranks=tmp_path / "ranks") as job:
        job.server.acts += [says(b"", ends=False)]
        told = asyncio.Event()
        stop = job.logs.subscribe(told.set)
        job.update(running())
        for number in range(3):
            told.clear()
            log.write_bytes(text(0, number + 1))
            with anyio.fail_after(PATIENCE):
                await told.wait()
            (file,) = (file for file in await job.logs.files() if file.stream.source == "rank")
            times = TimeIndex(file.index)
            times.refresh()
            assert times.size == len(text(0, number + 1))
        stop()


async def test_who_goes_while_the_log_of_an_ended_job_is_fetched_looks_no_more(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 3), ends=False)] * 1000
        counts = job.count_streams()
        job.update(running(), tell=False)
        keeper, _cluster, seen = keeping(job, tmp_path, mine=False, phase="Succeeded")
        looking = asyncio.create_task(keeper.subscribe(seen))
        end = time.monotonic() + PATIENCE
        while not counts:
            assert time.monotonic() < end
            await asyncio.sleep(0.01)
        assert keeper.is_live("1")
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking
        assert not keeper.is_live("1")
        await keeper.stop()


async def test_who_looks_is_told_also_after_the_cluster_has_been_turned_to_anew(tmp_path: Path):
    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 3), ends=False), says(lines(0, 8), ends=False)]
        job.update(running(), tell=False)
        keeper, cluster, seen = keeping(job, tmp_path, mine=False, phase="Running")
        told = asyncio.Event()

        async def is_told(number: int) -> None:
            with anyio.fail_after(PATIENCE):
                while text(0, number) not in [path.read_bytes() for path in (tmp_path / "1" / "logs").glob("*.log")]:
                    await told.wait()
                    told.clear()

        stop = await keeper.subscribe(seen, told.set)
        await is_told(3)
        cluster.api = KubeApi(job.logs._api.connection)
        keeper.update(seen)
        await keeper.files(seen)
        await is_told(8)
        stop()
        assert not keeper.is_live("1")
        await keeper.stop()
        await cluster.api.close()


async def test_a_log_is_complete_on_disk_although_its_follower_is_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As soon as nothing is left to read, its job lets go of the follower, which may not have written that yet."""
    lane_of = spool_store.lane_of

    async def slowly(path: Path) -> Any:
        for _turn in range(20):
            await asyncio.sleep(0)
        return await lane_of(path)

    async with bench(tmp_path) as job:
        job.server.acts += [says(lines(0, 5), ends=False)]
        job.update(running())
        await job.has(text(0, 5))
        monkeypatch.setattr(spool_store, "lane_of", slowly)
        job.server.pods = {}

        async def news() -> None:
            while True:
                job.logs.update([ReplicaView("worker", 0)], ended=True)
                await asyncio.sleep(0)

        telling = asyncio.create_task(news())
        try:
            await job.until(lambda streams: streams[OUT].complete)
        finally:
            telling.cancel()


async def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path):
    with small_disk(tmp_path / "disk") as disk:
        async with bench(tmp_path, folder=disk.path / "logs") as job:
            job.server.acts += [says(lines(0, 50), ends=False)]
            job.update(running())
            await job.has(text(0, 50))
            await job.logs.stop()
            disk.fill()
            job.server.acts.clear()
            job.server.acts += [says(lines(0, 4000), ends=False)] * 1000
            job.update(running())
            streams = await job.until(lambda streams: "full" in (streams[OUT].waiting or ""))
            assert "Make room" in (streams[OUT].waiting or "")
            disk.free()
            await job.has(text(0, 4000))
            assert await job.data() == text(0, 4000)
            await job.until(lambda streams: streams[OUT].waiting is None)


async def test_a_log_that_is_too_large_keeps_its_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jupyterlab_t9kjob.engines.kubernetes.logs.job_logs.BEAT_SECONDS", 0.05)
    async with bench(tmp_path, cap=1_000_000) as job:
        body = b"".join(line(number, "x" * 1000) for number in range(3000))
        job.server.acts += [says(body, ends=False)]
        job.update(running())
        await job.has(b"x" * 3000 * 1001)
        (path,) = (tmp_path / "logs").glob("*.log")

        def cut(streams: dict[str, LogStream]) -> bool:
            return streams[OUT].removed > 1_950_000 and path.stat().st_blocks * 512 < 1_100_000

        streams = await job.until(cut)
        data = await job.data()
        assert streams[OUT].size == len(data) == 3000 * 1001
        assert data.startswith(b"x" * 1000) and data.endswith(b"x\n")
