"""Another user of the same machine finds out and reaches nothing; tried as another one where we may become one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyterlab_t9kjob.tensorboard import process as process_module
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from tests.tensorboard.conftest import Ask, Events, children, has_own_network, opened, scalars

NOBODY = 65534

# Attempts of another user, with the standard library alone; prints the results.
PROBE = r"""
import json, os, socket, sys
wish = json.loads(sys.argv[1])
found = {"uid": os.getuid()}
def attempt(name, deed):
    try:
        found[name] = deed()
    except OSError as error:
        found[name] = type(error).__name__
def connect():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(wish["socket"])
    return "connected"
def read(name):
    with open(f"/proc/{wish['pid']}/{name}", "rb") as file:
        return file.read().decode(errors="replace")
def get(port, path):
    with socket.create_connection(("127.0.0.1", port), 5) as s:
        s.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        return s.makefile("rb").readline().decode().split()[1]
if wish.get("socket"):
    attempt("socket", connect)
    attempt("folder", lambda: os.listdir(os.path.dirname(wish["socket"])))
attempt("environ", lambda: read("environ"))
attempt("cmdline", lambda: read("cmdline"))
attempt("network", lambda: os.open(f"/proc/{wish['pid']}/ns/net", os.O_RDONLY))
for port in wish["ports"]:
    for path in wish["paths"]:
        attempt(f"{port} {path}", lambda: get(port, path))
print(json.dumps(found))
"""


async def as_another(**wish: Any) -> dict[str, Any] | None:
    """Try as another user; None where we can't become one."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    command = [python, "-c", PROBE, json.dumps(wish)]
    if os.getuid() == 0:
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    else:
        command = ["sudo", "-n", "-u", "nobody", *command]
    try:
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=True, cwd="/")
    except (OSError, subprocess.CalledProcessError):
        assert os.getuid(), "root can become anybody"
        return None
    found = json.loads(done.stdout)
    assert found["uid"] not in (0, os.getuid())
    return found


def ports_of(process: psutil.Process) -> set[int]:
    """Ports that are listened on in a process's network, if that is not ours; else those of its own."""
    if not has_own_network(process):
        everything = [process, *process.children(recursive=True)]
        return {c.laddr.port for p in everything for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == "0A":
                ports.add(int(local.rpartition(":")[2], 16))
    return ports


def sockets_of(process: psutil.Process) -> list[str]:
    """Names of Unix sockets in a process's network; abstract ones begin with @."""
    lines = Path(f"/proc/{process.pid}/net/unix").read_text().splitlines()[1:]
    return [name for line in lines if len(parts := line.split(maxsplit=7)) == 8 for name in parts[7:]]


async def test_another_user(
    ask: Ask, manager: TensorBoardManager, runtime: Path, jp_serverapp: Any, jp_root_dir: Path
) -> None:
    Events(jp_root_dir / "log").add("loss", [1.0])
    runtime.chmod(0o755)  # noqa: ASYNC240 (what protects is below)
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, board["label"], "loss", 1)
    endpoint = await manager.endpoint(board["id"])
    assert isinstance(endpoint.address, str)
    assert Path(endpoint.address).parent.is_relative_to(runtime)
    (process,) = children()
    # a network of its own, or nothing that listens on it
    ports = ports_of(process)
    assert has_own_network(process) or not ports
    token = jp_serverapp.identity_provider.token
    assert token
    for told in (" ".join(process.cmdline()), json.dumps(process.environ())):
        assert token not in told
        assert board["id"] not in told
    assert endpoint.address not in " ".join(process.cmdline())
    assert "JUPYTER_TOKEN" not in process.environ()
    if has_own_network(process):
        assert ports  # of its data server
        # the one socket has permissions; an abstract one would have none
        assert set(sockets_of(process)) == {endpoint.address}

    folder = Path(endpoint.address).parent
    for private in (folder, folder.parent):
        assert (private.stat().st_mode & 0o777, private.stat().st_uid) == (0o700, os.getuid())
    found = await as_another(pid=process.pid, socket=endpoint.address, ports=sorted(ports), paths=["/"])
    if found is not None:
        refused = ("socket", "folder", "environ", "network")
        assert {name: found[name] for name in refused} == dict.fromkeys(refused, "PermissionError")
        assert found["cmdline"].split("\0")[1:] == [str(process_module.CHILD), ""]
        for port in ports:
            assert found[f"{port} /"] == "ConnectionRefusedError"
    assert (await ask(f"tensorboards/{board['id']}", "DELETE")).code == 204


async def test_another_user_and_a_port(
    ask: Ask, manager: TensorBoardManager, jp_root_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no Unix socket can be made, others can connect, but not guess the path."""
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(process_module, "_private_directory", lambda: deep)
    Events(jp_root_dir / "log").add("loss", [1.0])
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, board["label"], "loss", 1)
    endpoint = await manager.endpoint(board["id"])
    assert isinstance(endpoint.address, tuple)
    assert len(endpoint.prefix) >= 32
    (process,) = children()
    assert ports_of(process) == {endpoint.address[1]}
    assert endpoint.prefix.strip("/") not in " ".join(process.cmdline()) + json.dumps(process.environ())
    paths = ["/", "/data/runs", "//data/runs", "/..%2f", f"/{'x' * 32}/data/runs", f"/{board['id']}/data/runs"]
    found = await as_another(pid=process.pid, ports=[endpoint.address[1]], paths=paths)
    if found is not None:
        assert {path: found[f"{endpoint.address[1]} {path}"] for path in paths} == dict.fromkeys(paths, "404")
        assert found["environ"] == "PermissionError"
