"""`NotificationService`: notices for open pages, messages for webhooks, and their settings."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

import anyio

from ..core.errors import Conflict, FieldError, JobError, NotFound
from ..core.job import Job, JobSummary
from ..core.notices import Notice
from ..core.system.disk_threads import DiskSilent, on_disk
from ..core.system.tasks import spawn
from ..core.translation import _
from ..jobs.service import JobService
from .examples import example
from .formats import SERVICE_NAMES, body_of
from .messages import notice_of, test_message
from .model import (
    Delivery,
    NoticePreview,
    Notifications,
    PreviewNotice,
    SetWebhook,
    Webhook,
    WebhookRules,
)
from .occasions import occasions_of, sweeps_that_ended
from .outbox import Outbox, Settings
from .store import NotificationStore, StoredWebhook
from .webhooks import Target, check_address, check_lab_address, send, targets_of

log = logging.getLogger(__name__)

POLL_SECONDS: Final = 15.0
"""Interval between checks of the waiting jobs."""
PAUSE_SECONDS: Final = 0.2


class NotificationService:
    """Notifies the user of the ends and delays of the user's own jobs.

    Parameters
    ----------
    jobs
        All jobs.
    publish
        Shows a notice in the open pages.
    home
        Directory of the extension's records.
    webhooks
        The administrator's webhooks, as the setting has them.
    group_seconds
        Time for which events are collected into one message.
    retry_seconds
        Pauses between the tries to send a message.
    """

    def __init__(
        self,
        jobs: JobService,
        publish: Callable[[Notice], None],
        home: Path,
        webhooks: object = None,
        *,
        group_seconds: float = 30.0,
        retry_seconds: Sequence[float] = (60.0, 540.0),
    ) -> None:
        self._service = jobs
        self._publish = publish
        self._begun = time.time()
        self._store = NotificationStore(home, self._begun)
        self._admin, self._problems = targets_of(webhooks)
        self._outbox = Outbox(
            self._store,
            self._read_job,
            self._settings,
            self._give_up,
            group_seconds=group_seconds,
            retry_seconds=retry_seconds,
        )
        self._rules = WebhookRules()
        self._own: StoredWebhook | None = None
        self._jobs: dict[str, JobSummary] = {}
        self._known: set[str] = set()
        self._old: set[str] = set()
        self._testing = asyncio.Lock()
        self._changed = asyncio.Event()
        self._end: Callable[[], None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read the settings, and begin to follow the jobs."""
        for problem in self._problems:
            log.error("jupyterlab_t9kjob: %s", problem)
        await self._reload()
        self._end = self._service.listen(self._note)
        for job in await self._service.jobs():
            self._note(job.id, job)
        await self._outbox.start()
        self._task = spawn(self._run(), "notify of jobs")

    async def stop(self) -> None:
        """Stop; messages that were not sent yet are sent by the next server."""
        if self._end is not None:
            self._end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._outbox.stop()

    # -- settings -----------------------------------------------------------------------------------------------------

    async def state(self) -> Notifications:
        """Return the settings, without secrets."""
        await self._reload()
        last = await self._outbox.last()
        webhooks = [_view(target, last.get(target.id)) for target in self._all_targets()]
        return Notifications(rules=self._rules, webhooks=webhooks, problems=self._problems)

    async def save_rules(self, rules: WebhookRules) -> Notifications:
        """Replace the rules."""
        check_lab_address(rules.lab_address)
        await on_disk(self._store.folder, lambda: self._store.save_rules(rules))
        self._changed.set()
        return await self.state()

    async def set_webhook(self, request: SetWebhook) -> Notifications:
        """Set or change the user's own webhook.

        Raises
        ------
        FieldError
            If the address is missing or not valid.
        """
        await self._reload()
        old = self._own
        if request.address is not None:
            address = check_address(request.address)
        elif old is not None and old.service == request.service:
            address = old.address
        else:
            raise FieldError(_("Enter the address of the webhook."), field="/address")
        key = (
            request.key if request.key is not None else (old.key if old is not None and old.address == address else "")
        )
        since = old.since if old is not None and old.address == address else time.time()
        webhook = StoredWebhook(
            service=request.service, address=address, key=key, keyword=request.keyword.strip(), since=since
        )
        await on_disk(self._store.folder, lambda: self._store.save_webhook(webhook))
        self._changed.set()
        return await self.state()

    async def delete_webhook(self) -> None:
        """Delete the user's own webhook."""
        await on_disk(self._store.folder, self._store.delete_webhook)
        await self._reload()

    async def test(self, ident: str) -> Delivery:
        """Send a test message, and return the answer.

        Raises
        ------
        NotFound
            If there is no such webhook.
        """
        await self._reload()
        target = next((target for target in self._all_targets() if target.id == ident), None)
        if target is None:
            raise NotFound(_("There is no such webhook."))
        if self._testing.locked():
            raise Conflict(_("A test message is being sent."))
        async with self._testing:
            message = test_message(time.time(), uuid4().hex[:16], self._rules.lab_address)
            return (await send(target, message)).delivery

    def preview(self, request: PreviewNotice) -> NoticePreview:
        """Return an example of a message."""
        message = example(request.kind, request.rules, time.time())
        body = body_of(message, request.service, keyword=request.keyword)
        return NoticePreview(
            title=message.title,
            text=message.text,
            facts=message.facts,
            lines=message.lines,
            mention=message.mention,
            links=[label for label, _address in message.links],
            body=body,
            size=len(json.dumps(body).encode()),
        )

    # -- events -------------------------------------------------------------------------------------------------------

    def _note(self, ident: str, job: JobSummary | None) -> None:
        # An imported job ended elsewhere, and its time may be any.
        if job is None or not job.mine or job.deleted or not self._service.engines.facts(job.engine).creates_jobs:
            gone = self._jobs.pop(ident, None)
            if gone is not None:
                self._known = {key for key in self._known if not key.startswith(gone.uid)}
                self._old = {key for key in self._old if not key.startswith(gone.uid)}
            return
        if ident not in self._jobs:
            # A state without a time may be old, because this server did not observe its beginning.
            now = time.time()
            self._old |= {each.key for each in occasions_of(job, self._rules, now) if each.time is None}
        self._jobs[ident] = job
        self._changed.set()

    async def _run(self) -> None:
        while True:
            try:
                await self._reload()
                self._look_through()
            except Exception:  # A job with unexpected data must not end all notices.
                log.exception("Jobs could not be looked through for notices")
            # `asyncio.wait_for` may swallow a cancellation before Python 3.12.
            with anyio.move_on_after(POLL_SECONDS):
                await self._changed.wait()
            await asyncio.sleep(PAUSE_SECONDS)
            self._changed.clear()

    def _look_through(self) -> None:
        now = time.time()
        jobs = list(self._jobs.values())
        found = [each for job in jobs for each in occasions_of(job, self._rules, now)]
        found += sweeps_that_ended(jobs)
        news = {each.key: each for each in found if each.key not in self._old}
        for key, occasion in news.items():
            if key not in self._known:
                self._known.add(key)
                if occasion.time is None or occasion.time >= self._begun:
                    self._publish(notice_of(occasion, now))
        self._outbox.post(news)

    def _give_up(self, target: Target, delivery: Delivery) -> None:
        name = target.name or SERVICE_NAMES[target.service]
        title = _("A message to {service} could not be delivered", service=name)
        self._publish(
            Notice(id=uuid4().hex[:16], kind="undelivered", time=time.time(), title=title, text=delivery.sentence)
        )

    # -- webhooks -----------------------------------------------------------------------------------------------------

    def _all_targets(self) -> list[Target]:
        return [*self._admin, *([self._own.target] if self._own is not None else [])]

    async def _settings(self) -> Settings:
        await self._reload()
        own = [(self._own.target, self._own.since)] if self._own is not None else []
        return self._rules, [*((target, 0.0) for target in self._admin), *own]

    async def _reload(self) -> None:
        """Take over what this or another server of the home has set; the settings stay while the disk is silent."""
        with contextlib.suppress(DiskSilent):
            self._rules, self._own = await on_disk(self._store.folder, self._store.settings)

    async def _read_job(self, ident: str) -> Job | None:
        try:
            return await self._service.job(ident)
        except JobError:
            return None


def _view(target: Target, last: Delivery | None) -> Webhook:
    return Webhook(
        id=target.id,
        service=target.service,
        name=target.name,
        ends_with=target.ends_with,
        host=target.host,
        has_key=bool(target.key),
        keyword=target.keyword,
        locked=target.locked,
        last=last,
    )
