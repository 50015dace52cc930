"""Who may: every route and socket without a token, with an authorizer that denies, from another origin."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
import tornado.websocket
from jupyter_server.auth import Authorizer
from tornado.httpclient import HTTPClientError, HTTPRequest

from jupyterlab_t9kjob.handlers.routes import ROUTES
from tests.server.conftest import Api
from tests.server.contract import document
from tests.server.fakes import FakeEngine

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")
OPERATIONS = [
    (verb.upper(), path.removeprefix("/t9kjob/")) for path, verbs in document()["paths"].items() for verb in verbs
]
SOCKETS = [
    path.removeprefix("/t9kjob/") for path, verbs in document()["paths"].items() if "x-socket" in verbs.get("get", {})
]
# TensorBoard asks for long lists by POST, and changes nothing
READING = {("POST", "tensorboards/{id}/ui/{path}")}


class Denying(Authorizer):
    """Lets nobody do anything with our jobs, and remembers what was asked."""

    asked: list[tuple[str, str]] = []  # noqa: RUF012

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        self.asked.append((action, resource))
        return False


@pytest.fixture
def denying(jp_server_config: dict[str, Any]) -> list[tuple[str, str]]:
    jp_server_config["ServerApp"]["authorizer_class"] = Denying
    Denying.asked.clear()
    return Denying.asked


def filled(route: str, ident: str) -> list[str]:
    words = {"{id}": ident, "{action}": "stop", "{stream}": "worker-0.1.rank-0.out", "{path}": "index.html"}
    return [words.get(part, part) for part in route.split("/")]


async def test_no_token(engine: FakeEngine, api: Api):
    job = engine.put()
    for method, route in [*OPERATIONS, ("GET", "nothing"), ("POST", "nothing"), ("GET", "")]:
        answer = await api(method, *filled(route, job.id), body={} if method == "POST" else None, headers={})
        assert answer.status in (401, 403), (method, route)
        assert job.id not in answer.body.decode()
    assert engine.known[job.uid].pending_action is None


async def test_denying_authorizer(denying: list[tuple[str, str]], engine: FakeEngine, api: Api):
    job = engine.put()
    for method, route in OPERATIONS:
        denying.clear()
        answer = await api(method, *filled(route, job.id), body={} if method == "POST" else None)
        assert answer.status == 403, (method, route)
        reads = method == "GET" or (method, route) in READING
        assert denying == [("read" if reads else "write", "t9kjob")], (method, route)
    assert engine.known[job.uid].pending_action is None


@pytest.mark.parametrize("route", SOCKETS)
async def test_sockets(
    engine: FakeEngine, route: str, http_server_client: Any, jp_http_port: int, jp_base_url: str, jp_serverapp: Any
):
    job = engine.put()
    token = jp_serverapp.identity_provider.token
    # a browser logs in and has a cookie from then on; a request with a token is let in from anywhere
    login = await http_server_client.fetch(f"{jp_base_url}api/status?token={token}")
    cookie = {"Cookie": "; ".join(text.split(";")[0] for text in login.headers.get_list("Set-Cookie"))}
    path = "/".join(quote(part, safe="") for part in filled(route, job.id))
    url = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}t9kjob/{path}"
    for headers in ({}, {"Authorization": "token wrong"}, {**cookie, "Origin": "http://evil.example"}):
        with pytest.raises(HTTPClientError) as caught:
            await tornado.websocket.websocket_connect(HTTPRequest(url, headers=headers))
        assert caught.value.code == 403, headers
    for headers in (cookie, {**cookie, "Origin": f"http://127.0.0.1:{jp_http_port}"}):
        (await tornado.websocket.websocket_connect(HTTPRequest(url, headers=headers))).close()


@pytest.mark.parametrize("route", SOCKETS)
async def test_sockets_with_denying_authorizer(
    denying: list[tuple[str, str]], engine: FakeEngine, route: str, jp_ws_fetch: Any
):
    job = engine.put()
    with pytest.raises(HTTPClientError) as caught:
        await jp_ws_fetch("t9kjob", *filled(route, job.id))
    assert caught.value.code == 403
    assert denying == [("read", "t9kjob")]


def test_every_route_is_in_the_contract_and_the_reverse(jp_serverapp: Any):
    registered = {
        (verb, route)
        for route, handler in ROUTES.items()
        for verb in VERBS
        if getattr(handler, verb.lower()).__qualname__.split(".")[0] not in ("RequestHandler", "WebSocketHandler")
    }
    assert registered == set(OPERATIONS)


def test_every_handler_below_our_address_is_a_route(jp_serverapp: Any):
    from jupyterlab_t9kjob.handlers.routes import handlers

    ours = [
        rule.matcher.regex.pattern
        for rule in jp_serverapp.web_app.wildcard_router.rules + jp_serverapp.web_app.default_router.rules
        for rule in getattr(getattr(rule, "target", None), "rules", [])
        if "t9kjob" in rule.matcher.regex.pattern
    ]
    base = jp_serverapp.base_url.rstrip("/")
    assert sorted(ours) == sorted(f"{base}{pattern}$" for pattern, _ in handlers())


def test_the_contract_is_fresh():
    from jupyterlab_t9kjob.openapi.build import document as build

    assert build() == document()


def test_the_contract_is_openapi():
    from openapi_spec_validator import validate

    validate(document())
