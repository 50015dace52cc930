"""Adapts a job of one manifest kind to another kind, or to an engine without manifests."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from ..checks import Capability, Check
from ..features import adapt, is_launcher
from ..spec import JobSpec, Torchrun
from ..translation import _, listing
from .common_names import patch_of
from .convert import spelled
from .entrypoints import Argv, program_of
from .json_values import as_object, without_fields
from .kinds.formats import Format, training_of
from .kinds.torchrun.bare import read_bare, writes_logs
from .model import Kind
from .names import CONTAINER
from .registry import KINDS, kind_of_extra
from .text.merge_patch import BY, leaves

_TEMPLATE: Final = "template"
_PROGRAM: Final = ("command", "args", "workingDir")
"""Fields of a training container that each kind writes in its own way, from the program in the spec."""


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
    # An engine without manifests keeps the extra content of the manifest from which its job was made.
    source = source or kind_of_extra(spec.extra)
    told: list[Check] = []
    if source is not None and source in KINDS and target != source:
        spec, told = launched(spec, source)
    result, notes = adapt(spec, capabilities)
    notes += told
    if spec.extra and target is not None and source is not None and target != source:
        missing = next((kind for kind in (source, target) if kind not in KINDS), None)
        extra, lost = _moved(spec, source, result, target) if missing is None else ({}, _paths(spec.extra))
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


def launched(spec: JobSpec, kind: Kind) -> tuple[JobSpec, list[Check]]:
    """Return the spec of a job with torchrun on, if its command is a torchrun that the kind's controller configures.

    The controllers of some kinds tell torchrun by variables how many replicas and processes a job has. No other engine
    does so, and the number of processes can't be changed in such a command.

    Parameters
    ----------
    spec
        A job with any command.
    kind
        Its kind.

    Returns
    -------
    spec, notes
        The job, and warnings about what is not known. A torchrun with a rendezvous of its own is kept, with a warning.
    """
    form = KINDS[kind]
    manifest = spelled(form, spec) if spec.torchrun is None else None
    if manifest is None or (told := form.told(manifest)) is None:
        return spec, []
    containers = training_of(form, manifest)
    found = [read_bare(Argv(each.get("command"), each.get("args", [])), each.get("workingDir")) for each in containers]
    first = found[0] if found else None
    if first is None or any(each is None or not each.has_options_of(first) for each in found):
        names = {is_launcher(program_of(spec, group).entrypoint) for group in spec.replica_specs}
        return spec, [_own_launcher(form)] if True in names else []
    if len({each.get("workingDir") for each in containers}) > 1:
        return spec, [_own_launcher(form)]
    processes = first.processes or told.processes
    torchrun = Torchrun(
        proc_per_node=processes or 1,
        max_restarts=told.max_restarts if first.max_restarts is None else first.max_restarts,
        extra_options=list(first.options),
    )
    programs = [first.program, *(each.program for each in found[1:] if each is not None)]
    groups = [
        group.model_copy(
            update={
                "entrypoint": None if program.entrypoint == first.program.entrypoint else program.entrypoint,
                "args": None if program.args == first.program.args else program.args,
            }
        )
        for group, program in zip(spec.replica_specs, programs, strict=False)
    ]
    changes = {
        "torchrun": torchrun,
        "entrypoint": first.program.entrypoint,
        "args": first.program.args,
        "replica_specs": groups,
        "elastic": told.elastic,
        "keep_logs": spec.keep_logs and not writes_logs(first),
        "extra": without_fields(spec.extra, told.fields),
    }
    notes = []
    if processes is None:
        message = _("The manifest leaves the number of processes to the cluster, so it is one in each replica here.")
        field, hint = "/spec/torchrun/proc_per_node", _("Set the number of processes.")
        notes.append(Check(level="warning", code="Processes", message=message, field=field, hint=hint))
    return spec.model_copy(update=changes), notes


def _own_launcher(form: Format) -> Check:
    message = _(
        "The command starts torchrun itself, with options that are kept as written. A {kind} also tells torchrun how"
        " many replicas there are; not every engine does.",
        kind=form.kind,
    )
    hint = _("Choose the script as the entrypoint, and turn torchrun on.")
    return Check(level="warning", code="OwnLauncher", message=message, field="/spec/entrypoint/value", hint=hint)


def _moved(spec: JobSpec, source: Kind, result: JobSpec, target: Kind) -> tuple[dict[str, Any], list[str]]:
    """Move patches of pod templates to their fields in the other kind; return them and the paths that are lost.

    Parameters
    ----------
    spec, source
        The job with its extra content, and its kind.
    result, target
        The job that is adapted to the other kind, and that kind.
    """
    form, other = KINDS[source], KINDS[target]
    rest = _minus(deepcopy(spec.extra), form.heeded(spec))
    types, names = form.types(spec), other.types(result)
    first, last = (_template(form, spec.extra, name) for name in (types[0], types[-1]))
    _take(form, rest, types[0], first)
    if types[-1] != types[0]:
        _take(form, rest, types[-1], last if len(names) > 1 else first)
    groups = {names[-1]: last, names[0]: first}
    patches = {name: {_TEMPLATE: patch} for name, patch in groups.items() if patch}
    return patch_of(other, patches), _paths(_set(rest))


def _template(form: Format, extra: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the part of the patch of a pod template that other kinds have, too; empty if there is none.

    Parameters
    ----------
    form
        The kind of the extra content.
    extra
        Extra content of a spec.
    name
        Name of the replica type.
    """
    patch = _neutral(form, _holder(form, extra, name).get(_TEMPLATE))
    pod = as_object(patch.get("spec"))
    containers = pod.get("containers")
    if isinstance(containers, list):  # The list replaces the training container, which is another one there.
        del pod["containers"]
    elif isinstance(containers, dict) and isinstance(training := containers.get(CONTAINER), dict):
        for field in _PROGRAM:
            training.pop(field, None)
        if not training:
            del containers[CONTAINER]
        if not containers.keys() - {BY}:
            del pod["containers"]
    return {key: value for key, value in patch.items() if key != "spec" or value}


