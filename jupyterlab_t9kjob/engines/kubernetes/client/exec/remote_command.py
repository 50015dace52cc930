"""Commands in a container through the API server: output, input, terminal size and exit code.

`opened` gives a command whose input and output the caller drives, such as a terminal; `run` runs a command to its end.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import anyio

from .....core.engine.terminals import Output
from .....core.translation import _
from ..api import KubeApi
from ..errors import ApiError, BrokenOff, Unreachable
from .websocket import WebSocket

PROTOCOLS: Final = ("v5.channel.k8s.io", "v4.channel.k8s.io")
"""Subprotocols, the preferred one first. Only v5 (Kubernetes 1.29) can close the command's input."""
INPUT_CHUNK: Final = 32 * 1024
_STDIN, _STDOUT, _STDERR, _STATUS, _RESIZE, _CLOSE = 0, 1, 2, 3, 4, 255
_OUTPUTS: Final[dict[int, Literal["stdout", "stderr"]]] = {_STDOUT: "stdout", _STDERR: "stderr"}


class NotStarted(Exception):
    """The container could not start the command.

    Parameters
    ----------
    message
        The container runtime's own words.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Target:
    """A container of a pod."""

    namespace: str
    pod: str
    container: str

    @property
    def path(self) -> str:
        """Path of the requests that start commands in it."""
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}/exec"


class RemoteCommand:
    """A running command. One task calls `receive`; any task sends.

    Parameters
    ----------
    socket
        The WebSocket to the container.
    protocol
        The subprotocol that the API server chose.

    Attributes
    ----------
    exit_code
        The command's exit code after `receive` has returned None.
    can_close_input
        True if `close_input` has an effect.
    """

    def __init__(self, socket: WebSocket, protocol: str) -> None:
        self._socket = socket
        self.exit_code: int | None = None
        self.can_close_input = protocol == PROTOCOLS[0]

    async def receive(self) -> Output | None:
        """Return the next output; None after the command has ended.

        Raises
        ------
        NotStarted
            If the command could not be started.
        BrokenOff
            If the connection ended before the command did.
        """
        while True:
            message = await self._socket.receive()
            if message is None:
                if self.exit_code is None:
                    raise BrokenOff(_("The connection to the container ended before the command did."))
                return None
            if not message:
                continue
            channel, data = message[0], message[1:]
            if channel in _OUTPUTS and data:
                return Output(_OUTPUTS[channel], data)
            if channel == _STATUS and data:
                self.exit_code = exit_code_of(data)

    async def send(self, data: bytes) -> None:
        """Write to the command's input."""
        for at in range(0, len(data), INPUT_CHUNK):
            await self._socket.send(bytes([_STDIN]) + data[at : at + INPUT_CHUNK])

    async def close_input(self) -> None:
        """Close the command's input, so that it reads the end; only with `can_close_input`."""
        if self.can_close_input:
            await self._socket.send(bytes([_CLOSE, _STDIN]))

    async def resize(self, columns: int, rows: int) -> None:
        """Set the size of the command's terminal.

        Parameters
        ----------
        columns, rows
            Width and height in characters.

        Raises
        ------
        BrokenOff
            If the connection has ended.
        """
        size = json.dumps({"Width": columns, "Height": rows}).encode()
        await self._socket.send(bytes([_RESIZE]) + size)


@asynccontextmanager
async def opened(
    api: KubeApi, target: Target, command: Sequence[str], *, stdin: bool = False, tty: bool = False
) -> AsyncIterator[RemoteCommand]:
    """Start a command in a container; yield it. The connection is closed at the end, which ends a command with a tty.

    Parameters
    ----------
    api
        The cluster.
    target
        The container.
    command
        Program and arguments.
    stdin
        True to give the command an input.
    tty
        True to give the command a terminal.

    Raises
    ------
    ApiError
        If the API server refuses: no permission, no such pod, a container that does not run.
    Unreachable
        If the connection can't be made, for example because a proxy passes no WebSockets.
    """
    params = [
        *(("command", part) for part in command),
        ("container", target.container),
        ("stdout", "true"),
        ("stderr", "false" if tty else "true"),
        ("stdin", "true" if stdin else "false"),
        ("tty", "true" if tty else "false"),
    ]
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Protocol": ", ".join(PROTOCOLS),
    }
    async with api.upgraded(target.path, params, headers) as (stream, answer):
        host, protocol = api.connection.host, answer.get("Sec-WebSocket-Protocol", "")
        if protocol not in PROTOCOLS:
            raise Unreachable(_("{host} does not know the protocol for commands in containers.", host=host))
        socket = WebSocket(stream, host)
        try:
            yield RemoteCommand(socket, protocol)
        finally:
            # A connection that is stuck must not delay a cancellation.
            with anyio.move_on_after(1.0, shield=True):
                await socket.close()


@dataclass(frozen=True)
class Completed:
    """A command that has ended; `truncated` if it wrote more than was kept."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    truncated: bool = False


async def run(
    api: KubeApi,
    target: Target,
    command: Sequence[str],
    *,
    stdin: bytes | None = None,
    seconds: float,
    most_bytes: int = 8 * 1024 * 1024,
) -> Completed:
    """Run a command in a container to its end.

    Parameters
    ----------
    api, target, command
        See `opened`.
    stdin
        Bytes for the command's input; with the protocol v4 the command doesn't see the end of the input.
    seconds
        Time after which the command is given up.
    most_bytes
        Bytes of stdout, and of stderr, that are kept.

    Raises
    ------
    ApiError, Unreachable, NotStarted
        See `opened` and `RemoteCommand.receive`.
    TimeoutError
        If the command takes longer.
    """
    kept: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
    truncated = False
    with anyio.fail_after(seconds):
        async with opened(api, target, command, stdin=stdin is not None) as remote:
            sending = asyncio.create_task(_feed(remote, stdin))
            try:
                while (output := await remote.receive()) is not None:
                    room = most_bytes - len(kept[output.stream])
                    truncated = truncated or len(output.data) > room
                    kept[output.stream] += output.data[:room]
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
            assert remote.exit_code is not None  # noqa: S101
            return Completed(remote.exit_code, bytes(kept["stdout"]), bytes(kept["stderr"]), truncated)


async def _feed(remote: RemoteCommand, data: bytes | None) -> None:
    """Write the input; `receive` raises the error if the connection ends meanwhile."""
    if data is not None:
        await remote.send(data)
        await remote.close_input()


def exit_code_of(status: bytes) -> int:
    """Return the exit code that the last message of a command tells.

    Parameters
    ----------
    status
        A `Status` object as JSON.

    Raises
    ------
    NotStarted
        If the command did not run.
    ApiError
        If the message is no such object.
    """
    try:
        body: Any = json.loads(status)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ApiError(500, {"message": status[:1000].decode(errors="replace")})
    if body.get("status") == "Success":
        return 0
    details = body.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    for cause in causes if isinstance(causes, list) else []:
        if isinstance(cause, dict) and cause.get("reason") == "ExitCode":
            code = str(cause.get("message"))
            if code.isdecimal() and len(code) < 4:
                return int(code)
    raise NotStarted(str(body.get("message") or body.get("reason") or "")[:4096])
