"""What a job's queue says about it before it is submitted.

A queue may be made, opened or enlarged while the job waits in it, so nearly all of this is a warning; T9k refuses what
is put into a closed queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....core.capacity import Queue, QueueList, QuotaLine
from ....core.checks import Check
from ....core.manifests.kinds.pytorchjob import GANG_SCHEDULERS
from ....core.manifests.names import KUEUE
from ....core.spec import JobSpec
from ....core.wording import duration
from ..client.api import Json
from ..objects.resources import exact, is_accelerator, quantity, said, together
from ..objects.text import listed, named
from .capacity_checks import groups_of

_FIELD: Final = "/spec/scheduling/queue"
_OTHER: Final = "Choose another queue, or ask whoever runs this one."


def checks(spec: JobSpec, manifest: Json, group: str, known: QueueList | None, namespace: str) -> list[Check]:
    """Return what is to be said of a job and its queue.

    Parameters
    ----------
    spec, manifest
        The job, and its object.
    group
        API group of the queues that are meant, see `discovery.QUEUEING`.
    known
        Those of the namespace; None where the cluster has no such thing.
    """
    if spec.scheduling.queue is None or (group == KUEUE and spec.scheduling.scheduler in GANG_SCHEDULERS):
        return []  # a gang scheduler's queues are its own
    name = named(spec.scheduling.queue)
    if known is None:
        message = f"This cluster has no Kueue, so the queue {name} means nothing here: the job starts at once."
        return [_said("hint", "NoKueue", message)] if group == KUEUE else []
    found = [] if group != KUEUE or not spec.paused else [_not_paused(name)]
    if known.limited is not None:
        return found
    queue = next((one for one in known.queues if one.name == spec.scheduling.queue), None)
    if queue is None:
        return [*found, _missing(name, known, group, namespace)]
    if not queue.open and group != KUEUE:
        return [_said("error", "QueueClosed", f"The queue {name} is closed: it takes no new jobs.", _OTHER)]
    if queue.reason is not None:
        later = "The job will wait until that changes." if group == KUEUE else "The cluster may refuse the job."
        message = f"The queue {name}: {queue.reason[0].lower()}{queue.reason[1:]}"
        return [*found, _said("warning", "QueueNotOpen", message, f"{later} {_OTHER}")]
    return [*found, *_of_quota(spec, manifest, group, queue), *_of_duration(spec, queue)]


def _missing(name: str, known: QueueList, group: str, namespace: str) -> Check:
    where = f"in namespace {namespace}" if group == KUEUE else "of T9k's scheduler"
    others = [queue.name for queue in known.queues if queue.open and queue.reason is None]
    later = "The job will wait until somebody makes it." if group == KUEUE else "The cluster will not place the job."
    hint = f"{later} There {'is' if len(others) == 1 else 'are'} {listed(others)}." if others else later
    return _said("warning", "NoSuchQueue", f"There is no queue {name} {where}.", hint)


def _not_paused(name: str) -> Check:
    message = f"Kueue starts a job of its queues as soon as it has room, so it will not stay paused in {name}."
    hint = "Pause it once it is submitted, or submit it later."
    return Check(level="warning", code="KueueStartsIt", message=message, hint=hint, field="/spec/paused")


def _of_quota(spec: JobSpec, manifest: Json, group: str, queue: Queue) -> Iterator[Check]:
    """Hold what the whole job asks for against the quota of its queue; the worst is said, once."""
    groups = groups_of(manifest, spec.elastic.min if spec.elastic is not None else None)
    asked = together({name: each * one.replicas for name, each in one.asked.items()} for one in groups)
    lines = {line.resource: line for line in queue.quota}
    none = [resource for resource in asked if lines and resource not in lines and is_accelerator(resource)]
    over = [line for line in lines.values() if asked.get(line.resource, 0.0) > line.hard]
    if group == KUEUE and none:
        message = f"The queue {named(queue.name)} has no {named(none[0])} at all."
        yield _said("warning", "AboveQueueQuota", message, f"The job will wait until it has some. {_OTHER}")
    elif over and not queue.borrows:
        yield _above(queue, over[0], asked[over[0].resource], group)
    elif not spec.paused:
        full = [line for line in lines.values() if asked.get(line.resource, 0.0) > _free(line)]
        if full:
            yield _full(queue, full[0], asked[full[0].resource], group)


def _above(queue: Queue, line: QuotaLine, asked: float, group: str) -> Check:
    message = (
        f"The job asks for {said(line.resource, asked)}, and the quota of the queue {named(queue.name)} is"
        f" {quantity(line.resource, line.hard)}."
    )
    later = "It will wait until the quota is raised." if group == KUEUE else "The cluster will refuse it."
    return _said("warning", "AboveQueueQuota", message, f"{later} Ask for less, or choose another queue.")


def _free(line: QuotaLine) -> float:
    return exact(line.hard - (line.used or 0.0))


def _full(queue: Queue, line: QuotaLine, asked: float, group: str) -> Check:
    free = max(0.0, _free(line))
    message = (
        f"The job asks for {said(line.resource, asked)}, and {quantity(line.resource, free)} of"
        f" {quantity(line.resource, line.hard)} {'is' if free == 1 else 'are'} free in the queue {named(queue.name)}."
    )
    borrow = " or others of its cohort leave some" if queue.borrows else ""
    later = f"It will wait until that much is free{borrow}." if group == KUEUE else "The cluster may refuse it for now."
    return _said("warning", "QueueFull", message, later)


def _of_duration(spec: JobSpec, queue: Queue) -> Iterator[Check]:
    deadline, most = spec.run_policy.active_deadline_seconds, queue.max_duration
    if most is not None and deadline is not None and deadline > most:
        message = f"The queue {named(queue.name)} ends what runs in it after {duration(most)}, before this deadline."
        field = "/spec/run_policy/active_deadline_seconds"
        yield Check(level="warning", code="QueueDuration", message=message, field=field)


def _said(level: str, code: str, message: str, hint: str | None = None) -> Check:
    return Check.model_validate({"level": level, "code": code, "message": message, "hint": hint, "field": _FIELD})
