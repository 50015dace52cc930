"""Raw JSON to and from an API server, and watches that never give up."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpx
import kubernetes.config

Object = dict[str, Any]
GROUP = "batch.tensorstack.dev"


class Refused(Exception):
    """The API server said no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def connect(kubeconfig: str | None, agent: str = "t9k-test-controller") -> Object:
    """Make what an httpx client needs to reach the cluster of a kubeconfig; None is the one that KUBECONFIG names."""
    known = kubernetes.config.new_client_from_config(kubeconfig).configuration
    context = ssl.create_default_context(cafile=known.ssl_ca_cert)
    if known.cert_file:
        context.load_cert_chain(known.cert_file, known.key_file)
    token = known.get_api_key_with_prefix("authorization") or known.get_api_key_with_prefix("BearerToken")
    headers = {"User-Agent": agent, **({"Authorization": token} if token else {})}
    return {"base_url": known.host, "verify": context, "headers": headers}


class Api:
    """A client of the cluster that the kubeconfig names."""

    def __init__(self, kubeconfig: str | None = None) -> None:
        self._client = httpx.AsyncClient(**connect(kubeconfig), timeout=30)

    async def close(self) -> None:
        await self._client.aclose()

    async def ask(self, method: str, path: str, body: Object | None = None, **query: Any) -> Object:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        response = await self._client.request(
            method, path, json=body, params=query, headers={"Content-Type": kind} if body is not None else {}
        )
        if response.is_success:
            return response.json()
        try:
            message = response.json()["message"]
        except (ValueError, KeyError, TypeError):
            message = response.text
        raise Refused(response.status_code, message)

    async def find(self, path: str) -> Object | None:
        try:
            return await self.ask("GET", path)
        except Refused as error:
            if error.status == 404:
                return None
            raise

    async def delete(self, path: str, uid: str = "", **options: Any) -> None:
        try:
            await self.ask("DELETE", path, {"preconditions": {"uid": uid}, **options} if uid else dict(options))
        except Refused as error:
            if error.status not in (404, 409):  # gone, or another one by now
                raise

    async def watch(self, path: str, **query: Any) -> AsyncIterator[Object]:
        """Yield every object that is there, then every one that changes or goes, for ever."""
        while True:
            try:
                listed = await self.ask("GET", path, **query)
                for item in listed["items"]:
                    yield item
                version = listed["metadata"]["resourceVersion"]
                async for item in self._changes(path, version, query):
                    yield item
            except (Refused, httpx.HTTPError):  # no such kind yet, no server just now, a history too old
                await asyncio.sleep(1)

    async def _changes(self, path: str, version: str, query: Object) -> AsyncIterator[Object]:
        while True:
            options = {**query, "watch": "true", "allowWatchBookmarks": "true", "resourceVersion": version}
            options["timeoutSeconds"] = 300
            timeout = httpx.Timeout(30, read=330)
            async with self._client.stream("GET", path, params=options, timeout=timeout) as response:
                if not response.is_success:
                    raise Refused(response.status_code, "watch")
                async for line in response.aiter_lines():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise Refused(event["object"].get("code", 410), "watch")
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        yield event["object"]
