"""Checks of a script's training: how it is started, what its processes share, and what the job gives it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..core.checks import Check
from ..core.spec import JobSpec
from ..core.translation import _
from .model import ScriptOption
from .scripts.training.finding import Finding
from .scripts.training.paths import absolute_path, names_key
from .source_file import Source

MOST_WORKERS = 10**6
_LOCAL = re.compile(r"(?:^|//)(?:localhost|127\.|0\.0\.0\.0|::1)")
"""Addresses of the machine itself."""


@dataclass(frozen=True)
class JobPlace:
    """Known facts about the place where a job runs.

    Attributes
    ----------
    has_gpu
        True if its processes see a GPU; None if that is not known.
    cpus
        CPU cores of one replica; None for no limit, or if that is not known.
    unseen
        Paths that the job does not see.
    """

    has_gpu: bool | None = None
    cpus: float | None = None
    unseen: frozenset[str] = frozenset()


def training_checks(spec: JobSpec, source: Source, place: JobPlace) -> list[Check]:
    """Return the checks of a script's training.

    Parameters
    ----------
    spec
        The job.
    source
        The job's script or notebook.
    place
        What is known about the place where the job runs.
    """
    found = [*_start(spec, source), *_local_rank(spec, source)]
    several = _several(spec, source)
    for finding in source.script.findings:
        if finding.rule in _OF_SEVERAL and not several:
            continue
        check = _CHECKS[finding.rule](spec, source, place, finding)
        if check is not None:
            found.append(check)
    return [*found, *_option_paths(spec, source, place)]


def absolute_paths(spec: JobSpec, source: Source) -> set[str]:
    """Return the absolute paths that a script or its options name.

    Parameters
    ----------
    spec
        The job, whose arguments set the options.
    source
        The job's script.
    """
    named = {str(finding.value) for finding in source.script.findings if finding.rule == "path"}
    given = {value for option in source.script.info.options if (value := option.value_in(spec.args))}
    return named | {value for value in given if absolute_path(value)}


def unseen_here(paths: set[str]) -> frozenset[str]:
    """Return the paths that do not exist on this machine and that a script can't create (blocking)."""
    return frozenset(path for path in paths if not _may_exist(path))


def _may_exist(path: str) -> bool:
    """Return True if a path exists, or is below a folder in which new folders are plausible."""
    if os.path.exists(path):  # noqa: PTH110 (raises no error for long names)
        return True
    above = os.path.dirname(path.rstrip("/"))  # noqa: PTH120
    while above != "/" and not os.path.isdir(above):  # noqa: PTH112
        above = os.path.dirname(above)  # noqa: PTH120
    return above != "/" and os.access(above, os.W_OK)


def _several(spec: JobSpec, source: Source) -> bool:
    """Return True if more than one process runs the training."""
    if source.script.launch is not None:
        return True
    return spec.torchrun is not None and (spec.torchrun.proc_per_node != 1 or spec.total_replicas > 1)


def _start(spec: JobSpec, source: Source) -> Iterator[Check]:
    launch, script = source.script.launch, source.path.name
    if launch is not None:
        link = source.link(launch.line, launch.path)
        if spec.torchrun is None:
            message = _(
                "{script} starts its own processes ({call}), so torchrun is off.", script=script, call=launch.what
            )
            yield Check(level="hint", code="OwnProcesses", message=message, link=link)
            return
        message = _(
            "{script} starts its own processes ({call}), and each process that torchrun starts would start them again.",
            script=script,
            call=launch.what,
        )
        hint, field = _("Turn torchrun off."), "/spec/torchrun"
        yield Check(level="warning", code="OwnProcesses", message=message, hint=hint, field=field, link=link)
    elif _several(spec, source) and not source.script.empty and source.script.info.distributed is False:
        message = _("{script} starts no process group, so every process does all the work by itself.", script=script)
        hint = _("Use DistributedDataParallel, or one process.")
        yield Check(level="hint", code="NotDistributed", message=message, hint=hint, link=source.link(None))


