"""A server extension for tests: says what its process holds after a garbage collection."""

from __future__ import annotations

import asyncio
import gc
import json
from collections import Counter
from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web


class InsightHandler(APIHandler):
    @web.authenticated
    async def get(self) -> None:
        gc.collect()
        kinds = Counter(f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in gc.get_objects())
        self.finish(json.dumps({"tasks": len(asyncio.all_tasks()), "objects": kinds}))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.web_app.add_handlers(".*", [(url_path_join(server.base_url, "insight"), InsightHandler)])
