"""Levels of log lines: formats of training jobs, records of several lines, and files that are read in steps."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from jupyterlab_t9kjob.logs.failures.levels import CANDIDATES, Records, level_of
from jupyterlab_t9kjob.logs.serving import level_lines, pages
from jupyterlab_t9kjob.logs.serving.level_lines import ErrorSearch, backward, first_errors, forward
from jupyterlab_t9kjob.logs.serving.line_reader import LineReader
from jupyterlab_t9kjob.logs.serving.pages import read_page
from jupyterlab_t9kjob.logs.serving.sources import Source
from jupyterlab_t9kjob.logs.storage.index import TimeIndex

LINES = [
    ("ERROR:root:it broke", "error"),
    ("2026-11-21 10:39:31,322 - trainer - ERROR - it broke", "error"),
    ("2026-11-21 10:39:31,322 - trainer - INFO - ERROR is a word here", None),
    ("[2026-11-21 10:39:31][WARNING] slow", "warning"),
    ("2026-11-21 10:39:31.322 | CRITICAL | app:main:12 - it broke", "error"),
    ("root ERROR it broke", "error"),
    ("[WARNING|trainer.py:123] 2026-11-21 10:39:31,322 >> slow", "warning"),
    ("[10:39:31] WARNING  slow                        train.py:12", "warning"),
    ('{"time": "10:39", "level": "error", "message": "it broke"}', "error"),
    ("ts=10:39 level=warn msg=slow", "warning"),
    ('{"levelname": "INFO", "message": "fine"}', None),
    ("E1121 10:39:34.020000 4121 torch/distributed/elastic/multiprocessing/api.py:869] failed", "error"),
    ("W1121 10:39:33.518000 4121 torch/distributed/run.py:852] ", "warning"),
    ("I1121 10:39:33.518000 4121 torch/distributed/run.py:852] ERROR", None),
    ("[E1121 10:39:33.518 ProcessGroupNCCL.cpp:616] Watchdog caught collective operation timeout", "error"),
    ("[W ProcessGroupNCCL.cpp:1856] slow", "warning"),
    ("[E 2026-11-21 10:39:33.518 ServerApp] it broke", "error"),
    ("node-1:412:530 [0] NCCL WARN Cuda failure 'out of memory'", "warning"),
    ("node-1:412:530 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM", None),
    ("/opt/conda/lib/python3.11/site.py:12: UserWarning: slow", "warning"),
    ("UserWarning: This DataLoader will create 8 worker processes", "warning"),
    ("ConnectionResetError: [Errno 104] Connection reset by peer", "error"),
    ("torch.cuda.OutOfMemoryError: CUDA out of memory.", "error"),
    ("KeyboardInterrupt", "error"),
    ("Exception: it broke", "error"),
    ("error: unrecognized arguments: --x", "error"),
    ("train.py: error: unrecognized arguments: --x", "error"),
    ("srun: error: node-2: task 1: Killed", "error"),
    ("bash: line 1:   77 Killed                  python train.py", "error"),
    ("Segmentation fault (core dumped)", "error"),
    ("Fatal Python error: Aborted", "error"),
    ("train.py FAILED", "error"),
    ("epoch 2/10, batch 800/938 with loss: 0.2214", None),
    ("val error: 0.031, word ERRORS: 3", None),
    ("saved to /data/ERROR/model.pt", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "level"), LINES)
def test_a_line_has_the_level_that_its_format_says(text: str, level: str | None):
    assert level_of(text) == level
    if level is not None:  # The quick search finds all of them, also behind a prefix and colours.
        for line in (text, f"[rank2]: {text}", f"[default0]:\x1b[31m{text}\x1b[0m"):
            assert CANDIDATES["warning"].search(line)
            assert level == "warning" or CANDIDATES["error"].search(line)


def levels(text: str) -> list[str | None]:
    records = Records()
    return [records.feed(line).level for line in text.splitlines()]


def test_a_record_has_all_lines_of_a_traceback_and_of_a_message():
    chained = [
        "before",
        "[rank2]: Traceback (most recent call last):",
        '[rank2]:   File "train.py", line 96, in main',
        "[rank2]:     train()",
        "[rank0]: loss 1.0",
        "[rank2]: queue.Empty",
        "[rank2]: loss 1.0",
        "During handling of the above exception, another exception occurred:",
        "Traceback (most recent call last):",
        "  + Exception Group Traceback (most recent call last):",
        "  | ValueError: x",
        "app.Odd: message",
        "    with more",
        "",
        "after",
        "train.py:3: UserWarning: slow",
        "  warnings.warn('slow')",
        "after",
    ]
    error, warning = "error", "warning"
    assert levels("\n".join(chained)) == [
        *(None, error, error, error, None, error, None),
        *(error, error, error, error, error, error, None, None),
        *(warning, warning, None),
    ]
    cut = levels("Traceback (most recent call last):\n" + "  File\n" * 1000)
    assert cut[:399] == [error] * 399
    assert cut[-1] is None


def log_of(lines: int, seed: int) -> bytes:
    rare = [text for text, _level in LINES]
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in main\n    go()\nqueue.Empty'
    choices = [*["step 1 loss: 0.3"] * 60, *rare, trace, "10%\r20%\r30%", "x" * 5000, "ERROR " + "y" * 9000]
    choose = random.Random(seed)
    return "\n".join(choose.choice(choices) for _ in range(lines)).encode()


@pytest.mark.parametrize("seed", range(6))
def test_steps_of_any_size_find_the_same_lines_in_both_directions(tmp_path: Path, seed: int):
    path = tmp_path / "a.log"
    data = log_of(600, seed)
    path.write_bytes(data)
    hole = (0, 0) if seed % 2 else (data.index(b"\n", 3000) + 1, data.index(b"\n", 20_000) + 1)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for level in ("error", "warning"):
            reader = LineReader(descriptor, len(data), hole=hole)
            whole = [item for step in forward(reader, 0, level, (10**9, 10**9)) for item in step.found]
            assert len(whole) > 20
            for size in (1024, 7000, 64 * 1024):
                steps = list(forward(reader, 0, level, (size, size)))
                assert [item for step in steps for item in step.found] == whole
                assert steps[-1].reached == len(data)
                steps = list(backward(reader, len(data), level, (size, size)))
                assert [item for step in steps for item in step.found] == whole[::-1]
                assert steps[-1].reached == 0
                start = whole[7].line.offset + 1
                found = [item for step in forward(reader, start, level, (size, size)) for item in step.found]
                assert found == whole[7:]
    finally:
        os.close(descriptor)


def test_pages_of_a_level_go_on_where_they_ended_although_they_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sources = []
    for number in range(3):
        path = tmp_path / f"{number}.log"
        path.write_bytes(log_of(300, number))
        sources.append(Source(path.name, path, TimeIndex(None)))
    whole = read_page(sources, "start", "forward", 5000, "error")
    assert whole.at_start
    assert whole.at_end
    assert len(whole.lines) > 50
    monkeypatch.setattr(pages, "MAX_LEVEL_SECONDS", -1.0)
    monkeypatch.setattr(level_lines, "ALL_STEPS", 12_000)
    found, page = [], read_page(sources, "start", "forward", 7, "error")
    found += page.lines
    while not page.at_end:
        page = read_page(sources, page.after, "forward", 7, "error")
        found += page.lines
    assert found == whole.lines
    page = read_page(sources, "end", "backward", 7, "error")
    found = page.lines[:]
    while not page.at_start:
        page = read_page(sources, page.before, "backward", 7, "error")
        found = page.lines + found
    assert found == whole.lines


def test_the_first_error_of_a_stream_is_found_in_parts_and_when_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(level_lines, "SEARCH_SECONDS", -1.0)
    path, other = tmp_path / "a.log", tmp_path / "b.log"
    quiet = b"step 1 loss: 0.3\n" * 20_000
    path.write_bytes(quiet)
    other.write_bytes(quiet)
    sources = [Source("a", path, TimeIndex(None), None), Source("b", other, TimeIndex(None))]
    searches: dict[str, ErrorSearch] = {}
    monkeypatch.setattr(level_lines, "SEARCH_BYTES", 1)
    parts = [first_errors(sources, searches)]
    while not parts[-1].complete:
        parts.append(first_errors(sources, searches))
        monkeypatch.setattr(level_lines, "SEARCH_SECONDS", 60.0)
    assert len(parts) > 2
    assert [part.searched for part in parts] == sorted(part.searched for part in parts)
    assert (parts[-1].errors, parts[-1].searched, parts[-1].size) == ([], 2 * len(quiet), 2 * len(quiet))
    with path.open("ab") as file:
        file.write(b"Traceback (most recent call last):\n")
    monkeypatch.setattr(level_lines, "SEARCH_BYTES", 10**9)
    found = first_errors(sources, searches)
    assert [(error.offset, error.text) for error in found.errors] == [
        (len(quiet), "Traceback (most recent call last):")
    ]
    with path.open("ab") as file:
        file.write(b'  File "a.py", line 1, in main\nValueError: bad\nERROR:root:later\n')
    found = first_errors(sources, searches)
    assert [(e.stream, e.offset, e.text, e.traceback) for e in found.errors] == [
        ("a", len(quiet), "ValueError: bad", True)
    ]
    path.write_bytes(b"ERROR:root:first\n")
    found = first_errors(sources, searches)
    assert [(e.stream, e.offset, e.text) for e in found.errors] == [("a", 0, "ERROR:root:first")]
