"""A page behind another tab: Playwright keeps its own pages in front, so this speaks to a Chromium of its own."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection  # websocket-client, which the Jupyter server has


class Tab:
    """The first tab of a browser, by the DevTools protocol."""

    def __init__(self, browser: WebSocket) -> None:
        self._browser = browser
        self._numbers = itertools.count(1)
        targets = self._send("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self._send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self.send("Performance.enable", timeDomain="threadTicks")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the page."""
        return self._send(method, self._session, **params)

    def ask(self, expression: str) -> Any:
        """Return what JavaScript says."""
        return self.send("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until JavaScript says that it is so."""
        while not self.ask(expression):
            time.sleep(0.2)

    def hide(self) -> None:
        """Bring another tab to the front."""
        front = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._send("Target.activateTarget", targetId=front)
        self.until("document.visibilityState === 'hidden'")

    def _send(self, method: str, session: dict[str, str] | None = None, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._browser.send(json.dumps({"id": number, "method": method, "params": params, **(session or {})}))
        while (answer := json.loads(self._browser.recv())).get("id") != number:
            pass
        return dict(answer["result"])


@contextmanager
def tab() -> Iterator[Tab]:
    """Start Chromium, and end it afterwards."""
    chromium = shutil.which("chromium") or "chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking"]
        command = [chromium, *options, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            port = Path(profile, "DevToolsActivePort")
            while not port.exists() or len(lines := port.read_text().split()) < 2:
                time.sleep(0.1)
            yield Tab(create_connection(f"ws://127.0.0.1:{lines[0]}{lines[1]}", suppress_origin=True))
        finally:
            process.terminate()
            process.wait()
