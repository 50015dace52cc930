"""The content of a message: what happened to a job, why, and its facts. `formats` writes it for each service."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from ..core.job import Job, JobSummary, Reason
from ..core.notices import Notice, NoticeKind
from ..core.texts.command_lines import quoted
from ..core.texts.wording import duration, without_progress
from ..core.translation import Text, _, _n
from .model import WebhookRules
from .occasions import Occasion

MOST_LINES = 5
MOST_TEXT = 2000
MOST_METRICS = 3


@dataclass
class Message:
    """A message about one event, or about several that happened together.

    Attributes
    ----------
    id
        Id of the event.
    kind
        Kind of the event; None for a test.
    time
        Time of the event, in seconds since the epoch.
    title, text
        What happened, and why.
    facts
        Facts of the job: accelerators, engine, metrics, GPU-hours.
    lines
        The last lines of the log before a failure.
    mention
        The user to mention; empty for nobody.
    links
        Labels and addresses.
    data
        The facts for programs, for the service `json`.
    others
        Titles of further events.
    """

    id: str
    kind: NoticeKind | None
    time: float
    title: Text
    text: Text | None = None
    facts: list[Text] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    mention: str = ""
    links: list[tuple[Text, str]] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    others: list[Message] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        """True if the user should act."""
        return self.kind in ("failed", "no_progress")


def notice_of(occasion: Occasion, now: float) -> Notice:
    """Return the notice that open pages show.

    Parameters
    ----------
    occasion
        The event.
    now
        The present time, in seconds since the epoch.
    """
    time = occasion.time if occasion.time is not None else now
    title, text = title_of(occasion), text_of(occasion, now)
    return Notice(id=occasion.ident, kind=occasion.kind, job=occasion.job.id, time=time, title=title, text=text)


def message_of(occasion: Occasion, job: Job | None, rules: WebhookRules, now: float) -> Message:
    """Return the message for a webhook.

    Parameters
    ----------
    occasion
        The event.
    job
        The job in full; None if it can't be read, or is not needed.
    rules
        The user's choice of what a message contains.
    now
        The present time, in seconds since the epoch.
    """
    row = occasion.job
    message = Message(
        id=occasion.ident,
        kind=occasion.kind,
        time=occasion.time if occasion.time is not None else now,
        title=title_of(occasion),
        text=text_of(occasion, now),
        facts=facts_of(row),
        data=data_of(occasion),
    )
    if message.is_bad:
        message.mention = rules.mention
    if occasion.kind == "failed" and rules.lines and job is not None:
        message.lines = last_lines(job)
    if rules.arguments and job is not None and job.spec.args:
        message.facts.append(_("Arguments: {arguments}", arguments=quoted(job.spec.args)[:MOST_TEXT]))
        message.data["arguments"] = list(job.spec.args)
    if rules.lab_address:
        message.links = links_of(row, rules.lab_address)
    return message


def test_message(time: float, ident: str, lab_address: str = "") -> Message:
    """Return a message that says that it is a test.

    Parameters
    ----------
    time
        The present time, in seconds since the epoch.
    ident
        Id of the message.
    lab_address
        Address of the lab, for the link; blank for none.
    """
    title = _("Test message of Distributed Jobs")
    text = _("Messages about your jobs will arrive here.")
    message = Message(id=ident, kind=None, time=time, title=title, text=text, data={"test": True})
    if lab_address:
        message.links = [(_("Open the lab"), lab_address)]
    return message


def together(messages: Sequence[Message]) -> Message:
    """Return one message about several events; the first failure leads."""
    first = min(messages, key=lambda message: (not message.is_bad, message.time))
    first.others = [message for message in messages if message is not first]
    return first


def title_of(occasion: Occasion) -> Text:
    """Return what happened, with the name of the job or sweep."""
    job = occasion.job
    name = job.display_name if job.display_name else job.name
    shown = job.name if name == job.name else f"{name} ({job.name})"
    match occasion.kind:
        case "failed":
            return _("{job} failed", job=shown)
        case "no_progress":
            return _("{job} makes no progress", job=shown)
        case "paused":
            return _("{job} was paused by the platform", job=shown)
        case "waiting":
            return _("{job} is still waiting", job=shown)
        case "sweep_ended":
            sweep = job.sweep.name if job.sweep is not None else job.name
            failed = _failed(occasion)
            if failed:
                return _(
                    "Sweep {sweep} has ended: {failed} of {count} jobs failed",
                    sweep=sweep,
                    failed=failed,
                    count=len(occasion.jobs),
                )
            return _n(
                "Sweep {sweep} has ended: {n} job", "Sweep {sweep} has ended: {n} jobs", len(occasion.jobs), sweep=sweep
            )
    return _("{job} succeeded", job=shown)


def _failed(occasion: Occasion) -> int:
    """Return the number of an event's jobs that failed; stopped jobs are not among them."""
    return sum(each.state == "Failed" for each in occasion.jobs)


