"""A server with T9k's AIStore API as t9k-facts.md, AIStore, describes it."""

from __future__ import annotations

import email
import email.policy
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
USER = "alice"


class AIStore:
    """Nodes, objects and data flow; `requests` has method and path of each request."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.objects: dict[str, bytes] = {}
        self.links: list[dict[str, str]] = []
        self.parts: dict[str, dict[int, bytes]] = {}
        self.requests: list[str] = []
        self.lock = threading.Lock()
        self.ids = (f"id-{number}" for number in itertools.count(1))
        self.url = ""
        self.refusals: dict[str, int] = {}

    def refuse(self, request: str, after: int) -> None:
        """Answer such a request once with 507, after some that are answered."""
        self.refusals[request] = after

    def node(self, wanted: str) -> dict[str, Any] | None:
        return self.nodes.get(wanted) or next((node for node in self.nodes.values() if node["id"] == wanted), None)

    def answer(self, method: str, path: str, query: dict[str, str], body: bytes, kind: str) -> tuple[int, Any]:
        if query.get("apikey") != KEY:
            return (302, "") if "apikey" not in query else (400, f"api key {query['apikey']} not found\n")
        route = (method, path.removeprefix("/t9k/aistore/server"))
        if (left := self.refusals.get(" ".join(route))) is not None:
            self.refusals[" ".join(route)] = left - 1
            if left == 0:
                del self.refusals[" ".join(route)]
                return 507, "no space"
        sent = json.loads(body) if kind == "application/json" else {}
        if route == ("GET", "/oauth2/userinfo"):
            return 200, {"preferred_username": USER}
        if route == ("GET", "/apis/v1/nodes/info"):
            node = self.node(query["node"])
            return (200, node) if node else (404, f"node not found [{query['node']}]")
        if route == ("POST", "/apis/v1/nodes"):
            if sent["parent"] != f"/{USER}" and sent["parent"] not in self.nodes:
                return 404, f"node not found [{sent['parent']}]"
            name = f"{sent['parent']}/{sent['name']}"
            if name in self.nodes:
                return 400, "Invalid conflicting node Name"
            self.nodes[name] = {**sent, "id": next(self.ids)}
            return 200, {"id": self.nodes[name]["id"]}
        if route == ("DELETE", "/apis/v1/nodes"):
            del self.nodes[sent["node"]]
            self.objects = {p: c for p, c in self.objects.items() if not p.startswith(sent["node"] + "/")}
            return 200, {}
        if route == ("GET", "/apis/v1/graphs"):
            me = query["current"]
            return 200, {
                "in": [{"id": link["from"]} for link in self.links if link["to"] == me] or None,
                "out": [{"id": link["to"]} for link in self.links if link["from"] == me],
            }
        if route == ("POST", "/apis/v1/graphs"):
            self.links += sent["graphs"]
            return 200, {}
        return self.answer_objects(route, query, body, kind, sent)

    def answer_objects(
        self, route: tuple[str, str], query: dict[str, str], body: bytes, kind: str, sent: Any
    ) -> tuple[int, Any]:
        path = query["path"]
        if route == ("GET", "/apis/v1/objects/ls"):
            found = sorted(name for name in self.objects if name.startswith(path + "/"))
            page, size = int(query["page"]), 2
            data = [{"path": name[len(path) :], "size_bytes": len(self.objects[name])} for name in found]
            shown = data[(page - 1) * size : page * size]
            return 200, {"data": shown or None, "pagination": {"size": size, "total": len(found)}}
        if route == ("GET", "/apis/v1/objects"):
            return 200, self.objects[path]
        if route == ("POST", "/apis/v1/objects"):
            self.objects[path] = content_of(body, kind)
            return 200, {}
        if route == ("POST", "/apis/v1/objects/multipart"):
            self.parts["up/1"] = {}
            return 200, {"uploadId": "up/1"}
        if route == ("PUT", "/apis/v1/objects/multipart/up%2F1"):
            self.parts["up/1"][int(query["partNumber"])] = content_of(body, kind)
            return 200, {"eTag": f"tag{query['partNumber']}"}
        if route == ("POST", "/apis/v1/objects/multipart/up%2F1"):
            self.objects[path] = b"".join(self.parts["up/1"][int(part["etag"][3:])] for part in sent["parts"])
            return 200, {}
        return 404, ""


def content_of(body: bytes, kind: str) -> bytes:
    """Return the part `content` of a form."""
    message = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body, policy=email.policy.HTTP)
    [part] = message.iter_parts()
    assert part.get_param("name", header="content-disposition") == "content"
    return part.get_payload(decode=True)


@contextmanager
def aistore() -> Iterator[AIStore]:
    store = AIStore()

    class Handler(BaseHTTPRequestHandler):
        def serve(self) -> None:
            address = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with store.lock:
                store.requests.append(f"{self.command} {address.path}")
                kind = self.headers.get("Content-Type", "")
                status, answer = store.answer(self.command, address.path, query, body, kind)
            content = answer if isinstance(answer, bytes) else answer.encode() if isinstance(answer, str) else None
            content = json.dumps(answer).encode() if content is None else content
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/login")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = serve  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    store.url = f"http://127.0.0.1:{server.server_port}/t9k/aistore/server"
    try:
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
