"""Evaluates the administrator's locks for a job."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from ..core.checks import Capability, Check
from ..core.code.git_address import GIT_SYNC_IMAGE
from ..core.job import Fix
from ..core.manifests import parse, render
from ..core.manifests.names import SPEC
from ..core.spec import JobSpec
from ..core.texts.field_names import name_of
from ..core.texts.quantity import amount
from ..core.translation import Text, _, listing
from .model import Lock
from .pod_resources import RESOURCES, amount_text, amounts_of_pods, devices_of_pods
from .pointers import parts_of, pointer_of, put, values_at

TOTALS: Final = {
    "/total_replicas": (_("Nodes in total"), "/spec/replica_specs/0/replicas"),
    "/total_devices": (_("GPUs in total"), "/spec/replica_specs/0/resources/device"),
}
"""Computed values that a lock can name: the label, and the field of the form at which an error stands."""

MANIFEST: Final = "manifest"

_PODS: Final = "devices_of_a_pod"
"""Key of the largest number of GPUs of one pod, all containers together."""

_COUNT: Final = "/replica_specs/*/resources/device/count"

_AMOUNTS: Final = "amounts_of_a_pod"
"""Key of the largest CPU and memory of one pod, all containers together."""

_AMOUNT_FIELDS: Final = {
    f"/replica_specs/*/resources/{name}/{part}": f"{name}/{part}" for name in RESOURCES for part in ("limit", "request")
}

_MOST_ROWS: Final = 20
"""Rows of a list that are marked for one lock."""

_CAPABILITIES: Final = (
    ("/runtime/image", "image"),
    ("/runtime/pull_policy", "image"),
    ("/runtime/pull_secrets", "image"),
    ("/runtime/training_runtime", "training_runtime"),
    ("/scheduling/queue", "queue"),
    ("/scheduling/priority", "priority"),
    ("/scheduling", "scheduling"),
    ("/security", "security"),
    ("/mounts", "mounts"),
    ("/config_files", "config_files"),
    ("/shm", "shm"),
    ("/elastic", "elastic"),
    ("/tensorboard/cluster", "cluster_tensorboard"),
    ("/run_policy/active_deadline_seconds", "deadline"),
    ("/run_policy/clean_up", "clean_up"),
    ("/run_policy/ttl_seconds", "ttl"),
)
"""Fields that some engines lack, with the capability. A lock does not apply where its field has no meaning."""

_OVERRIDES: Final = frozenset({"args", "entrypoint", "env", "runtime"})
"""Parts of the spec that a replica type can override."""

_UNLIMITED: Final = frozenset({"active_deadline_seconds", "limit", "size_limit", "ttl_seconds"})
"""Fields in which null stands for no limit, which is more than any maximum."""

_SHOWN: Final = 5
_LONGEST: Final = 200


class Target(NamedTuple):
    """A value of a job to which a lock applies; `shown` replaces the value in messages."""

    parts: list[str]
    value: Any
    shown: str | None = None


def applies(lock: Lock, engine: str, capabilities: Mapping[str, Capability], *, in_kernel: bool) -> bool:
    """Return True if a lock applies to the jobs of an engine.

    Parameters
    ----------
    lock
        The lock.
    engine, capabilities
        The engine.
    in_kernel
        True if the engine's jobs run in a Jupyter kernel.
    """
    if lock.engines and engine not in lock.engines:
        return False
    if lock.field == "/runtime/kernel":
        return in_kernel
    name = next((name for field, name in _CAPABILITIES if f"{lock.field}/".startswith(f"{field}/")), None)
    capability = capabilities.get(name) if name else None
    return capability is None or capability.supported


def document_of(spec: JobSpec, kind: str | None) -> dict[str, Any]:
    """Return the job as a document for locks: the fields of its spec, totals, and its manifest (blocking).

    `JobSpec.extra` can replace any field of the manifest. A field that it replaces has the value of the manifest, since
    that is what runs.

    Parameters
    ----------
    spec
        The job.
    kind
        Kind of the engine's manifests; None if it has none.

    Raises
    ------
    FieldError
        If `extra` breaks the manifest.
    """
    document = spec.model_dump(mode="json")
    manifest = render(spec, kind) if kind is not None else None
    if manifest is not None and spec.extra:
        without = render(spec.model_copy(update={"extra": {}}), kind or "")
        document = _replaced(document, _read(without), _read(manifest))
    groups, most = document["replica_specs"], (document["elastic"] or {}).get("max", 0)
    devices = [(group["resources"]["device"] or {}).get("count", 0) for group in groups]
    total = sum(group["replicas"] * count for group, count in zip(groups, devices, strict=True))
    document["total_replicas"] = max(most, sum(group["replicas"] for group in groups))
    document["total_devices"] = max(total, most * max(devices))
    if manifest is not None:
        pods = devices_of_pods(manifest, kind or "")
        document[_PODS] = max((count for _replicas, count in pods), default=0)
        elsewhere = max(sum(replicas * count for replicas, count in pods), most * document[_PODS])
        document["total_devices"] = max(document["total_devices"], elsewhere)
        document[_AMOUNTS] = amounts_of_pods(manifest, kind or "")
    document[MANIFEST] = manifest
    return document


def _read(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a manifest itself has, without our annotation with the rest of the spec."""
    metadata = {**manifest["metadata"]}
    annotations = metadata.get("annotations") or {}
    metadata["annotations"] = {name: value for name, value in annotations.items() if name != SPEC}
    return parse({**manifest, "metadata": metadata}).spec.model_copy(update={"extra": {}}).model_dump(mode="json")