def _local_rank(spec: JobSpec, source: Source) -> Iterator[Check]:
    option = source.script.local_rank
    if option is None or spec.torchrun is None:
        return
    link, flag, code = source.link(option.line), option.flags[0], "LocalRankExpected"
    value = option.value_in(spec.args, default=False)
    if value is not None and "${local_rank}" in value:
        message = _("The job passes {option} to each process.", option=flag)
        yield Check(level="passed", code=code, message=message, option=flag, link=link)
        return
    message = _(
        "{script} expects its local rank as {option}, which torchrun does not pass.",
        script=source.path.name,
        option=flag,
    )
    if value is not None:
        message = _("Every process gets {option} {value}, so all use the same GPU.", option=flag, value=value)
    hint = _("Set {option} to {value}: torchrun replaces it by the rank.", option=flag, value="${local_rank}")
    yield Check(level="warning", code=code, message=message, hint=hint, field="/spec/args", option=flag, link=link)


def _option(source: Source, dest: str | None) -> ScriptOption | None:
    return next((option for option in source.script.info.options if option.dest == dest), None)


def _flag(option: ScriptOption) -> str:
    return option.flags[0] if option.flags else option.dest


def nccl_option(spec: JobSpec, source: Source) -> tuple[Finding, ScriptOption | None] | None:
    """Return where a script chooses the backend nccl, and the option that decides it; None if it does not.

    Parameters
    ----------
    spec
        The job, whose arguments set the options.
    source
        The job's script.

    Returns
    -------
    choice
        Place of the choice, and the option whose value is the backend; the option is None for a constant backend.
    """
    for finding in source.script.findings:
        if finding.rule == "nccl":
            option = _option(source, finding.option)
            if (option.value_in(spec.args) if option is not None else finding.value) == "nccl":
                return finding, option
    return None


def _nccl(spec: JobSpec, source: Source, place: JobPlace, finding: Finding) -> Check | None:
    started = spec.torchrun is not None or source.script.launch is not None
    chosen = nccl_option(spec, source)
    if place.has_gpu is not False or chosen is None or not started:
        return None
    option = chosen[1]
    message = _("{script} uses the backend nccl, which needs a GPU. The job has none.", script=source.path.name)
    hint = _("Request GPUs, or use the backend gloo.")
    if option is not None:
        hint = _("Request GPUs, or set {option} to gloo.", option=_flag(option))
    return Check(
        level="warning",
        code="NcclWithoutGpu",
        message=message,
        hint=hint,
        field="/spec/args" if option is not None else None,
        option=_flag(option) if option is not None else None,
        link=source.link(finding.line, finding.path),
    )


def _download(_spec: JobSpec, source: Source, _place: JobPlace, finding: Finding) -> Check:
    message = _("Every process downloads the same files ({call}), which can damage them.", call=finding.what)
    hint = _("Download in one process per node, and let the others wait at a barrier.")
    link = source.link(finding.line, finding.path)
    return Check(level="warning", code="RanksDownload", message=message, hint=hint, link=link)


def _write(_spec: JobSpec, source: Source, _place: JobPlace, finding: Finding) -> Check:
    message = _("Every process writes the same file ({call}), which can damage it.", call=finding.what)
    hint = _("Write it on rank 0 only.")
    link = source.link(finding.line, finding.path)
    return Check(level="warning", code="RanksWrite", message=message, hint=hint, link=link)


def _events(_spec: JobSpec, source: Source, _place: JobPlace, finding: Finding) -> Check:
    message = _("Every process writes events to the same folder, so TensorBoard mixes their curves.")
    hint = _("Make the {writer} on rank 0 only.", writer=finding.what)
    link = source.link(finding.line, finding.path)
    return Check(level="hint", code="RanksWriteEvents", message=message, hint=hint, link=link)


def _sampler(_spec: JobSpec, source: Source, _place: JobPlace, finding: Finding) -> Check:
    message = _("The loader has no DistributedSampler: every process sees all the data unless the data set is split.")
    link = source.link(finding.line, finding.path)
    return Check(level="hint", code="NoSampler", message=message, link=link)


