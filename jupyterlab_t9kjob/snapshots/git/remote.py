"""Asks git repositories elsewhere for their branches and tags, with a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import time
from dataclasses import dataclass, field
from typing import Final

from ...core.code.git_address import is_commit, protocol_of, short_name
from ...core.code.git_errors import MOST_WORDS, git_code, git_texts
from ...core.errors import FieldError, Unavailable
from ...core.system import git_program
from ...core.translation import _, listing

ADDRESS: Final = "/spec/source/address"
REF: Final = "/spec/source/ref"
MOST_SECONDS: Final = 20.0
FRESH_SECONDS: Final = 60.0
"""Time for which an answer is used for previews."""
MOST_ANSWER: Final = 16 * 1024 * 1024
"""Largest list of branches and tags in bytes."""
MOST_MEMORY: Final = 512 * 1024 * 1024
"""Memory of each process of git in bytes: git holds the whole list, also the part that it does not print."""
_BOUNDED: Final = ("/bin/sh", "-c", 'ulimit -d "$0"; exec "$@"')
"""Limits data and not address space, of which credential helpers reserve much more than they use."""
_OUT_OF_MEMORY: Final = re.compile(r"out of memory|cannot allocate memory", re.IGNORECASE)
_MOST_MESSAGES: Final = 64 * 1024
_MOST_CACHED: Final = 100
_UNREACHED: Final = frozenset({"HostUnreachable", "CloneTimedOut"})


@dataclass(frozen=True)
class Remote:
    """Branches and tags of a repository.

    Attributes
    ----------
    head
        Commit of the default branch; None in an empty repository.
    default
        Name of the default branch; None if it is not known.
    branches, tags
        Commits by name.
    """

    head: str | None = None
    default: str | None = None
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, ref: str) -> str | None:
        """Return the commit of a branch, tag, or full id; None if there is none. An id is not looked up."""
        if not ref:
            return self.head
        name = ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
        return self.branches.get(name) or self.tags.get(name) or (ref if is_commit(ref) else None)


class Remotes:
    """Asks repositories, and keeps the answers for a while.

    Parameters
    ----------
    protocols
        Protocols that the administrator allows.
    """

    def __init__(self, protocols: list[str]) -> None:
        self._protocols = protocols
        self._known: dict[str, tuple[float, Remote]] = {}

    def demand_protocol(self, address: str) -> None:
        """Raise `FieldError` unless the protocol of an address is allowed."""
        if protocol_of(address) not in self._protocols:
            message = _("Repositories can't be read by {protocol} here.", protocol=protocol_of(address))
            hint = _("Allowed: {protocols}.", protocols=listing(self._protocols))
            raise FieldError(message, code="ProtocolRefused", field=ADDRESS, hint=hint)

    def known(self, address: str) -> Remote | None:
        """Return the last answer of a repository; None if there is none, or it is too old."""
        at, remote = self._known.get(address, (0.0, None))
        return remote if time.monotonic() - at < FRESH_SECONDS else None

    async def ask(self, address: str) -> Remote:
        """Return the branches and tags of a repository.

        Raises
        ------
        FieldError
            If the repository does not exist, needs other credentials, or its protocol is not allowed.
        Unavailable
            If its host can't be reached or does not answer in time.
        """
        self.demand_protocol(address)
        try:
            remote = await asyncio.wait_for(self._read(address), MOST_SECONDS)
        except asyncio.TimeoutError:
            raise _problem("CloneTimedOut", address, "") from None
        while len(self._known) >= _MOST_CACHED:
            self._known.pop(next(iter(self._known)))
        self._known[address] = (time.monotonic(), remote)
        return remote

    async def _read(self, address: str) -> Remote:
        head = await self._list(address, "--symref")
        return _remote(head, await self._list(address, "--heads", "--tags"))

    async def _list(self, address: str, *options: str) -> str:
        patterns = ("HEAD",) if "--symref" in options else ()
        try:
            process = await asyncio.create_subprocess_exec(
                *_BOUNDED, str(MOST_MEMORY // 1024),
                "git", *git_program.OPTIONS, "ls-remote", "--quiet", *options, "--", address, *patterns,
                cwd="/",  # Outside any repository, so that no repository's configuration counts.
                env=git_program.environment([protocol_of(address)]),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # Without a terminal, ssh can't ask for a password.
            )  # fmt: skip
        except OSError as error:
            raise _problem("GitMissing", address, error.strerror or "") from error
        try:
            answer, words = await _output(process)
        except OverflowError:
            raise _too_many(address) from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            text = words.decode("utf-8", "replace").strip()[-MOST_WORDS:]
            if _OUT_OF_MEMORY.search(text):
                raise _too_many(address)
            raise _problem(git_code(text), address, text)
        return answer.decode("utf-8", "replace")


async def _output(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    """Return the output of a process and the last part of its messages, after its end.

    Raises
    ------
    OverflowError
        If the output is larger than `MOST_ANSWER`.
    """
    assert process.stdout is not None and process.stderr is not None  # noqa: S101
    messages = asyncio.create_task(_last_part(process.stderr))
    answer = bytearray()
    try:
        while part := await process.stdout.read(65536):
            answer += part
            if len(answer) > MOST_ANSWER:
                raise OverflowError
        words = await messages
        await process.wait()
    finally:
        messages.cancel()
    return bytes(answer), words


async def _last_part(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while part := await stream.read(65536):
        kept = (kept + part)[-_MOST_MESSAGES:]
    return kept


def _remote(head: str, refs: str) -> Remote:
    default, commit = None, None
    for line in head.splitlines():
        value, _tab, name = line.partition("\t")
        if value.startswith("ref: refs/heads/") and name == "HEAD":
            default = value.removeprefix("ref: refs/heads/")
        elif name == "HEAD" and is_commit(value):
            commit = value
    branches: dict[str, str] = {}
    tags: dict[str, str] = {}
    for line in refs.splitlines():
        value, _tab, name = line.partition("\t")
        if not is_commit(value):
            continue
        if name.startswith("refs/heads/"):
            branches[name.removeprefix("refs/heads/")] = value
        elif name.startswith("refs/tags/"):  # The line of a tag's commit follows that of the tag.
            tags[name.removeprefix("refs/tags/").removesuffix("^{}")] = value
    return Remote(commit, default, branches, tags)


def _problem(code: str, address: str, words: str) -> FieldError | Unavailable:
    problem, hint = git_texts(code, address, "")
    sentence = _("{problem}.", problem=problem)
    if code in _UNREACHED:
        return Unavailable(sentence, code=code, field=ADDRESS, hint=hint, verbatim=words or None)
    return FieldError(sentence, code=code, field=ADDRESS, hint=hint, verbatim=words or None)


def _too_many(address: str) -> FieldError:
    message = _("The repository {name} has too many branches and tags.", name=short_name(address))
    hint = _("Use another repository, or a snapshot of your files.")
    return FieldError(message, code="TooManyRefs", field=ADDRESS, hint=hint)
