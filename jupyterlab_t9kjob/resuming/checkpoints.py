"""Checkpoints of a job as its script gets them: by the option by which the script resumes, at the job's own paths."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.errors import JobError
from ..core.job import Fix, Job
from ..core.lab import Lab
from ..core.translation import Text, _
from ..jobs.checkpoints import CheckpointFile, Checkpoints
from ..jobs.engines import Engines
from ..launch.entrypoint_reader import Reader
from ..launch.model import ScriptOption
from ..launch.option_checks import resume_problem
from ..launch.options.resume import resume_option
from ..launch.options.values import with_option

MOST_OFFERED: Final = 20
"""Checkpoints, the newest ones, from which an answer offers to run again."""
NO_PATH: Final = _("The path of the checkpoints can’t be given to a job like this one.")

_FOLDER: Final = re.compile(r"^checkpoint-\d+$")
"""Name of a folder that is one checkpoint of the Transformers trainer."""
_PLAIN: Final = re.compile(r"[\w./@-]+")
"""Values that Hydra takes without quotes."""


@dataclass(frozen=True)
class Resumption:
    """Way in which a job's script resumes from a checkpoint.

    Attributes
    ----------
    option
        The option that takes the checkpoint.
    options
        All options of the script.
    """

    option: ScriptOption
    options: Sequence[ScriptOption]

    def arguments(self, args: Sequence[str], path: str) -> list[str]:
        """Return arguments that name a checkpoint.

        Parameters
        ----------
        args
            Arguments of the job.
        path
            The checkpoint, as the job sees it.
        """
        return with_option(args, self.option, path, self.options)

    async def paths(
        self, files: Sequence[CheckpointFile], job: Job, root: ContentsRoot, engines: Engines
    ) -> list[str | None]:
        """Return the paths of checkpoints in a job; None for those that can't be given to it.

        Parameters
        ----------
        files
            Checkpoints of the job.
        job
            The job.
        root
            The contents root.
        engines
            The engines.
        """
        lab = None
        if not engines.facts(job.engine).shares_lab_filesystem:
            lab = await engines.lab(job.engine, job.namespace) or Lab()
        plain = self.option.syntax == "assignment"
        found = await asyncio.to_thread(_in_job, files, job, root, lab)
        return [None if path is not None and plain and not _PLAIN.fullmatch(path) else path for path in found]


async def resumption_of(job: Job, root: ContentsRoot) -> Resumption | Text:
    """Return how a job's script resumes from a checkpoint, or the sentence why that is not known.

    Parameters
    ----------
    job
        The job.
    root
        The contents root.
    """
    source = None
    if job.entrypoint_path is not None:
        try:
            source = await Reader(root).clicked(job.entrypoint_path)
        except JobError:
            source = None
    problem = resume_problem(job.spec, source)
    options = source.script.info.options if source is not None else []
    option = resume_option(options, job.spec.args)
    if problem is not None or option is None:
        return problem or NO_PATH
    return Resumption(option, options)


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
    resumption = await resumption_of(job, root)
    if isinstance(resumption, Text):
        return _without(found, resumption)
    offered = found.files[:MOST_OFFERED]
    paths = await resumption.paths(offered, job, root, engines)
    files = [
        file if path is None else _offer(file, resumption.arguments(job.spec.args, path))
        for file, path in zip(offered, paths, strict=True)
    ] + found.files[MOST_OFFERED:]
    update = {"files": files, "newest": files[0], "resume_option": resumption.option.flags[0]}
    result = found.model_copy(update=update)
    return result if any(paths) else _without(result, NO_PATH)


def _offer(file: CheckpointFile, args: list[str]) -> CheckpointFile:
    fix = Fix(label=_("Run again from {file}", file=file.path), changes={"/spec/args": args})
    return file.model_copy(update={"resume": fix})


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
