"""Handlers of the terminals in jobs: where they can be opened, and a WebSocket for each shell."""

from __future__ import annotations

import asyncio
import codecs
import json
from typing import TYPE_CHECKING, Any, Final

from jupyter_server._tz import utcnow

from ...core.errors import BadRequest, JobError
from ...core.translation import _
from ..base import ApiHandler, Socket, guarded, guarded_shell

if TYPE_CHECKING:
    from ...core.engine.terminals import Shell
    from ..terminal_messages import TerminalEnd

IN_FLIGHT: Final = 256 * 1024
"""Characters of output that are sent ahead of what the page has shown. A page that lags holds the shell up."""
INPUT_CHUNK: Final = 32 * 1024
LONGEST_NAME: Final = 253
MOST_UNREAD_INPUT: Final = 4 * 1024 * 1024
QUIET_SECONDS: Final = 0.5
"""Silence after which a shell that does not announce its prompt is taken to wait for input."""
_PROMPT: Final = b"\x1b[?2004h"
"""Bracketed paste, which bash and zsh turn on at each prompt."""


class TerminalsHandler(ApiHandler):
    """``jobs/{id}/terminals``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return where terminals can be opened in a job, or why not."""
        replica = self.get_query_argument("replica", None)
        if replica is not None and not 0 < len(replica) <= LONGEST_NAME:
            raise BadRequest(_("The parameter replica must name a replica."))
        services = await self.app.services()
        self.reply(await services.terminals.listed(ident, self.app.shell(), [] if replica is None else [replica]))


class TerminalHandler(Socket):
    """``jobs/{id}/terminal``: a shell that lives as long as the WebSocket."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._input = bytearray()
        self._size: tuple[int, int] | None = None
        self._given = asyncio.Event()
        self._unread = self._in_flight = self._outputs = 0
        self._shown = asyncio.Event()
        self._at_prompt = asyncio.Event()
        self._touched = self._acks = False

    @guarded_shell
    async def get(self, ident: str) -> None:
        """Open the WebSocket."""
        replica, rank, acks = (self.get_query_argument(name, None) for name in ("replica", "rank", "acks"))
        if replica is not None and not 0 < len(replica) <= LONGEST_NAME:
            raise BadRequest(_("The parameter replica must name a replica."))
        if rank is not None and not (replica and rank.isascii() and rank.isdigit() and len(rank) < 16):
            raise BadRequest(_("The parameter rank must be a whole number, and come with the replica."))
        self._acks = acks == "true"
        await self.connect(ident, replica, rank)

    def open(self, ident: str, replica: str | None, rank: str | None) -> None:
        """Start the shell.

        Parameters
        ----------
        ident
            Id of the job.
        replica
            Name of the replica; None for the first one that runs.
        rank
            Global rank as a text; None for the replica itself.
        """
        super().open()
        self.spawn(self._run(ident, replica, None if rank is None else int(rank)))

    async def _run(self, ident: str, replica: str | None, rank: int | None) -> None:
        """Run the shell to its end, and say why it ended."""
        from ...core.engine.terminals import TerminalPlace
        from ..terminal_messages import TerminalEnd

        place = None if replica is None else TerminalPlace(replica=replica, rank=rank)
        try:
            services = await self.app.services()
            async with services.terminals.opened(ident, place, self.app.shell()) as shell:
                await self.send('["setup",{}]')
                helpers = [self.spawn(self._write(shell))]
                if shell.typed:
                    helpers.append(self.spawn(self._type(shell.typed)))
                try:
                    await self._read(shell)
                finally:
                    for helper in helpers:
                        helper.cancel()
                    await asyncio.gather(*helpers, return_exceptions=True)
            end = TerminalEnd(code="Exited", message=_("The shell has ended."))
        except JobError as error:
            end = TerminalEnd(code=error.code, message=error.message, hint=error.hint, verbatim=error.verbatim)
        await self._finish(end)

    async def _finish(self, end: TerminalEnd) -> None:
        await self.send(f'["ended",{end.model_dump_json()}]')
        await self.send('["disconnect",1]')
        self.close(1000)

    # -- output -------------------------------------------------------------------------------------------------------

    async def _read(self, shell: Shell) -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while (output := await shell.read()) is not None:
            text = decode(output.data)
            if text:
                await self.send(json.dumps(["stdout", text]))
            self._outputs += 1
            if _PROMPT in output.data:
                self._at_prompt.set()
            if self._acks:
                self._in_flight += len(text)
                while self._in_flight >= IN_FLIGHT:
                    self._shown.clear()
                    await self._shown.wait()

    # -- input --------------------------------------------------------------------------------------------------------

    async def answer(self, message: str | bytes) -> None:
        """Take a message of the client; input waits for the shell, so that acknowledgements behind it are read."""
        from pydantic import ValidationError

        from ..terminal_messages import parsed_input

        try:
            parsed = parsed_input(message)
        except ValidationError:  # The protocol of JupyterLab's terminals has no message for errors.
            self.close(1007, "not a message of a terminal")
            return
        if parsed[0] == "ack":
            self._in_flight = max(0, self._in_flight - parsed[1])
            self._shown.set()
        elif parsed[0] == "set_size":
            rows, columns = parsed[1], parsed[2]
            if rows and columns:
                self._size = columns, rows
                self._given.set()
        elif parsed[1]:
            self._touched = True
            # Keys count as activity of the user, as in JupyterLab's own terminals.
            self.settings["terminal_last_activity"] = utcnow()
            self._put(parsed[1].encode())

    def _put(self, data: bytes) -> None:
        self._unread += len(data)
        if self._unread > MOST_UNREAD_INPUT:
            self.close(1009, "more input than the shell reads")
            return
        self._input += data
        self._given.set()

    async def _write(self, shell: Shell) -> None:
        """Give the shell its newest size and its input, as fast as it takes them."""
        while True:
            await self._given.wait()
            self._given.clear()
            if self._size is not None:
                size, self._size = self._size, None
                await shell.resize(*size)
            data = bytes(self._input[:INPUT_CHUNK])
            del self._input[:INPUT_CHUNK]
            if self._input:
                self._given.set()
            await shell.write(data)
            self._unread -= len(data)

    async def _type(self, command: str) -> None:
        """Type the job's command at the first prompt, unless the user was faster; the user runs it."""
        seen = -1
        while not self._at_prompt.is_set() and (seen != self._outputs or not self._outputs):
            seen = self._outputs
            try:
                await asyncio.wait_for(self._at_prompt.wait(), QUIET_SECONDS)
            except asyncio.TimeoutError:
                continue
        if not self._touched:
            self._put(command.encode())
