"""Asks the processes of a job for their stacks and collectives, which needs no permission to trace.

A process answers a signal with `faulthandler`, a named pipe with PyTorch's flight recorder (both through the hook, see
`hook/sitecustomize.py`), HTTP requests if it has started PyTorch's debug server, and the client protocol of NCCL's RAS
subsystem. Only sockets on which a process of the job listens are asked.

`taker` runs this file in other Pythons, so it needs only the standard library of Python 3.8 and Linux.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import time
from typing import Any, NamedTuple

PROC = "/proc"
SIGNAL_MARK = "T9KJOB_STACKS"
"""Variable of processes whose faulthandler listens to a signal: ``number:folder``."""
TRACES_MARK = "T9KJOB_TRACES"
"""Variable of processes that answer requests for the content of PyTorch's flight recorder: a folder."""
SIGNAL_SECONDS = 3.0
CONNECT_SECONDS = 1.0
HTTP_SECONDS = 5.0
RAS_SECONDS = 15.0
"""NCCL waits up to 5 seconds for other processes, in several rounds."""
RAS_PORT = 28028
LARGEST_HTTP, LARGEST_RAS = 32 << 20, 4 << 20
MOST_LISTENERS = 4
"""Sockets of a process that are asked whether they are PyTorch's debug server."""
SERVER_THREAD = "pt_workerserver"
"""Name of the thread in which PyTorch's debug server answers (`WorkerServer.cpp` of 2.13)."""
STACKS_HANDLER = "dump_traceback"
TRACE_HANDLERS = {"dump_nccl_trace_json": "includestacktraces=false", "fr_trace_json": ""}
"""Handlers of the debug server that return a flight recorder's content, with their parameters."""
MOST_ENTRIES = 200
ENTRY_BYTES = 500
"""Usual size of an entry that was shortened."""
FIELDS = (
    "process_group",
    "collective_seq_id",
    "is_p2p",
    "profiling_name",
    "input_sizes",
    "input_dtypes",
    "output_sizes",
    "state",
    "retired",
)
MOST_TENSORS = 4
MOST_THREADS = 64
MOST_FRAMES = 200
LONGEST_NAME = 300
_FRAME = re.compile(r'^  File "(?P<file>.{0,4096})", line (?P<line>\d{1,9}|\?\?\?) in (?P<name>.{1,300})$')
_THREAD = re.compile(
    r"^(?P<current>Current thread|Thread) 0x[0-9a-f]+(?: \[(?P<name>.*)\])? \(most recent call first\):"
)


def environment(pid: int) -> dict[str, str]:
    """Return the environment with which a process was started; empty if it can't be read."""
    try:
        with open(f"{PROC}/{pid}/environ", "rb") as file:
            pairs = (item.partition(b"=") for item in file.read().split(b"\0"))
            return {os.fsdecode(name): os.fsdecode(value) for name, _equals, value in pairs}
    except OSError:
        return {}


def status(pid: int) -> dict[str, str]:
    """Return the fields of a process's status; empty if the process has ended."""
    try:
        with open(f"{PROC}/{pid}/status", encoding="utf-8", errors="replace") as file:
            pairs = (line.partition(":") for line in file)
            return {name: value.strip() for name, _colon, value in pairs}
    except OSError:
        return {}


# --- faulthandler -----------------------------------------------------------------------------------------------------


def by_signal(pid: int, variables: dict[str, str]) -> list[dict[str, Any]] | None:
    """Take the stacks of a process whose faulthandler listens to a signal; None if it does not or gives no answer.

    Parameters
    ----------
    pid, variables
        The process and its environment, where `SIGNAL_MARK` names the signal and the folder of the stacks.
    """
    number, _colon, folder = variables.get(SIGNAL_MARK, "").partition(":")
    if not number.isdigit() or not folder:
        return None
    # The signal would end a process without the handler, such as one that has just been started.
    caught = int(status(pid).get("SigCgt", "0"), 16)
    if not caught >> (int(number) - 1) & 1:
        return None
    path = os.path.join(folder, f"{pid}.stacks")
    try:
        before = os.path.getsize(path)
        os.kill(pid, int(number))
        end, seen = time.monotonic() + SIGNAL_SECONDS, -1
        while time.monotonic() < end:
            time.sleep(0.05)
            size = os.path.getsize(path)
            if size > before and size == seen:
                break
            seen = size
        with open(path, encoding="utf-8", errors="replace") as file:
            file.seek(before)
            return written_threads(file.read(1 << 20)) or None
    except OSError:
        return None


