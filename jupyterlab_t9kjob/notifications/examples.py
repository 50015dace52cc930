"""Examples of messages, for the page of the settings. The jobs in them are made up."""

from __future__ import annotations

from ..core.job import JobSummary, Link, Progress, Reason, Stall
from ..core.notices import NoticeKind
from ..core.spec import Device
from ..core.sweep import SweepMember
from ..core.translation import Text, _
from .messages import Message, message_of
from .model import WebhookRules
from .occasions import Occasion

_RAN_SECONDS = 41 * 60.0
_REASONS: dict[NoticeKind, Reason] = {
    "failed": Reason(
        code="OOMKilled",
        sentence=_(
            "Rank {rank} was killed: {replica} reached its memory limit of {limit}",
            rank=3,
            replica="worker-0",
            limit="128 GiB",
        ),
        hint=_("Ask for more memory."),
        links=[Link(kind="log", label=_("Show in log"), stream="worker-0.1.rank-3.err", offset=0)],
    ),
    "paused": Reason(code="Preempted", sentence=_("Its queue took it out for a more important job")),
    "waiting": Reason(code="WaitingForDevices", sentence=_("Waits for {count} GPUs", count=8)),
    "succeeded_late": Reason(
        code="Succeeded", sentence=_("Finished after {duration}", duration=Text.verbatim("41 min"))
    ),
    "succeeded_soon": Reason(
        code="Succeeded", sentence=_("Finished after {duration}", duration=Text.verbatim("4 min"))
    ),
}
_LINES = ["[rank3]: RuntimeError: DataLoader worker (pid 1207)", "  is killed by signal: Killed."]


def example(kind: NoticeKind, rules: WebhookRules, now: float) -> Message:
    """Return an example of a message.

    Parameters
    ----------
    kind
        Kind of the event.
    rules
        The user's choice of what a message contains.
    now
        The present time, in seconds since the epoch.
    """
    job = _job(kind, now)
    jobs = (job,) * 6 if kind == "sweep_ended" else ()
    message = message_of(Occasion(kind, f"example:{kind}", job, now, jobs), None, rules, now)
    if kind == "failed" and rules.lines:
        message.lines = list(_LINES)
    if rules.arguments:
        arguments = ["--lr", "0.001", "--data", "/data/mnist"]
        message.facts.append(_("Arguments: {arguments}", arguments=" ".join(arguments)))
        message.data["arguments"] = arguments
    return message


def _job(kind: NoticeKind, now: float) -> JobSummary:
    ended = kind not in ("no_progress", "paused", "waiting")
    phase = {"failed": "Failed", "no_progress": "Running", "paused": "Paused", "waiting": "Pending"}.get(
        kind, "Succeeded"
    )
    started = None if kind == "waiting" else now - _RAN_SECONDS
    metrics = {} if started is None else {"loss": 1.908}
    return JobSummary.model_validate(
        {
            "id": "t9k:demo:llama3-sft-2:example",
            "engine": "t9k",
            "namespace": "demo",
            "name": "llama3-sft-2",
            "uid": "example",
            "phase": phase,
            "reason": _REASONS.get(kind),
            "ended_by": "itself" if ended else None,
            "created_at": now - 2 * _RAN_SECONDS,
            "started_at": started,
            "ended_at": now if ended else None,
            "ran_seconds": _RAN_SECONDS if ended else 0,
            "devices": Device(name="nvidia.com/gpu", count=8),
            "progress": Progress(text=Text.verbatim(""), metrics=metrics, updated_at=now) if metrics else None,
            "stalled": Stall(kind="progress", since=now - 720) if kind == "no_progress" else None,
            "sweep": SweepMember(id="example", name="llama3-sft", number=1, at_a_time=2)
            if kind == "sweep_ended"
            else None,
        }
    )