def _replaced(value: Any, before: Any, after: Any) -> Any:
    """Return a value of a spec with the changes between two readings of its manifest."""
    if before == after:
        return value
    if isinstance(value, dict) and isinstance(before, dict) and isinstance(after, dict):
        changed = {key: item for key, item in after.items() if key not in before or item != before[key]}
        kept = {key: item for key, item in value.items() if key in after or key not in before}
        return kept | {key: _replaced(value.get(key), before.get(key), item) for key, item in changed.items()}
    lists = isinstance(value, list) and isinstance(before, list) and isinstance(after, list)
    if lists and len(value) == len(before) == len(after):
        return [_replaced(*each) for each in zip(value, before, after, strict=True)]
    return after


def check_locks(locks: list[Lock], document: dict[str, Any], git_image: str = GIT_SYNC_IMAGE) -> list[Check]:
    """Return an error for each value of a job that breaks a lock, for each lock at most `_MOST_ROWS`.

    Parameters
    ----------
    locks
        Locks that apply to the engine of the job.
    document
        The job, see `document_of`.
    git_image
        The administrator's image that clones repositories; locks of images do not apply to it.
    """
    found: list[Check] = []
    for lock in locks:
        targets = (target for target in _targets(lock, document) if target.value != git_image or not _clones(target))
        broken = [target for target in targets if not _fits(lock, target, document)]
        # The part of the manifest without fields is marked last: it may have set the value of a field that is marked.
        shown = [target for target in broken if target.parts != ["extra"]] or broken
        checks = {check.field: check for check in (_check(lock, target) for target in reversed(shown))}
        found += [*reversed(checks.values())][:_MOST_ROWS]
    return found


def with_locks(locks: list[Lock], spec: JobSpec, *, fresh: bool) -> JobSpec:
    """Return a spec with the fixed values of locks.

    Parameters
    ----------
    locks
        Locks that apply to the engine of the job.
    spec
        The job.
    fresh
        True to change also values that are not allowed or too large, because the user chose none of them.
    """
    for lock in locks:
        if lock.rule != "value" and not fresh:
            continue
        document = spec.model_dump(mode="json")
        wanted = _replacement(lock)
        for target in list(_in_spec(lock, document)):
            if wanted is not None and not _fits(lock, target, document):
                put(document, target.parts, wanted[0])
        try:
            spec = JobSpec.model_validate(document)
        except ValidationError:  # The value does not go with other fields, so the check of the lock says it.
            continue
    return spec


def name_of_lock(field: str) -> Text:
    """Return the name of a lock's field as the form shows it."""
    if field in TOTALS:
        return TOTALS[field][0]
    if parts_of(field)[0] == MANIFEST:
        return Text.verbatim(".".join(parts_of(field)[1:])[:_LONGEST])
    return name_of("/spec" + field.replace("/*", "/0"))


def _targets(lock: Lock, document: dict[str, Any]) -> Iterator[Target]:
    """Yield the values to which a lock applies. An absent value counts as null, unless the lock is a maximum."""
    found = list(_in_spec(lock, document))
    parts = parts_of(lock.field)
    if not found and lock.rule != "maximum" and parts[0] != MANIFEST:
        yield Target(parts, None)
    yield from found
    if lock.field == _COUNT and document.get(_PODS, 0) > max((each.value for each in found), default=0):
        yield Target(["extra"], document[_PODS])
    yield from _of_whole_pod(lock, document, found)
    if lock.field == "/runtime/image":  # Images of other containers, which the spec has no field for.
        yield from (Target(["extra"], image) for image in _images(document["extra"]))
        image = (document["source"] or {}).get("image")  # runs in the pod and writes the code
        if image is not None:
            yield Target(["source", "image"], image)