def _address(spec: JobSpec, source: Source, _place: JobPlace, finding: Finding) -> Check | None:
    """Warn of an address that replaces torchrun's. The processes then wait for a store that nobody serves."""
    option = _option(source, finding.option)
    value = option.value_in(spec.args) if option is not None else str(finding.value)
    composed = option is not None and isinstance(finding.value, str)  # "tcp://" + args.ip
    if composed and value is not None:
        value = f"{finding.value}{value}"
    fixed = value is not None and (finding.what != "init_method" or value.startswith("tcp://"))
    single = spec.total_replicas == 1
    # The processes that a script starts on one machine find each other at its own address.
    own = source.script.launch is not None and (finding.what == "MASTER_PORT" or _LOCAL.search(value or "") is not None)
    if not fixed or (single and (spec.torchrun is None or own)):
        return None
    link, code = source.link(finding.line, finding.path), "FixedAddress"
    if option is not None and not composed:
        flag = _flag(option)
        message = _(
            "{option} is {value}, so the processes do not use torchrun's rendezvous.", option=flag, value=value or ""
        )
        hint = _("Set {option} to env://.", option=flag)
        return Check(level="warning", code=code, message=message, hint=hint, field="/spec/args", option=flag, link=link)
    message = _(
        "{script} sets {name} to {value}, so the processes do not find each other.",
        script=source.path.name,
        name=finding.what,
        value=value or "",
    )
    hint = _("Remove the line: the job sets MASTER_ADDR and MASTER_PORT.")
    if finding.what == "init_method":
        hint = _("Use the init_method env://, or none.")
    return Check(level="warning", code=code, message=message, hint=hint, link=link)


def _launcher(spec: JobSpec, source: Source, _place: JobPlace, finding: Finding) -> Check | None:
    if spec.torchrun is None or spec.entrypoint.kind == "command":
        return None
    message = _(
        "{script} expects {launcher}: with torchrun, each process trains by itself.",
        script=source.path.name,
        launcher=finding.what,
    )
    hint = _("Choose Command and start the script with {launcher}.", launcher=finding.what)
    link = source.link(finding.line, finding.path)
    field = "/spec/entrypoint/kind"
    return Check(level="warning", code="OtherLauncher", message=message, hint=hint, field=field, link=link)


def _number(value: object) -> str | None:
    """Return the text of a number of workers; None for other values, and for numbers that Python does not print."""
    return str(value) if isinstance(value, int) and 0 <= value <= MOST_WORKERS else None


def _workers(spec: JobSpec, source: Source, place: JobPlace, finding: Finding) -> Check | None:
    option = _option(source, finding.option)
    text = option.value_in(spec.args) if option is not None else _number(finding.value)
    if place.cpus is None or text is None or not text.isdecimal() or len(text) > len(str(MOST_WORKERS)):
        return None
    workers = int(text)
    if workers <= max(place.cpus, 1):
        return None
    message = _(
        "Each process starts {workers} loader workers, and a replica has {cpus} CPU cores.",
        workers=workers,
        cpus=f"{place.cpus:g}",
    )
    return Check(
        level="hint",
        code="ManyLoaderWorkers",
        message=message,
        hint=_("Use fewer workers, or more CPU cores."),
        field="/spec/args" if option is not None else None,
        option=_flag(option) if option is not None else None,
        link=source.link(finding.line, finding.path),
    )


def _path(_spec: JobSpec, source: Source, place: JobPlace, finding: Finding) -> Check | None:
    path = str(finding.value)
    if path not in place.unseen:
        return None
    message = _("{script} names {path}, which the job does not see.", script=source.path.name, path=path)
    hint = _("Change the path, or mount a volume with it.")
    return Check(
        level="hint", code="PathNotSeen", message=message, hint=hint, link=source.link(finding.line, finding.path)
    )


def _option_paths(spec: JobSpec, source: Source, place: JobPlace) -> Iterator[Check]:
    for option in source.script.info.options:
        value = option.value_in(spec.args)
        if value is None or value not in place.unseen or option.kind == "choice" or names_key(option.dest):
            continue
        flag = _flag(option)
        message = _("{option} is {path}, which the job does not see.", option=flag, path=value)
        hint = _("Change the path, or mount a volume with it.")
        link = source.link(option.line) if option.path is None else None
        yield Check(
            level="warning", code="PathNotSeen", message=message, hint=hint, field="/spec/args", option=flag, link=link
        )


_CHECKS: dict[str, Callable[[JobSpec, Source, JobPlace, Finding], Check | None]] = {
    "nccl": _nccl,
    "download": _download,
    "write": _write,
    "events": _events,
    "sampler": _sampler,
    "address": _address,
    "launcher": _launcher,
    "workers": _workers,
    "path": _path,
}

_OF_SEVERAL = frozenset({"download", "write", "events", "sampler"})
"""Rules that one process alone can't break."""
