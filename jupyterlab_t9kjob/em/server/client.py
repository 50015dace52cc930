"""Requests to T9k's AIStore server.

The server takes the API key as a query parameter, so no message may quote an address with its query.
"""

from __future__ import annotations

import http.client
import json
import math
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, BinaryIO, Iterable, Iterator

from ..files import now

SINGLE_BYTES = 100 * 1024 * 1024
"""Size up to which an object is uploaded by one request."""
_MEBI = 1024 * 1024
_BOUNDARY = "jupyterlab-t9kjob-em-5b0f4c0a9d"
_PIECE = 1 << 20


class ServerError(RuntimeError):
    """The server refused a request or could not be reached.

    Attributes
    ----------
    status
        Status of the answer; 0 without an answer.
    text
        What the server said.
    """

    def __init__(self, message: str, status: int = 0, text: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.text = text


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Client:
    """One login to a server.

    Parameters
    ----------
    host
        Address of the server.
    key
        The API key.
    timeout
        Longest time without an answer, in seconds.
    """

    def __init__(self, host: str, key: str, timeout: float) -> None:
        self.host = host
        self.user = ""
        self._key = key
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def __repr__(self) -> str:
        return f"Client({self.host!r})"

    def connect(self) -> None:
        """Ask for the name of the user, which also tests the key."""
        answer = self._json("GET", "/oauth2/userinfo")
        self.user = str(answer["preferred_username"])

    def node(self, path: str) -> dict[str, Any] | None:
        """Return a node by path or id; None if it does not exist."""
        try:
            answer = self._json("GET", "/apis/v1/nodes/info", {"node": path})
        except ServerError as problem:
            if problem.status == 404 and "node not found" in problem.text:
                return None
            raise
        return dict(answer)

    def create(self, kind: str, parent: str, name: str, **fields: Any) -> str:
        """Create a node and return its id.

        Parameters
        ----------
        kind
            `Folder`, `Run` or `Artifact`.
        parent
            Path of the folder.
        name
            Name of the node.
        fields
            `labels`, `description`, and `extra`, which is written as JSON.
        """
        body = {
            "parent": parent,
            "name": name,
            "labels": fields.get("labels", []),
            "description": fields.get("description", ""),
            "type": kind,
            "storageType": 0 if kind == "Folder" else 2,
            "extra": json.dumps(fields.get("extra", {})),
        }
        return str(self._json("POST", "/apis/v1/nodes", body=body)["id"])

    def delete(self, path: str) -> None:
        """Delete a node."""
        self._json("DELETE", "/apis/v1/nodes", body={"node": path})

    def make_folder(self, path: str) -> None:
        """Create a folder and the folders above it, where they do not exist."""
        parts = path.strip("/").split("/")
        for depth in range(2, len(parts) + 1):  # The first is the user's own.
            folder = "/" + "/".join(parts[:depth])
            if self.node(folder) is None:
                parent, name = folder.rsplit("/", 1)
                self.create("Folder", parent, name, extra={"createdTimestamp": now()})

    def links(self, node_id: str) -> dict[str, list[dict[str, str]]]:
        """Return the nodes that lead to a node (`in`) and those that it leads to (`out`)."""
        answer = self._json("GET", "/apis/v1/graphs", {"current": node_id})
        return {side: list(answer.get(side) or []) for side in ("in", "out")}

    def link(self, pairs: list[dict[str, str]]) -> None:
        """Record the data flow between nodes, each pair `{from, to}`."""
        self._json("POST", "/apis/v1/graphs", body={"graphs": pairs})

    def objects(self, path: str) -> list[dict[str, Any]]:
        """Return the objects of a node."""
        found: list[dict[str, Any]] = []
        page = 1
        while True:
            answer = self._json("GET", "/apis/v1/objects/ls", {"path": path, "size": "1000", "page": str(page)})
            found += answer.get("data") or []
            pages = answer.get("pagination") or {}
            if not answer.get("data") or page * int(pages.get("size", 0)) >= int(pages.get("total", 0)):
                return found
            page += 1

    def upload(self, path: str, file: Path) -> None:
        """Upload a file as an object.

        Parameters
        ----------
        path
            Path of the object.
        file
            The file. A large one is uploaded in pieces whose size is about the square root of its size, in MiB. Of a
            file that grows meanwhile, the beginning is uploaded.
        """
        size = file.stat().st_size
        with file.open("rb") as content:
            if size <= SINGLE_BYTES:
                self._form("POST", "/apis/v1/objects", {"path": path}, _pieces(content, size), size)
                return
            upload = self._json("POST", "/apis/v1/objects/multipart", {"path": path})["uploadId"]
            target = f"/apis/v1/objects/multipart/{urllib.parse.quote(str(upload), safe='')}"
            step = math.isqrt(size // _MEBI) * _MEBI
            parts = []
            for number, begin in enumerate(range(0, size, step), 1):
                length = min(step, size - begin)
                query = {"path": path, "partNumber": str(number)}
                answer = self._form("PUT", target, query, _pieces(content, length), length)
                parts.append({"etag": answer["eTag"], "partNumber": number})
            self._json("POST", target, {"path": path}, {"parts": parts})

    def download(self, path: str, target: Path) -> None:
        """Download an object.

        Parameters
        ----------
        path
            Path of the object.
        target
            The file to write.
        """
        with self._open("GET", "/apis/v1/objects", {"path": path}, None, {}) as answer, target.open("wb") as file:
            for piece in iter(lambda: answer.read(_PIECE), b""):
                file.write(piece)

    def _json(self, method: str, path: str, query: dict[str, str] | None = None, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body).encode("utf-8")
        headers = {"Content-Type": "application/json"} if content is not None else {}
        return self._answer(self._open(method, path, query or {}, content, headers))

    def _form(self, method: str, path: str, query: dict[str, str], pieces: Iterator[bytes], size: int) -> Any:
        head = (
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="content"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode("ascii")
        tail = f"\r\n--{_BOUNDARY}--\r\n".encode("ascii")

        def body() -> Iterator[bytes]:
            yield head
            yield from pieces
            yield tail

        headers = {
            "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}",
            "Content-Length": str(len(head) + size + len(tail)),
        }
        return self._answer(self._open(method, path, query, body(), headers))

    def _answer(self, response: Any) -> Any:
        with response:
            text = response.read().decode("utf-8", "replace")
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError:
            return text

    def _open(
        self,
        method: str,
        path: str,
        query: dict[str, str],
        content: bytes | Iterable[bytes] | None,
        headers: dict[str, str],
    ) -> Any:
        url = f"{self.host}{path}?{urllib.parse.urlencode({**query, 'apikey': self._key})}"
        request = urllib.request.Request(url, data=content, headers=headers, method=method)  # noqa: S310 (http or https)
        try:
            return self._opener.open(request, timeout=self._timeout)
        except urllib.error.HTTPError as problem:
            status = problem.code
            text = problem.read(10_000).decode("utf-8", "replace").strip().replace(self._key, "…")
        except (OSError, ValueError, http.client.HTTPException) as problem:  # InvalidURL quotes the query.
            reason = str(getattr(problem, "reason", problem)).replace(self._key, "…")
            raise ServerError(f"The AIStore server {self.host} can't be reached: {reason}") from None
        if 300 <= status < 400:
            text = "it wants a login, so the API key is not accepted"
        raise ServerError(f"The AIStore server refused {method} {path}: {status} {text}".rstrip(), status, text)


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the next bytes of an open file, as many as were announced to the server."""
    while size:
        piece = file.read(min(size, _PIECE))
        if not piece:
            raise ServerError("A file became shorter while it was uploaded. Upload it again when nobody writes it.")
        size -= len(piece)
        yield piece