def _of_whole_pod(lock: Lock, document: dict[str, Any], found: list[Target]) -> Iterator[Target]:
    """Yield CPU or memory of a pod if it is more than that of the training container, which the form shows."""
    name = _AMOUNT_FIELDS.get(lock.field)
    if name is None or _AMOUNTS not in document:
        return
    most = document[_AMOUNTS][name]
    own = max((_number(each.value) or 0.0 for each in found), default=0.0)
    without = name.endswith("/limit") and any(each.value is None for each in found)  # The form's own field says it.
    if most > own and not without:
        yield Target(["extra"], most, amount_text(name, most))


def _clones(target: Target) -> bool:
    """Return True for the image that clones a repository."""
    return target.parts == ["source", "image"]


def _in_spec(lock: Lock, document: dict[str, Any]) -> Iterator[Target]:
    """Yield the values of a document to which a lock applies, also in overrides of replica types."""
    parts = parts_of(lock.field)
    for where, value in values_at(document, parts):
        yield Target(where, value)
    if parts[0] in _OVERRIDES:
        for where, value in values_at(document, ["replica_specs", "*", *parts]):
            if value is not None:
                yield Target(where, value)


def _images(value: Any) -> Iterator[str]:
    """Yield the images of containers in the part of a manifest that the spec has no fields for."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "image" and isinstance(item, str):
                yield item
            else:
                yield from _images(item)
    elif isinstance(value, list):
        for item in value:
            yield from _images(item)


def _fits(lock: Lock, target: Target, document: dict[str, Any]) -> bool:
    if lock.rule == "maximum":
        return _is_within(target, lock.maximum, document)
    return any(_equals(target.value, allowed, pattern=lock.rule == "allowed") for allowed in lock.values)


def _equals(value: Any, allowed: Any, *, pattern: bool) -> bool:
    if pattern and isinstance(value, str) and isinstance(allowed, str) and "*" in allowed:
        # Brackets and question marks stand for themselves, since images and names of queues may be compared.
        return fnmatchcase(value, allowed.replace("[", "[[]").replace("?", "[?]"))
    return bool(value == allowed) and isinstance(value, bool) == isinstance(allowed, bool)


def _is_within(target: Target, maximum: float | str | None, document: dict[str, Any]) -> bool:
    value, most = target.value, _number(maximum)
    if value is None:
        return target.parts[-1] not in _UNLIMITED
    if value == "gpu":  # One process for each GPU.
        value = max((each for _where, each in values_at(document, _DEVICES)), default=0)
    number = _number(value)
    return number is not None and most is not None and number <= most


_DEVICES: Final = ["replica_specs", "*", "resources", "device", "count"]


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    return amount(value) if isinstance(value, str) else None


def _replacement(lock: Lock) -> tuple[Any] | None:
    """Return the value that a lock puts in the place of another one, as a tuple; None if the user has to choose."""
    if lock.rule == "maximum":
        most = lock.maximum
        return (int(most) if isinstance(most, float) and most.is_integer() else most,)
    values = [
        value for value in lock.values if not (lock.rule == "allowed" and isinstance(value, str) and "*" in value)
    ]
    return (values[0],) if values else None


def _check(lock: Lock, target: Target) -> Check:
    field, fix = _place(lock, target), None
    wanted = _replacement(lock)
    is_plain = field == "/spec" + pointer_of(target.parts) and target.parts[0] != MANIFEST
    if wanted is not None and is_plain and (lock.rule != "allowed" or len(lock.values) == 1):
        fix = Fix(label=_("Set {value}", value=_shown(wanted[0])), changes={field: wanted[0]})
    return Check(
        level="error",
        code="Locked",
        message=_message(lock, target),
        hint=_("Locked by the administrator: “{reason}”", reason=lock.reason),
        field=field,
        fix=fix,
    )


def _place(lock: Lock, target: Target) -> str:
    if lock.field in TOTALS:
        return TOTALS[lock.field][1]
    if target.parts[0] == MANIFEST:
        return pointer_of(target.parts)
    return "/spec" + pointer_of(["0" if part == "*" else part for part in target.parts])


def _message(lock: Lock, target: Target) -> Text:
    name, value = name_of_lock(lock.field), target.shown or _shown(target.value)
    if lock.rule == "maximum":
        most = _shown(_replacement(lock)[0])  # type: ignore[index]
        if target.value in (None, math.inf):
            return _("{field}: a limit of at most {most} is required.", field=name, most=most)
        return _("{field}: at most {most} allowed, not {value}.", field=name, most=most, value=value)
    if lock.rule == "value":
        return _(
            "{field}: only {wanted} is allowed, not {value}.", field=name, wanted=_shown(lock.values[0]), value=value
        )
    wanted = listing([_shown(each) for each in lock.values], _SHOWN)
    return _("{field}: {value} is not allowed. Allowed: {wanted}.", field=name, value=value, wanted=wanted)


def _shown(value: Any) -> str:
    if value is None:
        return _("no value")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
