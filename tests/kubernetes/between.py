"""A proxy between the engines and a real cluster that does what networks and old servers do, to one request or all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.kubernetes.controller.api import connect
from tests.kubernetes.fakeapi import Call, FakeApi, Json, Request, write_kubeconfig
from tests.kubernetes.harness import Kube

Forward = Callable[[Call], Awaitable[None]]
HOP_BY_HOP = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "authorization"}


@dataclass
class Between(FakeApi):
    """Hands on what comes, as the cluster's admin, but for what `rule` does otherwise.

    Attributes
    ----------
    kube
        The cluster, and the namespace of its kubeconfig.
    rule
        Called with each request; returns what is done with it, None to hand it on.
    """

    kube: Kube | None = None
    rule: Callable[[Request], Callable[[Between, Call], Awaitable[None]] | None] = field(default=lambda request: None)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._calls: set[Call] = set()
        self._frozen = False
        self._dead = 0
        self._silent: set[Call] = set()

    def cut_all(self) -> None:
        """Break off all that is going on."""
        for call in list(self._calls):
            call.cut()

    def freeze(self) -> None:
        """Let nothing through any more, neither back nor forth; all connections stay open."""
        self._frozen = True

    def forget_connections(self, *, streams_alone: bool = False) -> None:
        """Let only new connections through; of those from before nobody knows any more, and nobody says so.

        Parameters
        ----------
        streams_alone
            Let new requests on connections from before through as well.
        """
        if streams_alone:
            self._silent |= self._calls
        else:
            self._dead = self._connections

    def thaw(self) -> None:
        """Let new connections through again, and none from before."""
        self._frozen, self._dead = False, self._connections

    async def _let_through(self, call: Call) -> None:
        if self._frozen or call in self._silent or call.request.connection <= self._dead:
            await asyncio.Event().wait()

    async def start(self) -> None:
        assert self.kube is not None
        self._upstream = httpx.AsyncClient(**connect(str(self.kube.kubeconfig), "between"), timeout=None)
        await super().start()

    async def stop(self) -> None:
        await super().stop()
        await self._upstream.aclose()

    def kubeconfig(self, folder: Path, user: Json | None = None) -> Path:
        assert self.kube is not None
        path = folder / "between"
        cluster = {"server": self.url}
        if self.certificates is not None:
            cluster["certificate-authority"] = str(self.certificates.ca_file)
        return write_kubeconfig(path, cluster, user, name="between", namespace=self.kube.namespace)

    async def _handle(self, call: Call) -> None:
        self._calls.add(call)
        try:
            await self._let_through(call)
            act = self.rule(call.request)
            await (act(self, call) if act is not None else self.forward(call))
        finally:
            self._calls.discard(call)

    async def forward(self, call: Call, **changed: str | None) -> None:
        """Hand a request on, and its answer back as it comes; `changed` are parameters of the query."""
        async with self.ask(call.request, changed) as answer:
            kind = answer.headers.get("content-type", "application/json")
            if answer.is_success and (
                call.request.kind == "watch"
                or call.request.query.get("watch") == "true"
                or "follow" in call.request.query
            ):
                await call.begin(Content_Type=kind)
                async for chunk in answer.aiter_bytes():
                    await self._let_through(call)
                    await call.chunk(chunk)
                await call.end()
            else:
                await call.answer(answer.status_code, await answer.aread(), Content_Type=kind)

    async def lose(self, call: Call) -> None:
        """Hand a request on, and cut the connection in place of the answer."""
        async with self.ask(call.request) as answer:
            await answer.aread()
        call.cut()

    def ask(self, request: Request, changed: dict[str, Any] | None = None) -> Any:
        """Hand a request on; gives the answer as a context."""
        changed = changed or {}
        query = {key: value for key, value in {**request.query, **changed}.items() if value is not None}
        headers = {key: value for key, value in request.headers.items() if key not in HOP_BY_HOP}
        path = f"{request.path}?{urlencode(query)}" if query else request.path
        return self._upstream.stream(request.method, path, content=request.body, headers=headers)


async def not_there(_between: Between, call: Call) -> None:
    """Answer as an API server does that does not know a group."""
    await call.answer(404, "404 page not found\n", Content_Type="text/plain")
