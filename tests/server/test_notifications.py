"""Notifications: notices on the stream, messages to a real receiver that fails in every way, and secrets that stay."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from html import escape, unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.core.evictions.model import Continuation
from jupyterlab_t9kjob.core.job import Failure, LastOutput, Link, Reason
from jupyterlab_t9kjob.core.spec import Device
from jupyterlab_t9kjob.core.sweep import SweepMember
from jupyterlab_t9kjob.notifications import webhooks
from jupyterlab_t9kjob.notifications.model import SetWebhook, WebhookRules
from jupyterlab_t9kjob.notifications.service import NotificationService
from tests.server.conftest import EXTENSIONS, WAIT, Api, eventually
from tests.server.fakes import FakeEngine

SECRET = "T00/B07QK2/verysecret9f3a"
OK = {"slack": b"ok", "feishu": b'{"code":0,"msg":"success"}', "dingtalk": b'{"errcode":0,"errmsg":"ok"}', "json": b""}


class Receiver:
    """A web server on this machine that keeps what it gets, and answers as it is told (status 0: not at all)."""

    def __init__(self) -> None:
        self.got: list[SimpleNamespace] = []
        self.answers: list[tuple[int, bytes]] = []
        self.default: tuple[int, bytes] = (200, b"ok")
        self.repeat: Callable[[str], bytes] | None = None
        self.answering = threading.Event()
        self.answering.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.got.append(SimpleNamespace(path=self.path, headers=self.headers, body=body))
                receiver.answering.wait(60)
                status, content = receiver.answers.pop(0) if receiver.answers else receiver.default
                if receiver.repeat is not None:
                    status, content = 502, receiver.repeat(self.path)
                if status:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_words: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/services/{SECRET}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.answering.set()
    found.server.shutdown()
    found.server.server_close()


pytestmark = pytest.mark.usefixtures("fakes")


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return {
        "ServerApp": {"jpserver_extensions": dict(EXTENSIONS), "allow_unauthenticated_access": False},
        "T9kJobApp": {"webhook_group_seconds": 0.05, "webhook_retry_seconds": [0.05, 0.1]},
    }


async def follow(api: Api, receiver: Receiver, service: str = "slack", **fields: Any) -> dict[str, Any]:
    answer = await api(
        "PUT", "notifications", "webhook", body={"service": service, "address": receiver.address, **fields}
    )
    assert answer.status == 200, answer.json
    return answer.json


async def delivered(api: Api, title: str) -> None:
    """Return when the server knows that a message was accepted."""
    deadline = time.monotonic() + WAIT
    while True:
        last = (await api("GET", "notifications")).json["webhooks"][0]["last"]
        if last is not None and last["ok"] and last["title"] == title:
            return
        assert time.monotonic() < deadline, last
        await asyncio.sleep(0.02)


def fail(engine: FakeEngine, name: str, **changes: Any) -> Any:
    """A job of the fake engine that fails now."""
    job = engine.put(name, phase="Running", created_at=time.time() - 700, started_at=time.time() - 660)
    reason = Reason(
        code="ExitCode",
        sentence="Rank 3 failed with exit code 1",
        hint="See <the log> & more.",
        links=[Link(kind="log", label="Show in log", stream="worker-0.1.rank-3.err", offset=7)],
    )
    failure = Failure(
        replica="worker-0",
        attempt=1,
        exit_code=1,
        last_output=LastOutput(stream="s", offset=0, lines=[f"line {n}" for n in range(9)]),
    )
    fields = {"phase": "Failed", "ended_by": "itself", "ended_at": time.time(), "reason": reason, "failure": failure}
    engine.change(job.uid, **{**fields, **changes})
    return job


async def test_a_failure_reaches_the_pages_and_the_webhook_once(
    engine: FakeEngine, api: Api, receiver: Receiver, open_page
):
    page = await open_page("stream")
    await page.send(type="subscribe")
    assert (await page.receive())["notices"] == []
    await follow(api, receiver)
    rules = {"mention": "@lin", "lab_address": "https://hub.example/user/lin/"}
    assert (await api("PUT", "notifications", "rules", body=rules)).status == 200
    job = fail(engine, "train-1", devices=Device(name="nvidia.com/gpu", count=8))
    notices: list[Any] = []
    while not notices:
        notices = (await page.receive())["notices"]
    assert [(each["kind"], each["job"], each["title"]) for each in notices] == [("failed", job.id, "train-1 failed")]
    await eventually(lambda: receiver.got)
    body = receiver.got[0].body
    text = json.dumps(body)
    assert body["text"] == "train-1 failed"
    assert "*train-1 failed* @lin\\nRank 3 failed with exit code 1. See &lt;the log&gt; &amp; more." in text
    assert "line 8" in text and "line 3" not in text and "8 GPUs" in text
    urls = [each["url"] for each in body["blocks"][-1]["elements"]]
    assert urls[0] == f"https://hub.example/user/lin/lab?t9kjob-job={job.id.replace(':', '%3A')}"
    assert urls[1].endswith("&stream=worker-0.1.rank-3.err&offset=7")
    engine.change(job.uid, restarts=0)  # a repeated change is no new event
    late = fail(engine, "train-2")
    await eventually(lambda: len(receiver.got) == 2)
    assert receiver.got[1].body["text"] == "train-2 failed"
    assert receiver.got[0].headers["idempotency-key"] != receiver.got[1].headers["idempotency-key"]
    again = await open_page("stream")
    await again.send(type="subscribe")
    assert [each["job"] for each in (await again.receive())["notices"]] == [job.id, late.id]


async def test_events_that_are_together_are_one_message_and_only_the_chosen_kinds_are_sent(
    engine: FakeEngine, api: Api, receiver: Receiver, app: T9kJobApp
):
    await follow(api, receiver, "json")
    (await app.services()).notifications._outbox._group_seconds = 0.5
    now = time.time()
    sweep = {n: SweepMember(id="s1", name="lr", number=n, at_a_time=2) for n in (1, 2, 3)}
    first = engine.put("lr-1", phase="Running", created_at=now - 5, started_at=now - 5, sweep=sweep[1])
    second = engine.put("lr-2", phase="Running", created_at=now - 5, started_at=now - 5, sweep=sweep[2])
    # The first job continues one that was evicted long ago, and counts instead of it.
    evicted = {"ended_by": "platform", "continuation": Continuation(job=first.id), "sweep": sweep[1]}
    engine.put("lr-0", phase="Failed", created_at=now - 9e4, ended_at=now - 9e4, **evicted)
    pruned = engine.put("lr-3", phase="Running", created_at=now - 5, started_at=now - 5, sweep=sweep[3])
    worse = Reason(code="SweepPruned", sentence="It was worse than the median.")
    engine.change(pruned.uid, phase="Failed", ended_by="platform", reason=worse, ended_at=now)
    engine.put("other", phase="Failed", mine=False, created_at=now, ended_at=now)
    engine.put("stopped", phase="Failed", ended_by="user", created_at=now, ended_at=now)
    engine.put("old", phase="Failed", ended_by="itself", created_at=now - 9e4, ended_at=now - 9e4)
    for job in (first, second):
        engine.change(job.uid, phase="Succeeded", ended_by="itself", ended_at=time.time())
    fail(engine, "bad")
    await eventually(lambda: receiver.got)
    body = receiver.got[0].body
    assert (body["kind"], body["job"]["name"]) == ("failed", "bad")  # the failure leads
    assert [(each["kind"], each["title"]) for each in body["others"]] == [("sweep_ended", "Sweep lr has ended: 3 jobs")]
    assert body["others"][0]["sweep"] == {"id": "s1", "name": "lr", "jobs": 3, "failed": 0}
    assert len(receiver.got) == 1


async def test_a_message_is_tried_again_and_then_given_up(engine: FakeEngine, api: Api, receiver: Receiver, open_page):
    await follow(api, receiver)
    receiver.answers = [(500, b"down"), (0, b""), (200, b"ok")]
    fail(engine, "train-1")
    await eventually(lambda: len(receiver.got) == 3)
    assert len({each.headers["idempotency-key"] for each in receiver.got}) == 1

    await delivered(api, "train-1 failed")
    page = await open_page("stream")
    await page.send(type="subscribe")
    await page.receive()
    receiver.default = (503, b"")
    fail(engine, "train-2")
    notices: list[Any] = []
    while not any(each["kind"] == "undelivered" for each in notices):
        notices += (await page.receive())["notices"]
    assert len(receiver.got) == 6
    shown = (await api("GET", "notifications")).json["webhooks"][0]["last"]
    assert shown["sentence"] == "Slack answered 503."


async def test_what_ended_while_no_server_ran_is_sent_by_the_next_one(
    engine: FakeEngine, api: Api, receiver: Receiver, app: T9kJobApp, tmp_path: Path
):
    await follow(api, receiver)
    services = await app.services()
    fail(engine, "train-1")
    await delivered(api, "train-1 failed")
    await services.notifications.stop()
    fail(engine, "train-2")
    fail(engine, "ancient", ended_at=time.time() - 25 * 3600)
    options = {"group_seconds": 0.05, "retry_seconds": (0.05,)}
    others = [NotificationService(services.jobs, lambda _notice: None, tmp_path, **options) for _number in range(2)]  # type: ignore[arg-type]
    for other in others:  # two labs with one home: one of them sends
        await other.start()
    await eventually(lambda: len(receiver.got) >= 2)
    fail(engine, "train-3")
    await eventually(lambda: len(receiver.got) >= 3)
    for other in others:
        await other.stop()
    assert [each.body["text"] for each in receiver.got] == ["train-1 failed", "train-2 failed", "train-3 failed"]


async def test_what_another_lab_of_the_home_sets_holds_for_the_next_message(
    engine: FakeEngine, api: Api, receiver: Receiver, app: T9kJobApp, tmp_path: Path
):
    state = await follow(api, receiver)
    fail(engine, "train-1")
    await delivered(api, "train-1 failed")  # This lab sends.
    jobs = (await app.services()).jobs
    other = NotificationService(jobs, lambda _notice: None, tmp_path, group_seconds=0.05, retry_seconds=())
    await other.start()
    base = receiver.address.rpartition("/")[0]
    await other.set_webhook(SetWebhook(service="slack", address=f"{base}/second-address"))
    await other.save_rules(WebhookRules.model_validate({**state["rules"], "lines": False}))
    fail(engine, "train-2")
    await eventually(lambda: len(receiver.got) == 2)
    await delivered(api, "train-2 failed")
    assert "line 8" in json.dumps(receiver.got[0].body) and "line 8" not in json.dumps(receiver.got[1].body)
    await other.delete_webhook()
    assert (await api("GET", "notifications")).json["webhooks"] == []
    assert (await api("POST", "notifications", "test", body={})).status == 404
    fail(engine, "train-3")
    await other.set_webhook(SetWebhook(service="slack", address=f"{base}/third-address"))
    fail(engine, "train-4")
    await eventually(lambda: len(receiver.got) == 3)
    await other.stop()
    sent = [(each.path.rpartition("/")[2], each.body["text"]) for each in receiver.got[1:]]
    assert sent == [("second-address", "train-2 failed"), ("third-address", "train-4 failed")]


@pytest.mark.parametrize("service", ["slack", "feishu", "dingtalk", "json"])
async def test_a_test_message_is_what_the_service_expects(api: Api, receiver: Receiver, service: str):
    receiver.default = (200, OK[service])
    await follow(api, receiver, service, key="sesame", keyword="jobs")
    answer = (await api("POST", "notifications", "test", body={})).json
    assert answer["ok"], answer
    got = receiver.got[0]
    if service == "feishu":
        stamp = got.body["timestamp"]
        expected = hmac.new(f"{stamp}\nsesame".encode(), b"", hashlib.sha256).digest()
        assert got.body["sign"] == base64.b64encode(expected).decode()
        assert "jobs" in got.body["content"]["text"].lower()
    if service == "dingtalk":
        query = parse_qs(urlsplit(got.path).query)
        stamp = query["timestamp"][0]
        expected = hmac.new(b"sesame", f"{stamp}\nsesame".encode(), hashlib.sha256).digest()
        assert query["sign"] == [base64.b64encode(expected).decode()]
        assert got.body["msgtype"] == "text" and "jobs" in got.body["text"]["content"]


REFUSALS = [
    ("slack", 404, b"no_service", "Slack answered 404.", "Replace the address"),
    ("slack", 200, b"<html>", "must be", "one of a Slack webhook"),
    ("slack", 302, b"", "Slack answered 302.", "not followed"),
    ("feishu", 200, b'{"code":19021,"msg":"sign match fail"}', "code 19021", "signing key"),
    ("feishu", 200, b'{"code":19024,"msg":"Key Words Not Found"}', "code 19024", "keyword"),
    ("dingtalk", 200, b'{"errcode":310000,"errmsg":"keywords not in content"}', "code 310000", "keyword"),
    ("dingtalk", 200, b"\xff\x00", "not one of DingTalk", "Check the address"),
    ("slack", 429, b"rate_limited", "Slack answered 429.", "limits the number of messages"),
    ("json", 500, b"oops", "answered 500", "Try again later"),
    ("json", 403, b"no", "answered 403", "does not accept"),
    ("json", 0, b"", "connection to 127.0.0.1 failed", "Check the address"),
]


async def test_every_refusal_is_said_in_words_and_no_secret_leaves(
    api: Api, receiver: Receiver, caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    caplog.set_level(logging.DEBUG)
    texts = []
    for service, status, content, sentence, hint in REFUSALS:
        texts.append(json.dumps(await follow(api, receiver, service, key="sesame-key")))
        receiver.answers = [(status, content.replace(b"<html>", f"<html>{receiver.address}".encode()))]
        answer = await api("POST", "notifications", "test", body={})
        texts.append(answer.body.decode())
        assert sentence in answer.json["sentence"] and hint in answer.json["hint"], answer.json
        assert not answer.json["ok"]
    monkeypatch.setattr(webhooks, "SECONDS", 0.2)
    receiver.answering.clear()
    answer = await api("POST", "notifications", "test", body={})
    assert answer.json["sentence"].startswith("No answer within")
    receiver.answering.set()
    state = (await api("GET", "notifications")).json["webhooks"]
    assert [(each["ends_with"], each["host"], each["has_key"]) for each in state] == [("9f3a", "127.0.0.1", True)]
    texts += [json.dumps(state), *(record.getMessage() for record in caplog.records if record.name != "asyncio")]
    assert not [text for text in texts if SECRET in text or "sesame-key" in text]
    assert (tmp_path / "notifications" / "webhook.json").stat().st_mode & 0o077 == 0
    assert (await api("DELETE", "notifications", "webhook")).status == 204
    assert (await api("GET", "notifications")).json["webhooks"] == []
    assert (await api("POST", "notifications", "test", body={})).status == 404


TOKEN = "aTOP+SECRET/token-0123456789"
ECHOES = {
    "as it was sent": "Bad gateway: cannot POST {sent}",
    "decoded": f"The token {TOKEN} is unknown",
    "coded": "The token {coded} is unknown",
    "in HTML": "<a href='{html}'>moved</a>",
    "in JSON": "{json}",
    "cut": "x" * 490 + "{coded}",
    "with the signature": "sign {sign} and key sesame-key do not match",
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
async def test_an_answer_that_repeats_the_request_shows_no_secret_of_it(api: Api, receiver: Receiver, echo: str):
    def repeat(path: str) -> bytes:
        words = {"sent": path, "coded": quote(TOKEN, safe=""), "html": escape(path), "sign": path.rpartition("=")[2]}
        return echo.format(**words, json=json.dumps(f"{path} {TOKEN}").replace("/", r"\/")).encode()

    receiver.repeat = repeat
    address = f"http://127.0.0.1:{receiver.server.server_port}/robot/send?access_token={quote(TOKEN)}"
    body = {"service": "dingtalk", "address": address, "key": "sesame-key"}
    assert (await api("PUT", "notifications", "webhook", body=body)).status == 200
    verbatim = (await api("POST", "notifications", "test", body={})).json["verbatim"]
    sign = parse_qs(urlsplit(receiver.got[0].path).query)["sign"][0]
    shown = unescape(unquote(verbatim)).replace("\\", "")
    for secret in (TOKEN, sign, "sesame-key"):
        assert not [start for start in range(len(secret) - 5) if secret[start : start + 6] in shown], verbatim
    assert "…" in verbatim and len(verbatim) <= 500


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ftp://x/y",
        "https://",
        "file:///etc/passwd",
        "https://u:p@x/y",
        "http://x:99999/",
        "https://x/\ny",
        "x" * 3000,
    ],
)
async def test_a_bad_address_is_refused_at_its_field(api: Api, address: str):
    answer = await api("PUT", "notifications", "webhook", body={"service": "json", "address": address})
    assert (answer.status, answer.json["field"]) == (422, "/address")
    assert (await api("GET", "notifications")).json["webhooks"] == []


async def test_settings_that_can_not_be_read_are_the_default_ones(api: Api, tmp_path: Path, app: T9kJobApp):
    folder = tmp_path / "notifications"
    folder.mkdir()
    for name in ("rules", "webhook", "ledger"):
        (folder / f"{name}.json").write_text('{"service": "pigeon", "address": "https://x/very-secret"')
    state = (await api("GET", "notifications")).json
    assert state["webhooks"] == [] and state["rules"]["late_minutes"] == 10
    bad = await api("PUT", "notifications", "rules", body={"lab_address": "https://x/?token=1"})
    assert (bad.status, bad.json["field"]) == (422, "/lab_address")
    for kind in ("failed", "no_progress", "paused", "waiting", "succeeded_late", "succeeded_soon", "sweep_ended"):
        for service in OK:
            rules = {"arguments": True, "lab_address": "https://x/"}
            shown = await api(
                "POST", "notifications", "preview", body={"kind": kind, "service": service, "rules": rules}
            )
            assert shown.status == 200 and shown.json["size"] > 50


async def test_webhooks_of_the_administrator_are_checked_and_locked(tmp_path: Path, receiver: Receiver, app: T9kJobApp):
    services = await app.services()
    entries = [
        {"service": "json", "address": receiver.address, "name": "Team"},
        {"service": "pigeon", "address": "x"},
        7,
    ]
    service = NotificationService(services.jobs, lambda _notice: None, tmp_path / "other", entries)
    state = await service.state()
    assert [(each.id, each.name, each.locked) for each in state.webhooks] == [("admin-1", "Team", True)]
    assert len(state.problems) == 2
    assert (await service.test("admin-1")).ok and receiver.got[0].body["kind"] == "test"
