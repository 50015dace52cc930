"""Chunks of an answer that are merged mean the same to an HTTP library, however they arrive."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyterlab_t9kjob.engines.kubernetes.client.merged_chunks import MergedChunks

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = b"5\r\nhello\r\nA\r\n0123456789\r\n1;name=value\r\n \r\n0\r\n\r\n"


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


def read(parts: list[bytes]) -> tuple[bytes, str, int]:
    """Return what h11 reads: the content, how it ends, and the number of its parts."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "here")]))
    connection.send(h11.EndOfMessage())
    content, count = b"", 0
    try:
        for part in [*parts, b""]:
            connection.receive_data(part)
            while (event := connection.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Data):
                    content, count = content + bytes(event.data), count + 1
                elif isinstance(event, h11.EndOfMessage):
                    return content, f"end {list(event.headers)}", count
    except h11.RemoteProtocolError as error:
        return content, "broken off" if "without sending" in str(error) else "wrong", count
    raise AssertionError("the end of the connection is an end of the answer")


def merged(parts: list[bytes]) -> list[bytes]:
    chunks = MergedChunks()
    return [data for part in parts if (data := chunks.feed(part))]


@given(st.lists(st.binary(max_size=40).filter(bool), max_size=20), st.lists(st.integers(0, 2000), max_size=30))
def test_the_content_is_the_same_however_it_arrives(contents: list[bytes], cuts: list[int]) -> None:
    body = b"".join(b"%x\r\n%b\r\n" % (len(content), content) for content in contents) + b"0\r\nX-End: 1\r\n\r\n"
    content, end, _count = read(merged(pieces(HEAD + body, cuts)))
    assert (content, end) == (b"".join(contents), "end [(b'x-end', b'1')]")


@given(st.lists(st.integers(0, 2000), max_size=20), st.integers(0, len(BODY)), st.binary(max_size=4))
def test_what_is_wrong_is_judged_as_before(cuts: list[int], place: int, wrong: bytes) -> None:
    damaged = pieces(HEAD + BODY[:place] + wrong + BODY[place + len(wrong) :], cuts)
    assert read(merged(damaged))[:2] == read(damaged)[:2]


def test_many_chunks_are_one() -> None:
    body = b"".join(b"c8\r\n%b\n\r\n" % (b"x" * 199) for _ in range(300))
    content, end, count = read(merged([HEAD + body]))
    assert (len(content), count) == (300 * 200, 1)
    assert end == "broken off"


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: transfer-encoding: chunked\r\nContent-Length: 10\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
    ],
)
def test_other_answers_stay_as_they_are(head: bytes) -> None:
    for cuts in ([], [20], [len(head) - 1], list(range(200))):
        parts = pieces(head + b"5\r\nhello\r\n", cuts)
        assert merged(parts) == parts


def test_a_connection_that_no_longer_speaks_http_is_left_alone() -> None:
    chunks = MergedChunks()
    switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
    sent = [switched + HEAD, b"5\r", b"1\r\na\r\n1\r\nb\r\n"]
    for data in sent:
        assert chunks.feed(data) == data
        chunks.begin()


def test_the_next_answer_on_a_connection_has_its_own_head() -> None:
    chunks = MergedChunks()
    for _ in range(2):
        chunks.begin()
        assert chunks.feed(HEAD + b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n") == HEAD + b"2\r\nab\r\n0\r\n\r\n"
    chunks.begin()
    information = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    assert chunks.feed(information + HEAD + b"1\r\na\r\n1\r\nb\r\n") == information + HEAD + b"2\r\nab\r\n"