def written_threads(text: str) -> list[dict[str, Any]]:
    """Return the threads in the text that faulthandler writes. The main thread comes last there, and first here."""
    threads: list[dict[str, Any]] = []
    for line in text.splitlines():
        head = _THREAD.match(line)
        if head:
            name = (head["name"] or "")[:LONGEST_NAME]
            threads.append({"name": name, "main": False, "active": bool(head["current"]), "frames": []})
            continue
        frame = _FRAME.match(line)
        if frame and threads and len(threads[-1]["frames"]) < MOST_FRAMES:
            number = int(frame["line"]) if frame["line"].isdigit() else 0
            entry = {"function": frame["name"], "file": frame["file"], "line": number, "native": False}
            threads[-1]["frames"].append(entry)
    if threads:
        threads[-1]["main"] = True
    return threads[::-1][:MOST_THREADS]


# --- flight recorder --------------------------------------------------------------------------------------------------


def asked_traces(pid: int, variables: dict[str, str], most: int) -> list[Any]:
    """Return what the flight recorders of a process kept; empty if they do not answer.

    Parameters
    ----------
    pid, variables
        The process and its environment, where `TRACES_MARK` names the folder of the answers.
    most
        Number of characters that are read.
    """
    folder = variables.get(TRACES_MARK, "")
    path = os.path.join(folder, f"{pid}.trace")
    try:
        # Only a process that waits for requests has the pipe open.
        pipe = os.open(os.path.join(folder, f"{pid}.ask"), os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        os.close(pipe)
        end = time.monotonic() + SIGNAL_SECONDS
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.02)
        # A named pipe in its place must not hang.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8", errors="replace") as file:
            found = json.loads(file.read(most))
        return found[:4] if isinstance(found, list) and all(isinstance(item, dict) for item in found) else []
    except (OSError, ValueError, RecursionError):
        return []


# --- sockets ----------------------------------------------------------------------------------------------------------


class Listener(NamedTuple):
    """A TCP socket on which a process listens. `everywhere` is True if it is bound to no address."""

    hosts: tuple[str, ...]
    port: int
    everywhere: bool


def listeners(pid: int) -> list[Listener]:
    """Return the TCP sockets on which a process listens, with the addresses by which this process reaches them."""
    inodes = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"{PROC}/{pid}/fd"):
            with contextlib.suppress(OSError):  # Closed meanwhile.
                target = os.readlink(f"{PROC}/{pid}/fd/{name}")
                if target.startswith("socket:["):
                    inodes.add(target[len("socket:[") : -1])
    return [_listener(address, port) for address, port, inode in _listening(pid) if inode in inodes]


def _listening(pid: int) -> list[tuple[str, int, str]]:
    """Return address, port and inode of all sockets in the network of a process on which any process listens."""
    found = []
    for table in ("tcp6", "tcp"):
        with contextlib.suppress(OSError), open(f"{PROC}/{pid}/net/{table}") as file:
            for fields in map(str.split, file):
                if len(fields) > 9 and fields[3] == "0A":
                    address, _colon, port = fields[1].partition(":")
                    found.append((address, int(port, 16), fields[9]))
    return found


def _listener(address: str, port: int) -> Listener:
    """Return a listener by the address in the kernel's table: words of four bytes in the machine's order."""
    packed = b"".join(bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8))
    if not any(packed):
        return Listener(("127.0.0.1",) if len(packed) == 4 else ("::1", "127.0.0.1"), port, True)
    return Listener((socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed),), port, False)


def exchange(listener: Listener, data: bytes, most: int, seconds: float) -> bytes:
    """Send data to a socket of this machine and return what comes until the other side closes the connection.

    Parameters
    ----------
    listener, data
        The socket, and what is sent.
    most, seconds
        Longest answer in bytes, and longest duration. Beyond them, and after an error, the answer is empty.
    """
    end = time.monotonic() + seconds
    for host in listener.hosts:
        try:
            connection = socket.create_connection((host, listener.port), timeout=CONNECT_SECONDS)
        except OSError:
            continue
        with connection, contextlib.suppress(OSError):
            connection.sendall(data)
            answer = bytearray()
            while len(answer) <= most and (left := end - time.monotonic()) > 0:
                connection.settimeout(left)
                part = connection.recv(1 << 16)
                if not part:
                    return bytes(answer)
                answer += part
        return b""
    return b""


# --- PyTorch's debug server -------------------------------------------------------------------------------------------


class DebugServer(NamedTuple):
    """The server of one rank (`torch.distributed.debug.start_debug_server`), and the names of its handlers."""

    listener: Listener
    handlers: tuple[str, ...]


