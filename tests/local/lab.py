"""A real Jupyter server with the extension, in a process of its own that can be killed, and a client of its API."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests.local.forks import Forked, fork_server
from tests.patience import PATIENCE

TOKEN = "a-token-of-the-tests"
OTHERS = ["jupyterlab", "jupyter_lsp", "jupyter_server_terminals", "notebook_shim"]
# Stand-ins for modules that the server would load without need.
SPARED = Path(__file__).with_name("spared")
# Another machine, as far as the extension asks: its name and boot.
NAMED = """
import os, sys
from jupyterlab_t9kjob.core.system import processes
seen, here = os.uname(), processes.machine_id()
os.uname = lambda: os.uname_result((seen.sysname, {name!r}, *seen[2:]))
processes.machine_id = lambda: {{**here, "hostname": {name!r}, "boot_id": "another"}}
from jupyter_server.serverapp import main
main(sys.argv[1:])
"""


@dataclass
class Answer:
    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Gone(Exception):
    """The server died before it answered."""


def free_port() -> int:
    """Choose a port that is free, below those that the system gives to whoever connects."""
    while True:
        port = 10_000 + secrets.randbelow(22_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Lab:
    """One server; several may share a folder.

    Parameters
    ----------
    folder
        Holds the contents root `work`, the `home` of jobs, and what servers keep.
    root
        The contents root, where it is not the folder's.
    hostname
        Makes the server believe that this machine is called so.
    extensions
        Server extensions that are loaded besides.
    prefix
        What comes before the server's command.
    options
        More options of the server.
    environment
        More variables for it.
    umask
        Its file mode creation mask; -1 for this process's.
    """

    def __init__(
        self,
        folder: Path,
        *,
        root: Path | None = None,
        hostname: str | None = None,
        extensions: tuple[str, ...] = (),
        prefix: Sequence[str] = (),
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        umask: int = -1,
        **traits: Any,
    ) -> None:
        self.root, self.home = root or folder / "work", folder / "home"
        self._folder = folder
        self._hostname = hostname
        self._extensions = dict.fromkeys(OTHERS, False) | dict.fromkeys(("jupyterlab_t9kjob", *extensions), True)
        self._prefix, self._options = prefix, options
        self._environment, self._umask = environment or {}, umask
        self._traits = {"grace_seconds": 10.0, **traits}
        self._process: subprocess.Popen[bytes] | Forked | None = None
        self._port = 0

    @property
    def jobs(self) -> Path:
        return self.home / "jobs"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def url(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def log(self) -> str:
        return (self._folder / "server.log").read_text(errors="replace")

    def start(self) -> None:
        """Start the server and wait until it answers; not for what it then shows."""
        for part in (self.root, self._folder / "config", self._folder / "run"):
            part.mkdir(mode=0o700, exist_ok=True, parents=True)
        config = {
            "ServerApp": {
                "jpserver_extensions": self._extensions,
                # On a loaded machine a client of the tests may need longer than the usual 30 s to answer a ping.
                "tornado_settings": {"ws_ping_interval": 1000 * PATIENCE},
            },
            "T9kJobApp": {"home": self.home, **self._traits},
        }
        (self._folder / "config" / "jupyter_server_config.json").write_text(json.dumps(config, default=str))
        while not self._start_at(free_port()):
            pass

    def _start_at(self, port: int) -> bool:
        """Start the server at a port and wait until it answers; return whether nobody else had taken the port."""
        self._port = port
        options = [
            "--no-browser", "--allow-root", f"--port={self._port}", "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={self.root}", *self._options,
        ]  # fmt: skip
        environment = {
            **os.environ,
            "PYTHONPATH": f"{SPARED}{os.pathsep}{Path(__file__).parents[2]}",
            "JUPYTER_CONFIG_DIR": str(self._folder / "config"),
            "JUPYTER_RUNTIME_DIR": str(self._folder / "run"),
            **self._environment,
        }
        with (self._folder / "server.log").open("ab") as log:
            begun = log.tell()
            self._process = self._run(options, environment, log.fileno())
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.ask("GET", "engines", raw_path="/api/status")
                return True
            except Gone:
                ended = self._process.poll() is not None
                if ended and b"could not be started because" in (self._folder / "server.log").read_bytes()[begun:]:
                    return False
                if ended or time.monotonic() > end:
                    raise RuntimeError(self.log[-3000:]) from None
                time.sleep(0.05)

    def _run(self, options: list[str], environment: dict[str, str], log: int) -> subprocess.Popen[bytes] | Forked:
        """Start a process of the server: by its command if the test chooses how, else as a fork, which is cheaper."""
        own = self._prefix or self._options or self._hostname or self._umask != -1
        if not own and sys.platform == "linux":
            return fork_server(options, environment, log)
        main = ["-m", "jupyter_server"] if self._hostname is None else ["-c", NAMED.format(name=self._hostname)]
        return subprocess.Popen(
            [*self._prefix, sys.executable, *main, *options],
            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, umask=self._umask,
        )  # fmt: skip

    def kill(self) -> None:
        """End the server as a crash does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def ask(self, method: str, *parts: str, body: Any = None, raw_path: str | None = None, **query: Any) -> Answer:
        """Ask the API; raises `Gone` if the connection ends before the answer does."""
        path = raw_path or "/t9kjob/" + "/".join(quote(part, safe="") for part in parts)
        if query:
            path += "?" + urlencode(query)
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as error:
            raise Gone from error
        finally:
            connection.close()

    # -- jobs ---------------------------------------------------------------------------------------------------------

    def spec(self, script: str, name: str, **fields: Any) -> dict[str, Any]:
        path = self.root / f"{name}.py"
        path.write_text(script)
        return {"name": name, "entrypoint": {"kind": "script", "value": str(path)}, "torchrun": None, **fields}

    def submit(self, spec: dict[str, Any], request_id: str) -> Answer:
        return self.ask("POST", "jobs", body={"engine": "local", "spec": spec, "request_id": request_id})

    def listed(self, **query: Any) -> list[dict[str, Any]]:
        answer = self.ask("GET", "jobs", **query)
        assert answer.status == 200, answer.body
        found: list[dict[str, Any]] = answer.json["jobs"]
        return found

    def until_listed(self, reached: Callable[[list[str]], Any], seconds: float = PATIENCE) -> None:
        """Wait until the ids of the list are as wanted: it may be a moment behind what is said of a job."""
        end = time.monotonic() + seconds
        while not reached(ids := [each["id"] for each in self.listed()]):
            assert time.monotonic() < end, ids
            time.sleep(0.1)

    def until_available(self, *engines: str, seconds: float = PATIENCE) -> None:
        """Wait until the server has found these engines."""
        end = time.monotonic() + seconds
        while True:
            answer = self.ask("GET", "engines")
            if set(engines) <= {each["name"] for each in answer.json["engines"] if each["available"]}:
                return
            assert time.monotonic() < end, answer.json
            time.sleep(0.1)

    def until(self, ident: str, reached: Any, seconds: float = PATIENCE) -> dict[str, Any]:
        """Wait until a job is as wanted; the API has no other way for a plain client than to ask."""
        return self.until_part((ident,), reached, seconds)

    def until_part(self, parts: Sequence[str], reached: Any, seconds: float = PATIENCE) -> dict[str, Any]:
        """Wait until a part of a job is as wanted, such as ``(ident, "replicas")``."""
        end = time.monotonic() + seconds
        while True:
            answer = self.ask("GET", "jobs", *parts)
            assert answer.status == 200, answer.body
            if reached(answer.json):
                found: dict[str, Any] = answer.json
                return found
            assert time.monotonic() < end, answer.json
            time.sleep(0.1)
