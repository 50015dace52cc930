"""Searching logs: what is found, in order; a search that takes too long or that nobody wants any more."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.logs.serving import grep, line_reader, prefilter, search, sources
from jupyterlab_t9kjob.logs.storage.index import TimeIndex
from tests.server.conftest import Page, eventually
from tests.server.fakes import FakeEngine

OUT, ERR = "worker-0.1.rank-0.out", "worker-0.1.rank-0.err"


async def filled(engine: FakeEngine, open_page) -> Page:
    """Return the page of a job with a few lines."""
    job = engine.put()
    out, err = engine.stream(job, OUT), engine.stream(job, ERR)
    out.write(b"Epoch 1 loss 0.5\n", time=1.0)
    err.write(b"warning: EPOCH mismatch\n", time=2.0)
    out.write("épöch ünïcode 🎉 epoch\n".encode(), time=3.0)
    err.write(b"10%|## epoch bar\r20%|#### other\n", time=4.0)
    out.write(b"a.b*c\nepoch epoch\npartial epoch", time=5.0)
    return await open_page("jobs", job.id, "logs")


async def find(page: Page, pattern: str, **options: Any) -> dict[str, Any]:
    await page.send(type="search", request=3, pattern=pattern, **options)
    while True:
        message = await page.receive()
        assert message is not None
        if message["type"] in ("hits", "error"):
            assert message["request"] == 3
            return message


def texts(answer: dict[str, Any]) -> list[str]:
    return [hit["text"] for hit in answer["hits"]]


async def test_text(engine: FakeEngine, open_page):
    page = await filled(engine, open_page)
    answer = await find(page, "epoch")
    assert texts(answer) == [
        "Epoch 1 loss 0.5",
        "warning: EPOCH mismatch",
        "épöch ünïcode 🎉 epoch",
        "epoch epoch",
        "partial epoch",
    ]
    assert (answer["complete"], answer["stopped"]) == (True, None)
    assert answer["hits"][3]["spans"] == [[0, 5], [6, 11]]
    assert answer["hits"][2]["spans"] == [[17, 22]]  # JavaScript counts 🎉 as two
    assert [hit["time"] for hit in answer["hits"]] == [1.0, 2.0, 3.0, 5.0, 5.0]
    assert answer["hits"][2]["offset"] == len(b"Epoch 1 loss 0.5\n")
    assert answer["hits"][1]["stream"] == ERR


async def test_options(engine: FakeEngine, open_page):
    page = await filled(engine, open_page)
    assert texts(await find(page, "EPOCH", case_sensitive=True)) == ["warning: EPOCH mismatch"]
    assert texts(await find(page, "a.b*")) == ["a.b*c"]
    assert texts(await find(page, r"^e\w+ e", regex=True)) == ["epoch epoch"]
    assert texts(await find(page, r"(?u)\u0065poch e", regex=True)) == ["epoch epoch"]
    assert texts(await find(page, "ÉPÖCH")) == ["épöch ünïcode 🎉 epoch"]
    assert texts(await find(page, "epoch", streams=[ERR])) == ["warning: EPOCH mismatch"]
    assert texts(await find(page, "epoch", streams=[])) == []
    assert texts(await find(page, "no such thing")) == []
    assert texts(await find(page, "--help")) == []


async def test_of_a_progress_bar_what_is_shown(engine: FakeEngine, open_page):
    page = await filled(engine, open_page)
    assert texts(await find(page, "other")) == ["20%|#### other"]
    assert texts(await find(page, "^20%", regex=True)) == ["20%|#### other"]
    assert texts(await find(page, "epoch bar")) == []


async def test_limit_gives_the_first_in_time(engine: FakeEngine, open_page):
    page = await filled(engine, open_page)
    answer = await find(page, "epoch", limit=2)
    assert texts(answer) == ["Epoch 1 loss 0.5", "warning: EPOCH mismatch"]
    assert not answer["complete"]
    assert (await find(page, "epoch", limit=5))["complete"]


@pytest.mark.parametrize("pattern", ["(", "[a", "(?P<n>a)(?P<n>b)", "*", "a{99999999999}", "(" * 600])
async def test_bad_expression(engine: FakeEngine, open_page, pattern: str):
    page = await filled(engine, open_page)
    answer = await find(page, pattern, regex=True)
    assert (answer["type"], answer["code"]) == ("error", "BadPattern")
    assert answer["hint"]


async def test_context(engine: FakeEngine, open_page):
    page = await filled(engine, open_page)
    answer = await find(page, "ünïcode", context=2)
    (hit,) = answer["hits"]
    # of its own stream, as `rg` gives those of its own file
    assert [line["text"] for line in hit["before"]] == ["Epoch 1 loss 0.5"]
    assert [line["text"] for line in hit["after"]] == ["a.b*c", "epoch epoch"]
    assert all(line["stream"] == OUT for line in hit["before"] + hit["after"])
    assert [(line["offset"], line["time"]) for line in hit["before"]] == [(0, 1.0)]
    (last,) = (await find(page, "partial epoch", context=1))["hits"]
    assert ([line["text"] for line in last["before"]], last["after"]) == (["epoch epoch"], [])
    (bare,) = (await find(page, "partial epoch"))["hits"]
    assert (bare["before"], bare["after"]) == ([], [])


PATTERNS = [
    *("epoch", "É", "[", "a b", "世", "\\ufffd", "k"),
    *(
        r"\d+ err",
        "[a-c]{2}x",
        "(?:err|wa[rx])n?",
        "^a",
        "c$",
        r"\bab\b",
        r"\Bb",
        r"^\s*$",
        r"[^a-z\s]",
        r"\W\w",
        r"\S\D\d",
    ),
    *(
        ".{3}",
        "a.b",
        "(a|b)*c",
        "a{2,1500}",
        "a{1200}|b",
        r"(\w)\1",
        "(?P<n>a)(?(n)b|c)",
        "(?=a)a(?!b)",
        "(?<=a)b",
        "(?<!a)b",
    ),
    *(
        "(?s)a.b",
        "(?x) a b",
        "(?i:AB)c",
        "[é-ü]",
        "[^é]",
        r"\Aa",
        r"b\Z",
        "",
        "a*",
        "x?y+?",
        r"[\d\-x]",
        "ſ",
        "K",
        "[^\\S]",
    ),
    *((r"(?>a+)b", "a++b") if sys.version_info >= (3, 11) else ()),
]
PIECES = [
    *(
        "a",
        "b",
        "c",
        "ab",
        "aab",
        "epoch",
        "EPOCH",
        "12 err",
        "warn",
        " ",
        "x",
        "-",
        "é",
        "É",
        "世",
        "K",
        "ſ",
        "\t",
        "\x0b",
    ),
    *("\n", "\n", "\n\n", "\r", "\r\n", "█", "\xa0"),
]


@pytest.mark.parametrize("with_re2", [True, False])
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pattern=st.sampled_from(PATTERNS),
    data=st.lists(
        st.one_of(st.sampled_from(PIECES).map(str.encode), st.sampled_from([b"\xff", b"\xe4\xb8", b"\0"])), max_size=25
    ).map(b"".join),
    regex=st.booleans(),
    case_sensitive=st.booleans(),
)
def test_the_lines_are_those_that_python_finds(
    tmp_path_factory, monkeypatch, with_re2: bool, pattern: str, data: bytes, regex: bool, case_sensitive: bool
):
    """Each search engine finds the lines that Python finds when it reads the shown lines one after the other."""
    if with_re2:
        pytest.importorskip("re2")
    with monkeypatch.context() as patches:
        if not with_re2:
            patches.setattr(prefilter, "re2", None)
        path = tmp_path_factory.getbasetemp() / "found.log"
        path.write_bytes(data)
        try:
            expression = re.compile(pattern if regex else re.escape(pattern), 0 if case_sensitive else re.IGNORECASE)
        except re.error:
            return
        with sources.opened([sources.Source("s", path, TimeIndex(None))]) as (file,):
            wanted = [line.offset for line in file.reader.forward(0) if expression.search(line.text)]
        question = grep.Question(
            files=[("s", str(path), None, None, None)],
            pattern=pattern,
            regex=regex,
            case_sensitive=case_sensitive,
            limit=1000,
            context=0,
            level=None,
        )
        *hits, end = grep.search(question)
        assert [json.loads(hit[1:])["offset"] for hit in hits] == wanted
        assert end == "c"


async def test_what_was_removed_is_not_found_but_told_beside_a_hit(engine: FakeEngine, open_page):
    job = engine.put()
    log = engine.stream(job, OUT)
    for number in range(10):
        log.write(b"needle %d\n" % number, time=float(number))
    log.cut(27, 72)
    page = await open_page("jobs", job.id, "logs")
    for pattern, regex in (("needle", False), (r"n\w+ \d$", True)):
        answer = await find(page, pattern, regex=regex, context=1)
        assert texts(answer) == [f"needle {number}" for number in (0, 1, 2, 8, 9)]
        (hole,) = answer["hits"][2]["after"]
        assert (hole["offset"], hole["removed"], hole["text"], hole["time"]) == (27, 45, "", 3.0)
        assert answer["hits"][3]["before"] == [hole]
    assert texts(await find(page, r"\x00", regex=True)) == []


async def test_lines_beyond_blocks(engine: FakeEngine, open_page):
    job = engine.put()
    log = engine.stream(job, OUT)
    filler = b"nothing to see here, move along\n"
    for number in range(5):
        log.write(filler * (line_reader.LONG_BLOCK // len(filler)) + b"needle %d\n" % number, time=float(number))
    log.write(b"needle in a long line" + b"x" * 3_000_000 + b"\nneedle last\n", time=9.0)
    page = await open_page("jobs", job.id, "logs")
    plain = await find(page, "needle")
    assert [text[:21] for text in texts(plain)] == [
        *(f"needle {number}" for number in range(5)),
        "needle in a long line",
        "needle last",
    ]
    expression = await find(page, "n[e]+dle", regex=True)
    assert expression["hits"] == plain["hits"]
    data = log.path.read_bytes()
    assert all(data[hit["offset"] :].startswith(b"needle") for hit in plain["hits"])


async def test_hostile_expression_is_ended_and_the_server_answers_meanwhile(
    engine: FakeEngine, open_page, api, monkeypatch
):
    monkeypatch.setattr(search, "TIMEOUT", 5.0)
    job = engine.put()
    engine.stream(job, OUT).write(b"needle aaa\n" + b"a" * 5000 + b"!\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    asking = asyncio.create_task(find(page, r"needle (a+)+|^(a+)+\2$", regex=True))
    answers = 0
    while not asking.done():
        assert (await api("GET", "engines")).status == 200
        answers += 1
    assert answers >= 5  # of some hundred; one that had to wait for the search would be one
    answer = asking.result()
    assert texts(answer) == ["needle aaa"]
    assert not answer["complete"] and "5 seconds" in answer["stopped"]


def searches() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "jupyterlab_t9kjob.logs.serving.grep" in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


async def endless(engine: FakeEngine, open_page) -> Page:
    job = engine.put()
    engine.stream(job, OUT).write(b"a" * 5000 + b"!\nneedle\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="search", request=1, pattern=r"^(a+)+\1$", regex=True)
    await eventually(searches)
    return page


async def test_a_new_search_ends_the_one_before(engine: FakeEngine, open_page):
    page = await endless(engine, open_page)
    old = searches()
    await page.send(type="search", request=2, pattern="needle")
    assert (await page.until(type="error"))["request"] == 1
    answer = await page.until(type="hits")
    assert (answer["request"], texts(answer)) == (2, ["needle"])
    await asyncio.to_thread(psutil.wait_procs, old, 60)
    assert not any(search.is_running() for search in old)
    await eventually(lambda: not searches())


async def test_a_search_ends_with_its_page(engine: FakeEngine, open_page):
    page = await endless(engine, open_page)
    page.close()
    await eventually(lambda: not searches())