def debug_server(pid: int, variables: dict[str, str]) -> DebugServer | None:
    """Return the debug server of a process; None if the process has not started it.

    Parameters
    ----------
    pid, variables
        The process and its environment, where ``MASTER_PORT`` is the port of PyTorch's store.
    """
    if SERVER_THREAD not in _thread_names(pid):
        return None
    own = [each for each in listeners(pid) if each.everywhere and str(each.port) != variables.get("MASTER_PORT")]
    for listener in own[:MOST_LISTENERS]:
        names = _parsed(request(listener, "GET", "/handler/"))
        if isinstance(names, list) and STACKS_HANDLER in names:
            return DebugServer(listener, tuple(name for name in names if isinstance(name, str)))
    return None


def _thread_names(pid: int) -> set[str]:
    names = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"{PROC}/{pid}/task"):
            with contextlib.suppress(OSError), open(f"{PROC}/{pid}/task/{thread}/comm") as file:
                names.add(file.read().rstrip("\n"))
    return names


def request(listener: Listener, method: str, path: str) -> bytes:
    """Return the content of an answer to an HTTP request; empty if there is none in time, or another status than 200.

    Parameters
    ----------
    listener
        The server's socket.
    method, path
        ``GET`` or ``POST``, and the path with its query.
    """
    lines = (f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", "Content-Length: 0", "", "")
    answer = exchange(listener, "\r\n".join(lines).encode(), LARGEST_HTTP, HTTP_SECONDS)
    head, _empty, content = answer.partition(b"\r\n\r\n")
    return content if head.split(b" ")[1:2] == [b"200"] else b""


def server_threads(server: DebugServer) -> list[dict[str, Any]]:
    """Return the threads that the debug server writes with faulthandler; empty if it does not answer."""
    text = request(server.listener, "POST", f"/handler/{STACKS_HANDLER}")
    return written_threads(text[: 1 << 20].decode(errors="replace"))


def server_traces(server: DebugServer, most: int) -> list[dict[str, Any]]:
    """Return the newest collectives of each flight recorder of the debug server's process.

    Parameters
    ----------
    server
        The debug server.
    most
        Size of the answer in bytes, which decides how many collectives it has.
    """
    found = []
    newest = max(10, min(MOST_ENTRIES, most // ENTRY_BYTES))
    for name, query in TRACE_HANDLERS.items():
        if name not in server.handlers:
            continue
        dump = _parsed(request(server.listener, "POST", f"/handler/{name}?{query}"))
        if isinstance(dump, dict):
            entries = dump.get("entries") or []  # A rank that has joined no collective has none.
            kept = [
                {field: _short(entry.get(field)) for field in FIELDS}
                for entry in (entries[-newest:] if isinstance(entries, list) else [])
                if isinstance(entry, dict)
            ]
            found.append({"pg_config": dump.get("pg_config"), "entries": kept})
    return found


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _short(value: Any) -> Any:
    return value[:MOST_TENSORS] if isinstance(value, list) else value


# --- NCCL's RAS subsystem ---------------------------------------------------------------------------------------------


def ras_status(ranks: dict[int, dict[str, str]]) -> str | None:
    """Return the state of the job's communicators as NCCL's RAS subsystem writes it; None if no rank answers.

    One process of each machine listens, and answers for the whole job. NCCL from 2.28.7 on writes JSON, from 2.24 on
    text; other versions have no RAS.

    Parameters
    ----------
    ranks
        The environments of the ranks by pid, where ``NCCL_RAS_ADDR`` names another address than port 28028.
    """
    commands = b"CLIENT PROTOCOL 2\nTIMEOUT 5\nSET FORMAT json\nVERBOSE STATUS\n"
    # The ranks of a machine or container share its network. Searching the sockets of each rank takes longer.
    ports = {port for pid in [*list(ranks)[:1], os.getpid()] for _address, port, _inode in _listening(pid)}
    for pid, variables in ranks.items():
        given = variables.get("NCCL_RAS_ADDR", "").rpartition(":")[2]
        port = int(given) if given.isdigit() else RAS_PORT
        for listener in listeners(pid) if port in ports else ():
            if listener.port == port:
                return exchange(listener, commands, LARGEST_RAS, RAS_SECONDS).decode(errors="replace") or None
    return None


def own_addresses() -> list[str]:
    """Return the IPv4 addresses of this machine or container, by which NCCL names it."""
    found, last = [], ""
    with contextlib.suppress(OSError), open(f"{PROC}/self/net/fib_trie") as file:
        for line in map(str.strip, file):
            if line.startswith("|--"):
                last = line[3:].strip()
            elif line == "/32 host LOCAL" and last not in found:
                found.append(last)
    return found[:64]
