"""TensorBoard's own page, through the server: opened, read, refreshed, restarted."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import psutil
import pytest
from tensorboard import version

from jupyterlab_t9kjob.tensorboard import process
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from tests.tensorboard.conftest import WAIT, Ask, Events, News, children, opened, scalars


async def test_the_whole_way(ask: Ask, jp_root_dir: Path, parts: Any) -> None:
    log_dir = jp_root_dir / "mnist" / "runs" / "train-1"
    events = Events(log_dir)
    events.add("train/loss", [2.0, 1.5])
    response = await ask("tensorboards", "POST", {"paths": ["mnist/runs/train-1"]})
    assert response.code == 201
    board = json.loads(response.body)
    assert board["log_dirs"] == [str(log_dir)]
    assert board["paths"] == ["mnist/runs/train-1"]
    assert board["label"] == "train-1"

    page = await ask(board["url"] + "?darkMode=true")
    assert page.code == 200
    assert "<tb-webapp>" in page.body.decode()
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    fonts = set(re.findall(r"url\(([^)]+\.woff2)\)", page.body.decode()))
    assert (await ask(urljoin(board["url"], sorted(fonts)[0]))).headers["Content-Type"] == "font/woff2"
    # the lab may frame it, and TensorBoard's own policy still holds
    policies = page.headers.get_list("Content-Security-Policy")
    assert any("frame-ancestors 'self'" in policy for policy in policies)
    assert any("script-src 'self'" in policy for policy in policies)
    script = await ask(board["url"] + "index.js", decompress_response=False, headers={"Accept-Encoding": "gzip"})
    assert script.headers["Content-Encoding"] == "gzip"
    assert script.body[:2] == b"\x1f\x8b"
    environment = json.loads((await ask(board["url"] + "data/environment")).body)
    assert environment["version"] == version.VERSION

    assert await scalars(ask, board, board["label"], "train/loss", 2) == [(1, 2.0), (2, 1.5)]
    # what is written afterwards appears without anybody's help
    events.add("train/loss", [1.25])
    assert await scalars(ask, board, board["label"], "train/loss", 3) == [(1, 2.0), (2, 1.5), (3, 1.25)]
    # TensorBoard asks for many curves by POST
    body = "requests=" + quote(json.dumps([{"plugin": "scalars", "tag": "train/loss"}]))
    answer = await ask(
        board["url"] + "data/plugin/timeseries/timeSeries",
        "POST",
        body,
        {"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.code == 200
    assert len(json.loads(answer.body)[0]["runToSeries"]["train-1"]) == 3

    again = await ask("tensorboards", "POST", {"paths": ["mnist/runs/train-1"]})
    assert (again.code, json.loads(again.body)["id"]) == (200, board["id"])
    listed = json.loads((await ask("tensorboards")).body)
    assert [found["id"] for found in listed["tensorboards"]] == [board["id"]]
    assert listed["available"] is True
    shown = await parts.news.until(lambda found: found.has_data)
    assert shown.last_data_at is not None

    (before,) = children()
    restarted = await ask(f"tensorboards/{board['id']}/restart", "POST")
    assert json.loads(restarted.body)["url"] == board["url"]
    assert await scalars(ask, board, board["label"], "train/loss", 3)
    (after,) = children()
    assert after.pid != before.pid

    assert (await ask(f"tensorboards/{board['id']}", "DELETE")).code == 204
    assert children() == []
    for path in (board["url"], f"tensorboards/{board['id']}"):
        assert (await ask(path)).code == 404


async def test_a_directory_that_is_not_there_yet(
    ask: Ask, manager: TensorBoardManager, news: News, jp_root_dir: Path
) -> None:
    board = await opened(ask, paths=["later"])
    assert (await ask(board["url"])).code == 200
    assert json.loads((await ask(board["url"] + "data/runs")).body) == []
    assert manager.get(board["id"]).has_data is False
    Events(jp_root_dir / "later" / "run-a").add("loss", [3.0])
    assert (await news.until(lambda found: found.has_data)).id == board["id"]
    assert await scalars(ask, board, "later/run-a", "loss", 1) == [(1, 3.0)]


async def test_a_jobs_own_directory(ask: Ask, parts: Any, tmp_path: Path) -> None:
    log_dir = tmp_path / "scratch" / "train-7"
    Events(log_dir).add("loss", [1.0])
    job = parts.engine.put()
    parts.engine.known[job.uid].log_dirs = [str(log_dir)]
    board = await opened(ask, job_id=job.id)
    assert (board["job_id"], board["log_dirs"], board["paths"]) == (job.id, [str(log_dir)], [None])
    assert (await opened(ask, paths=[str(log_dir)]))["id"] == board["id"]
    assert await scalars(ask, board, job.name, "loss", 1) == [(1, 1.0)]
    refused = await ask("tensorboards", "POST", {"paths": [str(tmp_path / "scratch")]})
    assert refused.code == 422
    assert json.loads(refused.body)["field"] == "/paths/0"
    parts.engine.known[job.uid].log_dirs = []
    assert (await ask("tensorboards", "POST", {"job_id": job.id})).code == 422
    assert (await ask("tensorboards", "POST", {"job_id": "local::x:nothing"})).code == 404


async def test_several_directories_side_by_side(ask: Ask, jp_root_dir: Path) -> None:
    for number, path in enumerate(["a/train-1", "a/train-2", "b/train-1"]):
        Events(jp_root_dir / path).add("loss", [float(number)])
    board = await opened(ask, paths=["a/train-1", "a/train-2", "b/train-1"])
    assert board["label"] == "train-1 and 2 more"
    for run, value in [("train-1", 0.0), ("train-2", 1.0), ("train-1-3", 2.0)]:
        assert await scalars(ask, board, run, "loss", 1) == [(1, value)]


async def test_not_installed(ask: Ask, manager: TensorBoardManager, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no() -> bool:
        return False

    monkeypatch.setattr(manager, "installed", no)
    listed = json.loads((await ask("tensorboards")).body)
    assert listed["available"] is False
    assert "not installed" in listed["reason"]
    assert listed["install"].endswith("-m pip install tensorboard")
    refused = await ask("tensorboards", "POST", {"paths": ["x"]})
    assert refused.code == 503
    assert "pip install tensorboard" in json.loads(refused.body)["hint"]


async def test_where_no_unix_socket_can_be_made(
    ask: Ask, jp_root_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(process, "_private_directory", lambda: deep)
    Events(jp_root_dir / "log").add("loss", [1.0])
    board = await opened(ask, paths=["log"])
    assert (await ask(board["url"])).code == 200
    assert await scalars(ask, board, board["label"], "loss", 1) == [(1, 1.0)]
    moved = await ask(board["url"] + "graphs")
    assert moved.code == 302
    assert moved.headers["Location"].endswith(board["url"])
    (child,) = children()
    (listening,) = {c.laddr for c in child.net_connections("inet") if c.status == "LISTEN"}
    assert listening.ip == "127.0.0.1"
    # without the secret there is nothing, and the process's arguments don't tell it
    from tornado.httpclient import AsyncHTTPClient

    for path in ("", "data/runs"):
        answer = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{listening.port}/{path}", raise_error=False)
        assert answer.code == 404
    assert len(child.cmdline()) == 2


@pytest.mark.parametrize(
    ("headers", "policies", "frames"),
    [
        # JupyterHub's servers; older ones
        ({"Content-Security-Policy": "frame-ancestors 'none'"}, [], "'self'"),
        ({"Content-Security-Policy": "frame-ancestors 'none';report-uri /hub/csp"}, ["report-uri /hub/csp"], "'self'"),
        # a lab that another site frames: that site is an ancestor of the page as well
        (
            {"Content-Security-Policy": "default-src 'self'; Frame-Ancestors https://portal.test 'self'"},
            ["default-src 'self'"],
            "'self' https://portal.test",
        ),
        (
            {"Content-Security-Policy": "frame-ancestors 'none', base-uri 'self'; frame-ancestors *"},
            ["base-uri 'self'"],
            "'self' *",
        ),
        # who forbids nothing goes on so
        ({"Content-Security-Policy": "base-uri 'self'"}, ["base-uri 'self'"], None),
        ({"x-frame-options": "DENY", "Content-Security-Policy": ""}, [], "'self'"),
        ({"X-Frame-Options": "DENY"}, [], "'self'"),
    ],
)
async def test_the_lab_may_frame_it(
    ask: Ask, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch, headers: Any, policies: list[str], frames: str | None
) -> None:
    """Pages of errors too: they say why there is no TensorBoard."""
    monkeypatch.setitem(jp_serverapp.web_app.settings, "headers", headers)
    answer = await ask("t9kjob/tensorboards/nothing/ui/", headers={"Accept": "text/html"})
    assert (answer.code, "This TensorBoard does not exist any more" in answer.body.decode()) == (404, True)
    assert "X-Frame-Options" not in answer.headers
    said = [part.strip() for part in re.split("[;,]", answer.headers["Content-Security-Policy"])]
    assert set(policies) <= set(said)
    named = [part.removeprefix("frame-ancestors ") for part in said if part.startswith("frame-ancestors")]
    assert (named[-1:], "'none'" in str(named)) == ([frames] if frames else [], False)
    # the lab's own answers are as they were told to be
    other = await ask("tensorboards")
    assert headers.get("Content-Security-Policy", "frame-ancestors 'self'") in other.headers["Content-Security-Policy"]


async def test_addresses_without_a_slash(ask: Ask, jp_root_dir: Path) -> None:
    board = await opened(ask, paths=[""])
    moved = await ask(board["url"].rstrip("/") + "?darkMode=true")
    assert moved.code == 302
    assert moved.headers["Location"].endswith(board["url"] + "?darkMode=true")


@pytest.mark.parametrize("settings", [{"reload_interval": 1.0, "loader": "fast"}])
async def test_the_fast_loader(ask: Ask, manager: TensorBoardManager, jp_root_dir: Path) -> None:
    for name in ("a", "b"):
        Events(jp_root_dir / name / "train-1").add("loss", [1.0])
    board = await opened(ask, paths=["a/train-1", "b/train-1"])
    for run in ("train-1", "train-1-2"):
        assert await scalars(ask, board, run, "loss", 1) == [(1, 1.0)]
    (child,) = children()
    loaders = child.children()
    assert loaders
    assert (await ask(f"tensorboards/{board['id']}", "DELETE")).code == 204
    _, alive = await asyncio.to_thread(psutil.wait_procs, loaders, WAIT)
    assert alive == []
