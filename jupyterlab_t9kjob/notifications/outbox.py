"""Delivers messages to webhooks, each at least once, from one of the servers that share a home."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import anyio

from ..core.job import Job
from ..core.system.disk_threads import on_disk
from ..core.system.tasks import spawn
from ..logs.storage.lease import BEAT_SECONDS, Lease
from .messages import Message, message_of, together
from .model import Delivery, WebhookRules
from .occasions import Occasion
from .store import Entry, Ledger, NotificationStore
from .webhooks import Target, send

log = logging.getLogger(__name__)

SENT_SECONDS = 24 * 3600.0
"""Events that are older than this are not sent."""
MOST_TOGETHER = 20
"""Events in one message; the others follow in the next one."""

ReadJob = Callable[[str], Awaitable["Job | None"]]
Settings = tuple[WebhookRules, list[tuple[Target, float]]]
"""The user's rules, and the webhooks with the time since which each is set."""


class Outbox:
    """Sends each event to each webhook, and remembers in the ledger that it was sent.

    The ledger is written after a message was accepted. A server that is killed in between sends the message again, with
    the same id. The server that holds the lease of the folder sends; another one takes over if that server ends.

    Parameters
    ----------
    store
        The files.
    read_job
        Returns a job in full by its id; None if it can't be read.
    settings
        Returns the present settings, which another server of the home may have changed.
    given_up
        Called with a webhook and the result of the last try when a message could not be delivered.
    group_seconds
        Time for which events are collected into one message.
    retry_seconds
        Pauses between the tries to send a message; after one more failure it is given up.
    """

    def __init__(
        self,
        store: NotificationStore,
        read_job: ReadJob,
        settings: Callable[[], Awaitable[Settings]],
        given_up: Callable[[Target, Delivery], None],
        *,
        group_seconds: float,
        retry_seconds: Sequence[float],
    ) -> None:
        self._store = store
        self._read_job = read_job
        self._settings = settings
        self._given_up = given_up
        self._group_seconds = group_seconds
        self._retry_seconds = list(retry_seconds)
        self._occasions: Mapping[str, Occasion] = {}
        self._lease: Lease | None = None
        self._ledger: Ledger | None = None
        self._last: Mapping[str, Delivery] = {}
        self._trouble: str | None = None
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to send."""
        self._task = spawn(self._run(), "send messages to webhooks")

    async def stop(self) -> None:
        """Stop sending; another server, or the next one of this home, continues."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._lease is not None:
            await on_disk(self._store.folder, self._lease.release)

    def post(self, occasions: Mapping[str, Occasion]) -> None:
        """Set the events that hold now, by key."""
        self._occasions = occasions
        self._changed.set()

    async def last(self) -> Mapping[str, Delivery]:
        """Return the last message of each webhook, by the webhook's id."""
        if self._ledger is not None:
            return self._last
        return (await on_disk(self._store.folder, self._store.ledger)).last

    async def _run(self) -> None:
        while True:
            wait = BEAT_SECONDS
            try:
                wait = await self._advance()
            except OSError as error:  # A full or read-only disk; the next try is after a pause.
                self._note_trouble(error)
            except Exception:  # A job with unexpected data must not end all messages.
                log.exception("Messages to webhooks could not be sent")
            with anyio.move_on_after(wait):
                await self._changed.wait()
            self._changed.clear()

    def _note_trouble(self, error: OSError) -> None:
        """Log an error of the disk, unless it is the same as the last one."""
        words = error.strerror or str(error)
        if words != self._trouble:
            self._trouble = words
            log.warning("Messages to webhooks wait: the folder %s can't be used: %s", self._store.folder, words)

    async def _advance(self) -> float:
        """Send what is due, and return the seconds until the next message is due."""
        settings = await self._settings()
        if not settings[1]:
            return 3600.0
        if not await self._hold():
            return BEAT_SECONDS
        if self._ledger is None:
            self._ledger = await on_disk(self._store.folder, self._store.ledger)
            await self._save(self._ledger)
        wait = BEAT_SECONDS
        for target, since in settings[1]:
            wait = min(wait, await self._serve(self._ledger, settings, target, since))
        return max(wait, 0.05)

    async def _hold(self) -> bool:
        await on_disk(self._store.folder, self._store.make_folder)
        if self._lease is None:
            self._lease = Lease(self._store.folder / "lease")
        held = await self._lease.hold()
        if not held:
            self._ledger = None  # The server with the lease writes the ledger.
        return held

    async def _serve(self, ledger: Ledger, settings: Settings, target: Target, since: float) -> float:
        """Send what is due for one webhook, and return the seconds until its next message is due."""
        now, rules = time.time(), settings[0]
        entries = ledger.entries.setdefault(target.id, {})
        if self._add(entries, rules, max(since, ledger.begun, now - SENT_SECONDS), now):
            await self._save(ledger)
        due = [key for key, entry in entries.items() if entry.state == "open" and entry.next_try <= now][:MOST_TOGETHER]
        found = [await self._message(key, entries[key], rules, now) for key in due]
        messages = [message for message in found if message is not None]
        if messages:
            if await self._settings() != settings:  # They were changed while the jobs were read.
                return 0.0
            await self._deliver(ledger, target, [entries[key] for key in due], together(messages))
        ledger.forget_old(now, self._occasions)
        open_entries = [entry.next_try for entry in entries.values() if entry.state == "open"]
        return min(open_entries, default=now + BEAT_SECONDS) - now

    def _add(self, entries: dict[str, Entry], rules: WebhookRules, since: float, now: float) -> bool:
        """Add the new events, and return True if there were any. Events of other kinds are not sent later."""
        added = False
        for key, occasion in self._occasions.items():
            when = occasion.time if occasion.time is not None else now
            if key in entries or when < since:
                continue
            wanted = occasion.kind in rules.kinds
            entries[key] = Entry(time=now, state="open" if wanted else "skipped", next_try=now + self._group_seconds)
            added = True
        return added

    async def _message(self, key: str, entry: Entry, rules: WebhookRules, now: float) -> Message | None:
        occasion = self._occasions.get(key)
        if occasion is None:  # The job was removed, or it has started meanwhile.
            entry.state = "skipped"
            return None
        needed = occasion.kind == "failed" or rules.arguments
        job = await self._read_job(occasion.job.id) if needed else None
        return message_of(occasion, job, rules, now)

    async def _deliver(self, ledger: Ledger, target: Target, entries: Sequence[Entry], message: Message) -> None:
        outcome = await send(target, message)
        now = time.time()
        ledger.last[target.id] = outcome.delivery
        for entry in entries:
            entry.tries += 1
            if outcome.delivery.ok:
                entry.state = "sent"
            elif outcome.retry and entry.tries <= len(self._retry_seconds):
                entry.next_try = now + self._retry_seconds[entry.tries - 1]
            else:
                entry.state = "failed"
        if any(entry.state == "failed" for entry in entries):
            log.warning("A message to webhook %s was not delivered: %s", target.id, outcome.delivery.sentence)
            self._given_up(target, outcome.delivery)
        await self._save(ledger)

    async def _save(self, ledger: Ledger) -> None:
        try:
            await on_disk(self._store.folder, partial(self._store.save_ledger, ledger))
        except OSError as error:  # The events stay in memory; after a restart they may be sent again.
            log.warning("The ledger of messages could not be written: %s", error)
        self._last = dict(ledger.last)
