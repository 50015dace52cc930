"""Finds the option by which a job's script resumes from a checkpoint, and fills it in for a clone of the job."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from .contents_paths import ContentsRoot
from .core.errors import JobError
from .core.job import CheckpointFile, Checkpoints, Fix, Job
from .core.lab import Lab
from .core.translation import Text, _
from .jobs.engines import Engines
from .launch.entrypoint_reader import Reader
from .launch.model import ScriptOption
from .launch.source_file import Source
from .tries.arguments import with_option

MOST_OFFERED: Final = 20
"""Checkpoints, the newest ones, from which an answer offers to run again."""

# Names of options that take a checkpoint, the clearest first.
_NAMES: Final = (
    re.compile(r"^resume_from_(?:checkpoint|ckpt)$"),
    re.compile(r"^(?:auto_)?resume(?:_(?:from|path|file|ckpt|checkpoint)\w*)?$"),
    re.compile(r"^(?:restart|continue|start)_from(?:_\w+)?$"),
    re.compile(r"^(?:ckpt|checkpoint|from_checkpoint)(?:_(?:path|file))?$"),
    re.compile(r"^(?:load|restore)(?:_(?:from|path|file|ckpt|checkpoint))?$"),
)
_FOLDER: Final = re.compile(r"^checkpoint-\d+$")
"""Name of a folder that is one checkpoint of the Transformers trainer."""
_PLAIN: Final = re.compile(r"[\w./@-]+")
"""Values that Hydra takes without quotes."""


def resume_option(options: Sequence[ScriptOption], args: Sequence[str]) -> ScriptOption | None:
    """Return the option that takes the checkpoint from which a script resumes; None if none is known.

    The name tells. Two options whose names tell it equally well are ambiguous, and none is returned.

    Parameters
    ----------
    options
        The script's options.
    args
        The job's arguments, which choose the subcommand and may exclude an option.
    """
    given = {word.partition("=")[0] for word in args}
    ranked: dict[int, list[ScriptOption]] = {}
    for option in options:
        name = option.dest.rpartition(".")[2].lower().replace("-", "_")
        rank = next((rank for rank, pattern in enumerate(_NAMES) if pattern.match(name)), None)
        if rank is not None and _takes_path(option) and _is_free(option, options, args, given):
            ranked.setdefault(rank, []).append(option)
    best = ranked[min(ranked)] if ranked else []
    return best[0] if len(best) == 1 else None


def checkpoint_path(file: PurePosixPath) -> PurePosixPath:
    """Return the path that a script loads: the file, or its folder if that is the checkpoint."""
    whole = _FOLDER.match(file.parent.name) or file.suffix == ".distcp"
    return file.parent if whole else file


async def with_resumes(found: Checkpoints, job: Job, root: ContentsRoot, engines: Engines) -> Checkpoints:
    """Add to checkpoints the change by which a clone of their job resumes from them, or say why there is none.

    Parameters
    ----------
    found
        The checkpoints of a job.
    job
        The job.
    root
        The contents root.
    engines
        The engines.
    """
    if found.newest is None:
        return found
    source = await _source(job, root)
    if source is None:
        return _without(found, _("The job’s script can’t be read here, so its option for checkpoints is not known."))
    spec = job.spec
    if any(group.args is not None or group.entrypoint is not None for group in spec.replica_specs):
        return _without(found, _("The job’s replica types have commands of their own: fill in the option in a clone."))
    options = source.script.info.options
    option = resume_option(options, spec.args)
    if option is None:
        return _without(found, _("{script} has no option that is known to take a checkpoint.", script=source.path.name))
    lab = None
    if not engines.facts(job.engine).shares_lab_filesystem:
        lab = await engines.lab(job.engine, job.namespace) or Lab()
    paths = await asyncio.to_thread(_in_job, found.files[:MOST_OFFERED], job, root, lab)
    fixes: list[Fix | None] = []
    for file, path in zip(found.files, paths, strict=False):
        if path is None or (option.syntax == "assignment" and not _PLAIN.fullmatch(path)):
            fixes.append(None)
            continue
        changes = {"/spec/args": with_option(spec.args, option, path, options)}
        fixes.append(Fix(label=_("Run again from {file}", file=file.path), changes=changes))
    files = [
        file.model_copy(update={"resume": fix})
        for file, fix in zip(found.files, [*fixes, *[None] * (len(found.files) - len(fixes))], strict=True)
    ]
    update = {"files": files, "newest": files[0], "resume_option": option.flags[0]}
    result = found.model_copy(update=update)
    if not any(fixes):
        return _without(result, _("The path of the checkpoints can’t be given to a job like this one."))
    return result


def _takes_path(option: ScriptOption) -> bool:
    writes = {"events", "checkpoints"}.intersection(option.roles)
    return option.kind == "text" and bool(option.flags) and not option.choices and not writes


def _is_free(option: ScriptOption, options: Sequence[ScriptOption], args: Sequence[str], given: set[str]) -> bool:
    """Return true if the script has the option with these arguments."""
    if option.condition is not None or (option.command and not set(option.command.split()) <= set(args)):
        return False
    others = [other for other in options if option.exclusive and other.exclusive == option.exclusive]
    return not any(given.intersection(other.flags) for other in others if other.key != option.key)


async def _source(job: Job, root: ContentsRoot) -> Source | None:
    """Return the script of a job; None if it can't be read, or is a notebook, whose cells have no options."""
    if job.entrypoint_path is None or job.spec.entrypoint.kind not in ("script", "module"):
        return None
    try:
        source = await Reader(root).clicked(job.entrypoint_path)
    except JobError:
        return None
    return source if source is not None and source.error is None else None


def _in_job(files: Sequence[CheckpointFile], job: Job, root: ContentsRoot, lab: Lab | None) -> list[str | None]:
    """Return the paths of checkpoints in the job (blocking); None for those that it does not see."""
    paths: list[str | None] = []
    for file in files:
        path = Path(checkpoint_path(PurePosixPath(root.disk(file.path))))
        seen = path if lab is None else lab.seen_by(path, job.spec.mounts, job.namespace)
        paths.append(None if seen is None else str(seen))
    return paths


def _without(found: Checkpoints, problem: Text) -> Checkpoints:
    return found.model_copy(update={"resume_problem": problem})
