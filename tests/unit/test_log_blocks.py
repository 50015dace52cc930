"""Blocks of whole lines: the text that reading the same lines one by one gives, or nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyterlab_t9kjob.logs.serving.line_reader import MAX_TEXT
from jupyterlab_t9kjob.logs.serving.pages import read_page
from jupyterlab_t9kjob.logs.serving.sources import Source
from jupyterlab_t9kjob.logs.serving.text import PIECE, read_block
from jupyterlab_t9kjob.logs.storage import cuts
from jupyterlab_t9kjob.logs.storage.index import TimeIndex

ORDINARY = st.sampled_from(
    [b"loss 0.5\n", b"\n", "épo\u2028que 名\n".encode(), b"\xe5\x90\n", b"\xff\x00\x1b[31mred\n"]
)
ODD = st.sampled_from([b"10%\r20%\n", b"carriage\r\n", b"x" * (MAX_TEXT + 1) + b"\n", b"y" * MAX_TEXT + b"\n"])
ENDS = st.sampled_from([b"", b"no end", b"\xe5"])


def a_source(folder: Path, data: bytes) -> Source:
    path = folder / "rank.log"
    path.write_bytes(data)
    return Source("rank-0", path, TimeIndex(None), path.with_suffix(cuts.SUFFIX))


@given(lines=st.lists(ORDINARY | ODD, max_size=6), end=ENDS, first=st.integers(0, 6))
def test_a_block_has_the_text_of_its_lines(lines: list[bytes], end: bytes, first: int) -> None:
    start = len(b"".join(lines[:first]))
    with tempfile.TemporaryDirectory() as folder:
        source = a_source(Path(folder), b"".join(lines) + end)
        block = read_block(source, start)
        page = read_page([source], {"rank-0": start}, "forward", 1000)
    whole = [line for line in page.lines if not line.partial]
    if block is None:
        odd = b"\r" in b"".join(lines) or any(len(line) > MAX_TEXT + 1 for line in lines)
        assert odd or not whole
        return
    assert block.text == "".join(f"{line.text}\n" for line in whole)
    assert not any(line.cut or line.removed or line.updates > 1 for line in whole)
    assert block.after == start + sum(line.size for line in whole)
    assert block.at_end == (not end)


def test_a_long_log_comes_in_several_blocks(tmp_path: Path) -> None:
    data = b"".join(b"%07d\n" % number for number in range(PIECE // 4))
    source, found, start = a_source(tmp_path, data), "", 0
    while (block := read_block(source, start)) is not None:
        found += block.text
        start = block.after
        assert block.at_end == (start == len(data))
    assert found == data.decode()


@pytest.mark.parametrize(("start", "whole"), [(0, False), (8, False), (16, True)])
def test_removed_bytes_are_in_no_block(tmp_path: Path, start: int, whole: bool) -> None:
    source = a_source(tmp_path, b"0000000\n1111111\n2222222\n")
    assert source.cuts is not None
    cuts.append(source.cuts, cuts.Cut(8, 16, 20))
    block = read_block(source, start)
    assert (block is not None and block.text == "2222222\n") == whole


def test_a_file_that_is_gone_has_no_block(tmp_path: Path) -> None:
    source = a_source(tmp_path, b"line\n")
    source.path.unlink()
    assert read_block(source, 0) is None
