"""Many event files, deep trees, large files. The sizes of the real thing are for runs by hand."""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from jupyterlab_t9kjob.tensorboard import events
from jupyterlab_t9kjob.tensorboard import process as process_module
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from tests.tensorboard.conftest import WAIT, Ask, News, children, has_own_network, opened, scalars

FILES = int(os.environ.get("T9K_TEST_EVENT_FILES", "300"))  # 10000
LARGE = int(os.environ.get("T9K_TEST_EVENT_MEBIBYTES", "4"))  # 400
BOTH_LOADERS = pytest.mark.parametrize(
    "settings", [{"reload_interval": 0.5, "loader": loader} for loader in ("auto", "slow")], ids=["auto", "slow"]
)


def write(path: Path, scalars: Iterable[tuple[int, float]]) -> None:
    """Write an event file, faster than a training script would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())
        for step, value in scalars:
            summary = Summary(value=[Summary.Value(tag="loss", simple_value=value)])
            writer.write(Event(step=step, wall_time=1.0 + step, summary=summary).SerializeToString())


def mebibytes() -> float:
    """Memory of the TensorBoards that run."""
    everything = [found for process in children() for found in (process, *process.children(recursive=True))]
    return sum(process.memory_info().rss for process in everything) / 2**20


@pytest.mark.timeout(900 + FILES / 20)
@BOTH_LOADERS
async def test_many_files_in_a_deep_tree(ask: Ask, news: News, jp_root_dir: Path) -> None:
    for number in range(FILES):
        folder = jp_root_dir / "log" / str(number % 10) / f"run-{number:05}" / ("deep/" * (number % 7)) / "end"
        write(folder / f"events.out.tfevents.1.host.{number}", [(0, 0.0), (1, float(number))])
    answered = 0
    longest = 0.0

    async def go_on() -> None:
        nonlocal answered, longest
        while True:
            began = time.monotonic()
            assert (await ask("tensorboards")).code == 200
            longest = max(longest, time.monotonic() - began)
            answered += 1

    others = asyncio.create_task(go_on())
    began = time.monotonic()
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, "0/run-00000/end", "loss", 2) == [(0, 0.0), (1, 0.0)]
    first = time.monotonic() - began
    await news.until(lambda found: found.has_data)

    async def all_runs() -> None:
        while True:
            answer = await ask(board["url"] + "data/plugin/timeseries/tags")
            if len(json.loads(answer.body)["scalars"]["runTagInfo"]) == FILES:
                return
            await asyncio.sleep(0.1)

    await asyncio.wait_for(all_runs(), WAIT + FILES / 20)
    last = FILES - 1
    run = f"{last % 10}/run-{last:05}/{'deep/' * (last % 7)}end"
    assert await scalars(ask, board, run, "loss", 2) == [(0, 0.0), (1, float(last))]
    others.cancel()
    with suppress(asyncio.CancelledError):
        await others
    print(
        f"{FILES} files: first chart {first:.1f} s, all {time.monotonic() - began:.1f} s, {mebibytes():.0f} MiB,"
        f" {answered} other requests meanwhile, the slowest {1000 * longest:.0f} ms"
    )
    assert answered > 10
    assert mebibytes() < 300 + FILES / 10


@pytest.mark.timeout(900 + LARGE)
@BOTH_LOADERS
async def test_a_large_file(ask: Ask, news: News, jp_root_dir: Path) -> None:
    path = jp_root_dir / "log" / "events.out.tfevents.1.host"
    write(path, [(0, 1.0)])
    picture = Summary(
        value=[Summary.Value(tag="picture", image=Summary.Image(encoded_image_string=os.urandom(20_000)))]
    )
    record = io.BytesIO()
    RecordWriter(record).write(Event(step=1, wall_time=2.0, summary=picture).SerializeToString())
    with path.open("ab") as file:
        for _ in range(LARGE * 2**20 // len(record.getvalue())):
            file.write(record.getvalue())
        late = Summary(value=[Summary.Value(tag="late", simple_value=7.0)])
        RecordWriter(file).write(Event(step=2, wall_time=3.0, summary=late).SerializeToString())
    began = time.monotonic()
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, board["label"], "loss", 1)
    first = time.monotonic() - began

    async def read_to_the_end() -> None:
        data = f"{board['url']}data/plugin/scalars/scalars?run={quote(board['label'])}&tag=late"
        while (await ask(data)).code != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    await asyncio.wait_for(read_to_the_end(), WAIT * (1 + LARGE / 4))
    print(f"{LARGE} MiB: first chart {first:.1f} s, all {time.monotonic() - began:.1f} s, {mebibytes():.0f} MiB")
    # of pictures and curves it keeps a sample
    assert mebibytes() < 300
    assert psutil.Process().memory_info().rss < 2**30


@pytest.mark.parametrize(("most", "fast"), [(64, False), (1024, True)])
async def test_more_files_than_may_be_open(
    ask: Ask, manager: TensorBoardManager, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch, most: int, fast: bool
) -> None:
    """The data server would show none of them; it is used where they may, whatever the server's own limit is."""
    for number in range(100):
        write(jp_root_dir / "log" / str(number) / "events.out.tfevents.1.host", [(0, float(number))])
    limits = f"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, {most}))\n"
    child = jp_root_dir / "child.py"
    child.write_text(limits + process_module.CHILD.read_text())
    monkeypatch.setattr(process_module, "CHILD", child)
    board = await opened(ask, paths=["log"])
    for number in range(0, 100, 33):
        assert await scalars(ask, board, str(number), "loss", 1) == [(0, float(number))]
    (process,) = children()
    if has_own_network(process):
        assert bool(process.children()) == fast
    assert len(json.loads((await ask(board["url"] + "data/runs")).body)) == 100


async def test_more_than_can_be_looked_at(
    ask: Ask, news: News, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then TensorBoard is shown, rather than said to have nothing."""
    monkeypatch.setattr(events, "MAX_ENTRIES", 20)
    for number in range(50):
        (jp_root_dir / "log" / f"checkpoint-{number}").mkdir(parents=True)
    board = await opened(ask, paths=["log"])
    shown = await news.until(lambda found: found.has_data)
    assert (shown.id, shown.last_data_at) == (board["id"], None)
