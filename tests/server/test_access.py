"""Access to every route and socket: without a token, with an authorizer that denies, from another origin."""

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
TERMINALS = ("jobs/{id}/terminal",)
"""Sockets by which commands are run; that takes the permission `execute`."""
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
    words = {
        "{id}": ident,
        "{action}": "stop",
        "{sweep_action}": "stop",
        "{stream}": "worker-0.1.rank-0.out",
        "{path}": "index.html",
    }
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
        asked = ("execute", "t9kjob-terminals") if route in TERMINALS else ("read" if reads else "write", "t9kjob")
        assert denying == [asked], (method, route)
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
    assert denying == [("execute", "t9kjob-terminals") if route in TERMINALS else ("read", "t9kjob")]


class Partly(Authorizer):
    """Lets do only what is in `allowed`."""

    allowed: set[str] = set()  # noqa: RUF012

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource not in ("t9kjob", "t9kjob-terminals") or action in self.allowed


@pytest.fixture
def allowed(jp_server_config: dict[str, Any]) -> set[str]:
    jp_server_config["ServerApp"]["authorizer_class"] = Partly
    Partly.allowed.clear()
    return Partly.allowed


@pytest.mark.parametrize("may", ["read", "write"])
async def test_an_authorizer_that_lets_do_one_thing(
    allowed: set[str], engine: FakeEngine, api: Api, jp_ws_fetch: Any, may: str
):
    job = engine.put()
    allowed.add(may)
    for method, route in OPERATIONS:
        answer = await api(method, *filled(route, job.id), body={} if method == "POST" else None, contract=False)
        reads = method == "GET" or (method, route) in READING
        refused = route in TERMINALS or reads != (may == "read")
        assert (answer.status == 403) == refused, (method, route, answer.status)
    stopped = engine.known[job.uid].pending_action is not None
    assert stopped == (may == "write")
    for route in SOCKETS:
        if may == "read" and route not in TERMINALS:
            (await jp_ws_fetch("t9kjob", *filled(route, job.id))).close()
        else:
            with pytest.raises(HTTPClientError) as caught:
                await jp_ws_fetch("t9kjob", *filled(route, job.id))
            assert caught.value.code == 403
    # what was asked first decides nothing for the next
    for method in ("DELETE", "GET", "POST", "GET"):
        status = (await api(method, "nothing")).status
        assert status == (404 if (method == "GET") == (may == "read") else 403)


@pytest.mark.parametrize("headers", [{"Authorization": "token wrong"}, {"Authorization": "Bearer "}, {"Cookie": "x=y"}])
async def test_wrong_tokens(engine: FakeEngine, api: Api, headers: dict[str, str]):
    job = engine.put()
    for method, route in OPERATIONS:
        body = {} if method == "POST" else None
        answer = await api(method, *filled(route, job.id), body=body, headers=headers, token="wrong")
        assert answer.status == 403, (method, route)
        assert job.id not in answer.body.decode()
    assert engine.known[job.uid].pending_action is None


async def test_verbs_that_no_route_has(engine: FakeEngine, api: Api):
    """Without a token they tell nothing, with one they do nothing."""
    job = engine.put()
    for route in ROUTES:
        for method in ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "POST"):
            if (method, route) in OPERATIONS:
                continue
            parts = filled(route, job.id)
            answer = await api(method, *parts, headers={}, contract=False)
            assert answer.status in ((200, 403, 405) if method == "OPTIONS" else (403, 405)), (method, route)
            assert not answer.body or "message" in answer.json
            answer = await api(method, *parts, contract=False)
            assert answer.status in ((200, 405) if method == "OPTIONS" else (405,)), (method, route)
    assert engine.known[job.uid].pending_action is None and job.uid in engine.known


async def browser(http_server_client: Any, jp_base_url: str, jp_serverapp: Any) -> dict[str, str]:
    """Return the headers of a page that logged in; it knows its cookies, but no token."""
    token = jp_serverapp.identity_provider.token
    cookies: dict[str, str] = {}
    for path in ("login", f"api/status?token={token}"):
        answer = await http_server_client.fetch(f"{jp_base_url}{path}")
        cookies |= dict(text.split(";")[0].split("=", 1) for text in answer.headers.get_list("Set-Cookie"))
    return {"Cookie": "; ".join(map("=".join, cookies.items())), "X-XSRFToken": cookies["_xsrf"]}


async def test_a_page_of_another_site(
    engine: FakeEngine, api: Api, http_server_client: Any, jp_base_url: str, jp_serverapp: Any, jp_http_port: int
):
    """Its requests carry the user's cookies; it is refused, and ours is served."""
    job = engine.put()
    page = await browser(http_server_client, jp_base_url, jp_serverapp)
    ours = {**page, "Origin": f"http://127.0.0.1:{jp_http_port}"}
    theirs = {**page, "Origin": "http://evil.example"}
    blind = {"Cookie": page["Cookie"]}
    for method, route in OPERATIONS:
        parts, body = filled(route, job.id), {} if method == "POST" else None
        answer = await api(method, *parts, body=body, headers=theirs)
        assert answer.status in (403, 404), (method, route)
        assert job.id not in answer.body.decode()
        if method != "GET":
            # a form of another site sends the cookie and, in old browsers, no origin
            answer = await api(method, *parts, body=body, headers=blind)
            assert answer.status == 403, (method, route)
        assert engine.known[job.uid].pending_action is None
    assert (await api("GET", "jobs", job.id, headers=ours)).status == 200
    assert (await api("POST", "jobs", job.id, "stop", headers=ours)).status == 200


@pytest.fixture
def friend(jp_server_config: dict[str, Any]) -> str:
    jp_server_config["ServerApp"]["allow_origin"] = "https://friend.example"
    return "https://friend.example"


async def test_a_site_that_is_allowed(
    friend: str,
    engine: FakeEngine,
    api: Api,
    http_server_client: Any,
    jp_base_url: str,
    jp_serverapp: Any,
    jp_http_port: int,
):
    job = engine.put()
    page = await browser(http_server_client, jp_base_url, jp_serverapp)
    headers = {**page, "Origin": friend}
    answer = await api("GET", "jobs", job.id, headers=headers)
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, friend)
    assert (await api("POST", "jobs", job.id, "stop", headers=headers)).status == 200
    assert (await api("GET", "jobs", headers={**page, "Origin": "https://friend.example.evil"})).status in (403, 404)
    for route in SOCKETS:
        path = "/".join(quote(part, safe="") for part in filled(route, job.id))
        url = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}t9kjob/{path}"
        (await tornado.websocket.websocket_connect(HTTPRequest(url, headers=headers))).close()
        with pytest.raises(HTTPClientError) as caught:
            other = {**headers, "Origin": "https://evil.example"}
            await tornado.websocket.websocket_connect(HTTPRequest(url, headers=other))
        assert caught.value.code == 403


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