def _take(form: Format, extra: dict[str, Any], name: str, moved: dict[str, Any]) -> None:
    """Remove the part of a patch of a pod template that is moved; the rest of it is lost.

    Parameters
    ----------
    form, extra, name
        See `_template`; the extra content is changed.
    moved
        The part; on a kind with one template, the part of the first replica type.
    """
    holder = _holder(form, extra, name)
    if not isinstance(holder.get(_TEMPLATE), dict):
        return
    patch = _neutral(form, holder[_TEMPLATE])
    training = as_object(as_object(as_object(patch.get("spec")).get("containers")).get(CONTAINER))
    if "workingDir" in training:  # The command differs by the path of the script, which the spec has in full.
        training.pop("command", None)
        training.pop("args", None)
    holder[_TEMPLATE] = _minus(patch, moved)


def _neutral(form: Format, template: Any) -> dict[str, Any]:
    """Return a patch of a pod template without the names and fields of its own kind, which other kinds set themselves.

    The training container gets the name that every kind accepts.
    """
    patch: dict[str, Any] = deepcopy(as_object(template))
    pod = as_object(patch.get("spec"))
    for field in form.own_pod_fields:
        pod.pop(field, None)
    training = as_object(as_object(pod.get("containers")).get(CONTAINER))
    training.pop("name", None)
    if isinstance(env := training.get("env"), dict):
        training["env"] = {key: value for key, value in env.items() if value is not None or key not in form.own_env}
        if not training["env"].keys() - {BY}:
            del training["env"]
    return patch


def _holder(form: Format, extra: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the patch of a replica type in extra content; an empty object if there is none."""
    fields = as_object(extra.get("spec"))
    return fields if form.single else as_object(as_object(fields.get(form.replicas)).get(name))


def _minus(patch: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return a patch without the fields that have the same value in another one."""
    result = {}
    for key, value in patch.items():
        if key in part and value == part[key]:
            continue
        inner = part.get(key)
        result[key] = _minus(value, inner) if isinstance(value, dict) and isinstance(inner, dict) else value
    return result


def _set(patch: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a patch sets, without those that it removes: a manifest loses only what it has."""
    result = {}
    for key, value in patch.items():
        kept = _set(value) if isinstance(value, dict) else value
        if kept is not None and (not isinstance(kept, dict) or kept.keys() - {BY}):
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
