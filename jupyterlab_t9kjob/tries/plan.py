"""Turns a job into its try: two processes on this machine's processor, with outputs in a folder of their own."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.code.model import GitRepository
from ..core.engine.protocol import Prepare
from ..core.errors import FieldError
from ..core.lab import Lab, on_volume
from ..core.manifests.names import ENV_ARTIFACTS, ENV_RUNS
from ..core.spec import Entrypoint, EnvVar, JobSpec, ReplicaSpec, RunPolicy, Runtime, TensorBoardSpec, Torchrun
from ..core.system.disk_threads import on_disk
from ..core.translation import Text, _, _n, listing
from ..jobs.service import JobService
from ..launch.checks import refuses
from ..launch.entrypoint_reader import Reader
from ..launch.kernels.kernels import Kernels, refused
from ..launch.manifests import Submission
from ..launch.model import Kernel
from ..launch.mounts import to_lab
from ..launch.options.values import with_option
from ..launch.prefill import choose_kernel
from ..launch.scripts.source_text import FIELD
from ..launch.source_file import Source
from ..launch.training_checks import nccl_option
from .arguments import redirected
from .model import TryRequest

NAME: Final = "try"
_BEFORE: Final = {"WANDB_MODE": "disabled"}
"""Variables that keep a script from writing to services; the job's own variables replace them."""
_AFTER: Final = {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void"}
"""Variables that hide accelerators, so that a script that looks for them uses the processor."""


@dataclass
class TryPlan:
    """Plan of a try, or the reason for which the job can't be tried.

    Attributes
    ----------
    job
        The job as it would be submitted.
    lab, namespace
        The volumes that the lab shares with the job, and the job's namespace.
    elsewhere
        True if the job runs on another machine or in another Python than the try.
    unable
        Sentence that says why the job can't be tried; None if it can.
    hint
        What the user can do about that.
    spec
        Spec of the try; None if it can't be tried.
    source
        The script or notebook; None for a module outside of the form's file.
    kernel
        The kernel that runs the try.
    prepare
        Writes the script of a notebook.
    notes
        Sentences about differences between the try and the job.
    untried
        Parts of the job that the try leaves out.
    secrets
        Names of variables that come from Secrets, which the try does not have.
    """

    job: JobSpec
    lab: Lab = field(default_factory=Lab)
    namespace: str = ""
    elsewhere: bool = False
    unable: Text | None = None
    hint: Text | None = None
    spec: JobSpec | None = None
    source: Source | None = None
    kernel: Kernel | None = None
    prepare: Prepare | None = None
    notes: list[Text] = field(default_factory=list)
    untried: list[Text] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    @property
    def processes(self) -> int | None:
        """Number of ranks; None if the script starts its processes itself."""
        torchrun = self.spec.torchrun if self.spec is not None else None
        return torchrun.proc_per_node if torchrun is not None and torchrun.proc_per_node != "gpu" else None


class Unable(Exception):
    """A job can't be tried on this machine.

    Parameters
    ----------
    sentence
        Why.
    hint
        What the user can do.
    """

    def __init__(self, sentence: Text, hint: Text | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint


class Planner:
    """Plans tries.

    Parameters
    ----------
    root
        The contents root.
    kernels
        The lab's kernels.
    jobs
        All engines.
    """

    def __init__(self, root: ContentsRoot, kernels: Kernels, jobs: JobService) -> None:
        self._root = root
        self._reader = Reader(root)
        self._kernels = kernels
        self._engines = jobs.engines

    async def plan(self, wanted: Submission, request: TryRequest, folder: Path) -> TryPlan:
        """Return the plan of a try.

        Parameters
        ----------
        wanted
            The job.
        request
            Size and length of the try.
        folder
            Folder for events and checkpoints of the try.

        Raises
        ------
        FieldError
            If the script does not exist, is no Python, or lies outside of the contents root, as at a submission.
        """
        facts = self._engines.facts(request.engine)
        lab = None if facts.shares_lab_filesystem else await self._engines.lab(request.engine, wanted.namespace)
        job = _of_master(wanted.spec)
        plan = TryPlan(job, lab or Lab(), wanted.namespace, elsewhere=not facts.runs_in_kernel)
        here = job
        if not facts.shares_lab_filesystem:
            here = await asyncio.to_thread(to_lab, job, plan.lab, wanted.namespace)
        try:
            _demand_files(wanted.spec, job.entrypoint)
            plan.source = await self._source(plan, here, request.path)
            plan.kernel = await self._kernel(plan, in_kernel=facts.runs_in_kernel)
            if plan.source is not None and plan.source.error is not None and refuses(plan.source.error, plan.kernel):
                raise plan.source.error
            args = await on_disk(folder, _arguments, plan, folder)
        except Unable as unable:
            plan.unable, plan.hint = unable.sentence, unable.hint
            return plan
        plan.prepare = self._reader.writer(plan.source)
        plan.spec = _spec(plan, here, args, request, folder)
        plan.untried = _untried(plan)
        if isinstance(wanted.spec.source, GitRepository):
            plan.untried.append(_("The commit of the git repository: the try runs the files of your folder."))
        return plan

    async def _source(self, plan: TryPlan, here: JobSpec, clicked: str | None) -> Source | None:
        """Read the file that the try runs; None for a module outside of the form's file."""
        entrypoint = here.entrypoint
        if entrypoint.kind == "command":
            raise Unable(
                _("A command is not tried: only the job's image may have the program."),
                _("Scripts, modules and notebooks can be tried."),
            )
        folder = here.working_dir if plan.elsewhere else None  # The engine refuses a folder of its own machine.
        if folder and not await on_disk(folder, os.path.isdir, folder):
            raise _not_here(plan, plan.job.working_dir or folder)
        if entrypoint.kind == "module":
            return await self._reader.module(entrypoint.value, clicked)
        path = Path(entrypoint.value)
        if not path.is_absolute():
            message = _("The entrypoint must be an absolute path.")
            raise FieldError(message, field=FIELD, hint=_("Begin the path with a slash."))
        shown = await on_disk([path, self._root.folder], self._root.shown, path)
        if plan.elsewhere and not await on_disk(path, os.path.lexists, path):
            on_lab = await asyncio.to_thread(
                plan.lab.in_lab, plan.job.entrypoint.value, plan.job.mounts, plan.namespace
            )
            if on_lab is None:
                raise _not_here(plan, plan.job.entrypoint.value)
        return await self._reader.read(entrypoint, shown or path, FIELD, here.args)

    async def _kernel(self, plan: TryPlan, *, in_kernel: bool) -> Kernel:
        """Return the kernel of the job, or for a job in an image the notebook's kernel or the first with torch."""
        if in_kernel:
            return (await self._kernels.usable(plan.job.runtime.kernel))[0]
        found = choose_kernel(await self._kernels.all(), plan.source.kernel if plan.source else None)
        if found is None:
            raise Unable(_("This JupyterLab has no Python kernel that could run the script."))
        refusal = refused(found)
        if refusal is not None:
            raise Unable(refusal.message, refusal.hint)
        return found


def _of_master(spec: JobSpec) -> JobSpec:
    """Return a spec whose entrypoint, arguments and variables are those of the first replica."""
    first = spec.replica_specs[0]
    changes = {
        "entrypoint": first.entrypoint or spec.entrypoint,
        "args": spec.args if first.args is None else first.args,
        "env": [*spec.env, *(first.env or [])],
        "source": None,  # The try runs the files as they are; a snapshot would copy the same ones.
    }
    return spec.model_copy(update=changes)


def _demand_files(spec: JobSpec, entrypoint: Entrypoint) -> None:
    """Raise `Unable` if only the job's own clone of a git repository has the script or module."""
    source = spec.source
    relative = entrypoint.kind == "script" and not entrypoint.value.startswith("/")
    if isinstance(source, GitRepository) and (relative or (entrypoint.kind == "module" and source.worktree is None)):
        raise Unable(
            _("The script is in a git repository that is cloned only for the job."),
            _("A try needs the files on this machine."),
        )


def _not_here(plan: TryPlan, path: str) -> Unable:
    found = on_volume(path, plan.job.mounts)
    hint = _("A try needs the files on this machine.")
    if found is not None:
        return Unable(_("This machine does not have {path} of the PVC {claim}.", path=path, claim=found[0]), hint)
    return Unable(_("{path} does not exist on this machine; the job's image may have it.", path=path), hint)


def _arguments(plan: TryPlan, folder: Path) -> list[str]:
    """Return the arguments of the try (blocking).

    Raises
    ------
    Unable
        If the script uses nccl, and no option changes that.
    """
    args, source = plan.job.args, plan.source
    folder.mkdir(parents=True, exist_ok=True)
    if source is None or source.error is not None:
        return args
    chosen = nccl_option(plan.job, source)
    if chosen is not None:
        finding, option = chosen
        if option is None or not option.flags:
            raise Unable(
                _("{script} uses the backend nccl, which needs GPUs. A try has none.", script=source.path.name),
                _("To try it, use gloo where torch.cuda.is_available() is False (line {line}).", line=finding.line),
            )
        args = with_option(args, option, "gloo", source.script.info.options)
        plan.notes.append(_("{option} is gloo instead of nccl.", option=option.flags[0]))
    args, changed = redirected(args, source, folder)
    if changed:
        note = _("{options}: a temporary folder, which is deleted afterwards.", options=listing(changed))
        plan.notes.append(note)
    return args


def _spec(plan: TryPlan, here: JobSpec, args: list[str], request: TryRequest, folder: Path) -> JobSpec:
    job = plan.job
    plan.secrets = [variable.name for variable in job.env if variable.secret is not None]
    own = {variable.name: variable.value or "" for variable in job.env if variable.secret is None}
    records = {ENV_RUNS: str(folder / "em" / "runs"), ENV_ARTIFACTS: str(folder / "em" / "artifacts")}
    env = {**_BEFORE, **own, **_AFTER, **records}
    cwd = here.working_dir or (str(Path(here.entrypoint.value).parent) if here.entrypoint.kind != "module" else None)
    if cwd is not None:
        plan.notes.append(_("Other files that the script writes go to {folder}, as in the job.", folder=cwd))
    starts_itself = job.torchrun is None
    return JobSpec(
        name=NAME,
        entrypoint=here.entrypoint,
        args=args,
        working_dir=cwd,
        env=[EnvVar(name=name, value=value) for name, value in env.items()],
        runtime=Runtime(kernel=plan.kernel.name if plan.kernel is not None else None),
        replica_specs=[ReplicaSpec(restart_policy="Never")],
        torchrun=None if starts_itself else Torchrun(proc_per_node=request.processes),
        run_policy=RunPolicy(backoff_limit=0, active_deadline_seconds=request.seconds),
        tensorboard=TensorBoardSpec(log_dirs=[str(folder / "events")]),
    )


def _untried(plan: TryPlan) -> list[Text]:
    """Return the parts of a job that its try leaves out, each as a sentence."""
    job, found = plan.job, list[Text]()
    group, each = job.replica_specs[0], job.torchrun.proc_per_node if job.torchrun is not None else 1
    nodes = job.initial_replicas
    gpus = group.resources.device_count * nodes
    if gpus:
        found.append(
            _n("{n} GPU and nccl: the try uses the processor.", "{n} GPUs and nccl: the try uses the processor.", gpus)
        )
    elif each == "gpu":
        found.append(_("GPUs and nccl: the try uses the processor."))
    if nodes > 1:
        found.append(_("The network between {n} nodes: the try runs on one.", n=nodes))
    if plan.elsewhere and job.runtime.image and plan.kernel is not None:
        found.append(
            _(
                "The image {image}: the try runs in the kernel “{kernel}”.",
                image=job.runtime.image,
                kernel=plan.kernel.display_name,
            )
        )
    mounted = {mount.claim for mount in plan.lab.mounts}
    unseen = [mount.mount_path for mount in job.mounts if mount.claim not in mounted]
    if unseen and plan.elsewhere:
        found.append(_("The volumes at {paths}, which JupyterLab does not have.", paths=listing(unseen)))
    if plan.secrets:
        found.append(_("Values from Secrets: {names} are not set.", names=listing(plan.secrets)))
    return found
