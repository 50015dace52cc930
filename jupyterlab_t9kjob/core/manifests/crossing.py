"""Adapts a job of one manifest kind to another kind, or to an engine without manifests."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ..checks import Capability, Check
from ..features import adapt
from ..spec import JobSpec
from ..translation import _, listing
from .common_names import patch_of
from .model import Kind
from .registry import KINDS, kind_of_extra
from .text.merge_patch import BY, leaves


def cross(
    spec: JobSpec,
    source: Kind | None,
    target: Kind | None,
    capabilities: Mapping[str, Capability],
) -> tuple[JobSpec, list[Check]]:
    """Return the spec adapted to another engine, and warnings about what is lost.

    Parameters
    ----------
    spec
        A job of an engine, such as `Parsed.spec`.
    source, target
        Manifest kinds of the engine that the spec was written for and of the engine that is to run it; None for an
        engine whose jobs have no manifest. If one of them is not installed, all extra content is lost.
    capabilities
        Features of the target.
    """
    result, notes = adapt(spec, capabilities)
    # An engine without manifests keeps the extra content of the manifest from which its job was made.
    source = source or kind_of_extra(spec.extra)
    if spec.extra and target is not None and source is not None and target != source:
        missing = next((kind for kind in (source, target) if kind not in KINDS), None)
        extra, lost = _moved(spec, source, target) if missing is None else ({}, _paths(spec.extra))
        result = result.model_copy(update={"extra": extra})
        if lost:
            fields = listing(lost)
            if missing is None:
                message = _("Left out, for the other kind has no such field: {fields}.", fields=fields)
            else:
                message = _(
                    "Left out, because the manifest kind {kind} is not installed: {fields}.",
                    kind=missing,
                    fields=fields,
                )
            notes.append(Check(level="warning", code="Lost", message=message, field="/spec/extra"))
    if target is None:
        notes += _local_notes(spec)
    return result, notes


def _moved(spec: JobSpec, source: Kind, target: Kind) -> tuple[dict[str, Any], list[str]]:
    """Move patches of pod templates to their fields in the other kind; return them and the paths that are lost."""
    rest = deepcopy(spec.extra)
    form = KINDS[target]
    patches = form.put_templates(*KINDS[source].take_templates(rest, spec), spec)
    templates = {name: {"template": patch} for name, patch in patches.items() if patch}
    lost = _paths(_without_empty(rest))
    return patch_of(form, templates), lost


def _without_empty(patch: dict[str, Any]) -> dict[str, Any]:
    """Return a patch without the objects that change nothing, such as those whose template was moved."""
    result = {}
    for key, value in patch.items():
        kept = _without_empty(value) if isinstance(value, dict) else value
        if not isinstance(kept, dict) or kept.keys() - {BY}:
            result[key] = kept
    return result


def _paths(extra: dict[str, Any]) -> list[str]:
    return [".".join(path) for path in leaves(extra)]


def _local_notes(spec: JobSpec) -> list[Check]:
    notes = []
    words = [spec.entrypoint.value, *spec.args]
    if any("$(" in word for word in words):
        message = _("$(NAME) in the arguments is replaced in a cluster only.")
        notes.append(Check(level="warning", code="Lost", message=message, field="/spec/args"))
    if spec.entrypoint.kind == "script" and not spec.entrypoint.value.startswith("/"):
        message = _(
            "Where {script} is depends on the image, which is not used on this machine.", script=spec.entrypoint.value
        )
        hint = _("Give the script's absolute path.")
        field = "/spec/entrypoint/value"
        notes.append(Check(level="warning", code="Lost", message=message, hint=hint, field=field))
    return notes
