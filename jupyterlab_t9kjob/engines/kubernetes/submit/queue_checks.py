"""Checks of a job against its queue, made before the job is submitted.

A queue may be created, opened or enlarged while the job waits in it, so nearly all of these checks are warnings. T9k's
scheduler refuses jobs that name a closed queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....core.capacity import Queue, QueueList, QuotaLine
from ....core.checks import Check
from ....core.manifests.kinds.pytorchjob import GANG_SCHEDULERS
from ....core.manifests.names import KUEUE
from ....core.spec import JobSpec
from ....core.texts.wording import duration
from ....core.translation import Text, _, _n, listing, sentences
from ..client.api import Json
from ..objects.resources import exact, is_accelerator, quantity, said, together
from ..objects.text import named
from .replica_groups import groups_of

_FIELD: Final = "/spec/scheduling/queue"
_MOST_NAMED: Final = 3
"""Number of queues that a hint lists."""


def checks(spec: JobSpec, manifest: Json, group: str, known: QueueList | None, namespace: str) -> list[Check]:
    """Check a job against the queue that it names.

    Parameters
    ----------
    spec
        The job's specification.
    manifest
        The job's object.
    group
        API group of the queues that the job's kind uses; see `discovery.QUEUEING`.
    known
        Queues of the namespace; None if the cluster has no such queues.
    namespace
        The job's namespace.
    """
    if spec.scheduling.queue is None or (group == KUEUE and spec.scheduling.scheduler in GANG_SCHEDULERS):
        return []  # A gang scheduler has queues of its own.
    name = named(spec.scheduling.queue)
    if known is None:
        return [_no_kueue(name)] if group == KUEUE else []
    found = [] if group != KUEUE or not spec.paused else [_starts_paused_job(name)]
    if known.limited is not None:
        return found
    queue = next((one for one in known.queues if one.name == spec.scheduling.queue), None)
    if queue is None:
        return [*found, _missing(name, known, group, namespace)]
    if not queue.open and group != KUEUE:
        return [_closed(name)]
    if queue.reason is not None:
        return [*found, _not_open(name, queue.reason, group)]
    return [*found, *_quota(spec, manifest, group, queue), *_duration(spec, queue)]


def _no_kueue(name: str) -> Check:
    message = _("This cluster has no Kueue, so the queue {queue} has no effect: the job starts at once.", queue=name)
    return Check(level="hint", code="NoKueue", message=message, field=_FIELD)


def _missing(name: str, known: QueueList, group: str, namespace: str) -> Check:
    others = [named(queue.name) for queue in known.queues if queue.open and queue.reason is None]
    if group == KUEUE:
        message = _("There is no queue {queue} in namespace {namespace}.", queue=name, namespace=namespace)
        hint = _("The job will wait until somebody creates it.")
    else:
        message = _("There is no queue {queue} of T9k's scheduler.", queue=name)
        hint = _("The cluster will not place the job.")
    if others:
        names = listing(others, _MOST_NAMED)
        there = _n("Available queue: {queues}.", "Available queues: {queues}.", len(others), queues=names)
        hint = sentences(hint, there) or hint
    return Check(level="warning", code="NoSuchQueue", message=message, hint=hint, field=_FIELD)


def _closed(name: str) -> Check:
    return Check(
        level="error",
        code="QueueClosed",
        message=_("The queue {queue} is closed: it takes no new jobs.", queue=name),
        hint=_("Choose another queue, or ask whoever runs this one."),
        field=_FIELD,
    )


def _not_open(name: str, reason: Text, group: str) -> Check:
    if group == KUEUE:
        hint = _("The job will wait until that changes. Choose another queue, or ask whoever runs this one.")
    else:
        hint = _("The cluster may refuse the job. Choose another queue, or ask whoever runs this one.")
    message = sentences(_("The queue {queue} may not take the job.", queue=name), reason)
    return Check(level="warning", code="QueueNotOpen", message=message or reason, hint=hint, field=_FIELD)


def _starts_paused_job(name: str) -> Check:
    return Check(
        level="warning",
        code="KueueStartsIt",
        message=_(
            "Kueue starts the jobs of a queue as soon as there is room, so the job will not stay paused in {queue}.",
            queue=name,
        ),
        hint=_("Pause the job after you submit it, or submit it later."),
        field="/spec/paused",
    )


def _quota(spec: JobSpec, manifest: Json, group: str, queue: Queue) -> Iterator[Check]:
    """Compare what the whole job asks for with the quota of its queue; yield the most serious finding."""
    groups = groups_of(manifest, spec.elastic.min if spec.elastic is not None else None)
    asked = together({name: each * one.replicas for name, each in one.asked.items()} for one in groups)
    lines = {line.resource: line for line in queue.quota}
    none = [resource for resource in asked if lines and resource not in lines and is_accelerator(resource)]
    over = [line for line in lines.values() if asked.get(line.resource, 0.0) > line.hard]
    if group == KUEUE and none:
        yield _without(queue, none[0])
    elif over and not queue.borrows:
        yield _above(queue, over[0], asked[over[0].resource], group)
    elif not spec.paused:
        full = [line for line in lines.values() if asked.get(line.resource, 0.0) > _free(line)]
        if full:
            yield _full(queue, full[0], asked[full[0].resource], group)


def _without(queue: Queue, resource: str) -> Check:
    return Check(
        level="warning",
        code="AboveQueueQuota",
        message=_("The queue {queue} has no {resource}.", queue=named(queue.name), resource=named(resource)),
        hint=_("The job will wait until the queue has some. Choose another queue, or ask whoever runs this one."),
        field=_FIELD,
    )


def _above(queue: Queue, line: QuotaLine, asked: float, group: str) -> Check:
    if group == KUEUE:
        hint = _("The job will wait until the quota is raised. Ask for less, or choose another queue.")
    else:
        hint = _("The cluster will refuse the job. Ask for less, or choose another queue.")
    message = _(
        "The job asks for {amount}, and the quota of the queue {queue} is {quota}.",
        amount=said(line.resource, asked),
        queue=named(queue.name),
        quota=quantity(line.resource, line.hard),
    )
    return Check(level="warning", code="AboveQueueQuota", message=message, hint=hint, field=_FIELD)


def _free(line: QuotaLine) -> float:
    return exact(line.hard - (line.used or 0.0))


def _full(queue: Queue, line: QuotaLine, asked: float, group: str) -> Check:
    message = _(
        "The job asks for {amount}, and the queue {queue} has {free} of {quota} free.",
        amount=said(line.resource, asked),
        queue=named(queue.name),
        free=quantity(line.resource, max(0.0, _free(line))),
        quota=quantity(line.resource, line.hard),
    )
    if group != KUEUE:
        hint = _("The cluster may refuse the job for now.")
    elif queue.borrows:
        hint = _("The job will wait until that much is free in the queue, or other queues of its cohort lend it.")
    else:
        hint = _("The job will wait until that much is free.")
    return Check(level="warning", code="QueueFull", message=message, hint=hint, field=_FIELD)


def _duration(spec: JobSpec, queue: Queue) -> Iterator[Check]:
    deadline, most = spec.run_policy.active_deadline_seconds, queue.max_duration
    if most is not None and deadline is not None and deadline > most:
        message = _(
            "The queue {queue} ends its jobs after {duration}, before this deadline.",
            queue=named(queue.name),
            duration=duration(most),
        )
        field = "/spec/run_policy/active_deadline_seconds"
        yield Check(level="warning", code="QueueDuration", message=message, field=field)