def text_of(occasion: Occasion, now: float) -> Text | None:
    """Return the cause of the event and the next step; None if nothing is known.

    Parameters
    ----------
    occasion
        The event.
    now
        The present time, in seconds since the epoch.
    """
    reason, stalled = occasion.job.reason, occasion.job.stalled
    if stalled is not None:
        return without_progress(stalled, now)
    if reason is None or occasion.kind == "sweep_ended":
        return None
    return with_hint(reason)


def with_hint(reason: Reason) -> Text:
    """Return the sentence of a reason, with its hint if it has one."""
    if reason.hint is None:
        return reason.sentence
    ends = str(reason.sentence).endswith((".", "!", "?", "…"))
    form = _("{sentence} {hint}", sentence=reason.sentence, hint=reason.hint)
    return form if ends else _("{sentence}. {hint}", sentence=reason.sentence, hint=reason.hint)


def facts_of(job: JobSummary) -> list[Text]:
    """Return facts of a job: accelerators and place, duration, metrics, GPU-hours."""
    facts = []
    if job.devices is not None and job.devices.count:
        facts.append(_n("{n} GPU", "{n} GPUs", job.devices.count))
    if job.namespace:
        facts.append(_("{engine}, namespace {namespace}", engine=job.engine, namespace=job.namespace))
    if job.started_at is not None and job.ended_at is not None:
        facts.append(_("ran for {duration}", duration=duration(job.ended_at - job.started_at)))
    metrics = job.progress.metrics if job.progress is not None else {}
    for name, value in list(metrics.items())[:MOST_METRICS]:
        facts.append(Text.verbatim(f"{name[:80]} {value:.4g}"))
    if used := job.gpu_hours_until(time.time()):
        facts.append(_("{hours} GPU-hours", hours=f"{used:.1f}"))
    return facts


def data_of(occasion: Occasion) -> dict[str, Any]:
    """Return the facts of an event for programs."""
    job = occasion.job
    data: dict[str, Any] = {
        "job": {
            "id": job.id,
            "name": job.name,
            "engine": job.engine,
            "namespace": job.namespace,
            "phase": job.phase,
            "owner": job.owner,
            "created_at": job.created_at,
            "started_at": job.started_at,
            "ended_at": job.ended_at,
            "duration_seconds": job.ended_at - job.started_at if job.started_at and job.ended_at else None,
            "gpus": job.devices.count if job.devices is not None else 0,
            "gpu_hours": job.gpu_hours_until(occasion.time or time.time()),
            "metrics": dict(job.progress.metrics) if job.progress is not None else {},
        },
        "stalled_since": job.stalled.since if job.stalled is not None else None,
        "reason": {"code": job.reason.code, "sentence": str(job.reason.sentence)} if job.reason is not None else None,
    }
    if occasion.kind == "sweep_ended" and job.sweep is not None:
        data["sweep"] = {
            "id": job.sweep.id,
            "name": job.sweep.name,
            "jobs": len(occasion.jobs),
            "failed": _failed(occasion),
        }
    return data


def last_lines(job: Job) -> list[str]:
    """Return the last lines of the log before a failure, or the error alone."""
    failure = job.failure
    if failure is None:
        return []
    if failure.last_output is not None and failure.last_output.lines:
        return [line[:300] for line in failure.last_output.lines[-MOST_LINES:]]
    return [failure.error[:300]] if failure.error else []


def links_of(job: JobSummary, lab: str) -> list[tuple[Text, str]]:
    """Return links that open the job in the lab.

    Parameters
    ----------
    job
        The job.
    lab
        Address of the lab.
    """
    address = f"{lab.rstrip('/')}/lab?t9kjob-job={quote(job.id, safe='')}"
    links = [(_("Open the job"), address)]
    link = next((link for link in (job.reason.links if job.reason else []) if link.kind == "log"), None)
    if link is not None and link.stream is not None and link.offset is not None:
        links.append(
            (_("Open log at the error"), f"{address}&stream={quote(link.stream, safe='')}&offset={link.offset}")
        )
    return links
