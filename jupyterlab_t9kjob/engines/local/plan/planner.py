"""Plans runs on this machine: finds the kernels' Pythons, checks specs, and makes previews and plans."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path, PurePath

from ....core.checks import Check, Preview
from ....core.code.model import CodeSnapshot, CodeSource, GitRepository
from ....core.engine.interpreter import Interpreter, ResolveKernel
from ....core.errors import FieldError, Unavailable
from ....core.manifests.entrypoints import RECORD_FOLDER
from ....core.manifests.names import ENV_ARTIFACTS, ENV_RUNS
from ....core.running.recorder import inheriting
from ....core.running.source import PYTHON_PATH, running
from ....core.spec import EnvVar, JobSpec
from ....core.sweep import member_of
from ....core.system.disk_threads import on_disk
from ....core.system.locks import runtime_directory
from ..devices.pool import DevicePool
from ..settings import Settings
from ..supervisor.records.record import ClonePlan, DiagnosticsPlan, RunPlan, SweepPlan
from .checks import Checker
from .command import command_text, log_directory, plan_first, plan_replicas, size_text, working_directory


class Planner:
    """Plans runs, without creating jobs.

    Parameters
    ----------
    root
        Root folder of the contents API.
    resolve_kernel
        Finds a kernel's Python.
    settings
        Settings of the administrator.
    pool
        The machine's accelerators.
    """

    def __init__(self, root: Path | None, resolve_kernel: ResolveKernel, settings: Settings, pool: DevicePool) -> None:
        self.root = root
        self.resolve = resolve_kernel
        self._settings = settings
        self._pool = pool
        # A contents root such as / can't hold the runs of jobs.
        self._records = root if root is not None and os.access(root, os.W_OK) else None

    async def interpreters(self, spec: JobSpec) -> dict[str, Interpreter]:
        """Return the Python of each replica type.

        Raises
        ------
        FieldError
            If a kernel does not exist or has no Python.
        """
        found: dict[str, Interpreter] = {}
        known: dict[str | None, Interpreter] = {}
        for index, group in enumerate(spec.replica_specs):
            own = group.runtime.kernel if group.runtime is not None else None
            kernel = own or spec.runtime.kernel
            try:
                known[kernel] = found[group.type] = known.get(kernel) or await self.resolve(kernel)
            except FieldError as error:
                if own:
                    error.field = f"/spec/replica_specs/{index}/runtime/kernel"
                raise
        return found

    def with_kernel(self, spec: JobSpec, interpreters: Mapping[str, Interpreter]) -> JobSpec:
        """Return the spec with the name of the kernel that runs it, also where it asks for the default kernel.

        The default kernel may be another one when the job is compared or run again.

        Parameters
        ----------
        spec
            The spec.
        interpreters
            Python of each replica type.
        """
        if spec.runtime.kernel is not None:
            return spec
        own = {group.type for group in spec.replica_specs if group.runtime is not None and group.runtime.kernel}
        name = next((interpreter.kernel for kind, interpreter in interpreters.items() if kind not in own), None)
        return spec.model_copy(update={"runtime": spec.runtime.model_copy(update={"kernel": name})})

    async def check(self, spec: JobSpec, interpreters: Mapping[str, Interpreter], names: set[str]) -> list[Check]:
        """Return the checks of a spec, errors first.

        Parameters
        ----------
        spec
            The spec.
        interpreters
            Python of each replica type.
        names
            Names of the jobs that exist.
        """
        taken = spec.source.taken if isinstance(spec.source, CodeSnapshot) else None
        if taken is not None and await on_disk(taken.path, os.path.isdir, taken.path):
            spec = self._running(spec, interpreters)  # The user's own files need not exist any more.
        checker = Checker(spec, interpreters, self.root, self._pool, names)
        files = [(field, path) for field, path in checker.files() if path.is_absolute()]
        field: str | None = None
        try:
            for at, path in files:
                field = at
                await on_disk(path, os.path.lexists, path)
            return await on_disk([path for _field, path in files], checker.run)
        except Unavailable as error:
            return [Check(level="error", code=error.code, message=error.message, hint=error.hint, field=field)]

    def preview(self, spec: JobSpec, interpreters: Mapping[str, Interpreter], checks: list[Check]) -> Preview:
        """Return the preview of a run.

        Parameters
        ----------
        spec
            The spec.
        interpreters
            Python of each replica type.
        checks
            Checks of the spec.
        """
        spec = self._running(spec, interpreters)
        first = spec.replica_specs[0]
        plan = plan_first(spec, first, interpreters[first.type], self.root)
        kernel_env = interpreters[first.type].env
        return Preview(
            command=command_text(plan, working_directory(spec, self.root), spec.total_replicas),
            environment={name: value for name, value in plan["env"].items() if kernel_env.get(name) != value},
            summary=size_text(spec),
            checks=checks,
        )

    def plan(self, spec: JobSpec, interpreters: Mapping[str, Interpreter]) -> RunPlan:
        """Return the plan of a new run, with a new uid (blocking).

        Parameters
        ----------
        spec
            A spec without errors.
        interpreters
            Python of each replica type.
        """
        uid, source = uuid.uuid4().hex, spec.source
        spec = self._running(spec, interpreters)
        plan = RunPlan(
            uid=uid,
            name=spec.name,
            lock=str(runtime_directory() / f"{uid}.lock"),
            cwd=str(working_directory(spec, self.root)),
            replicas=plan_replicas(spec, interpreters, self.root),
            backoff_limit=spec.run_policy.backoff_limit,
            backoff_seconds=self._settings.backoff_seconds,
            deadline_seconds=spec.run_policy.active_deadline_seconds,
            grace_seconds=self._settings.grace_seconds,
            rendezvous_port=self._settings.rendezvous_port,
            log_bytes=self._settings.log_bytes,
            devices=self._pool.plan(),
        )
        if self._settings.niceness:
            plan["niceness"] = self._settings.niceness
        member = member_of(spec.annotations)
        if member is not None:
            plan["sweep"] = SweepPlan(
                queue=member.queue, number=member.number, at_a_time=member.at_a_time, on_failure=member.on_failure
            )
        if spec.diagnostics.any:
            plan["diagnostics"] = DiagnosticsPlan(
                stacks=spec.diagnostics.stacks, collectives=spec.diagnostics.collectives
            )
        code = clone_plan(source)
        if code is not None:
            plan["code"] = code
        return plan

    def _running(self, spec: JobSpec, interpreters: Mapping[str, Interpreter]) -> JobSpec:
        """Return the spec of the processes: with a snapshot, its files, and the user's own working directory."""
        record = (self._records or working_directory(spec, self.root)) / RECORD_FOLDER
        folders = {ENV_RUNS: record / "runs", ENV_ARTIFACTS: record / "artifacts"}
        kernel = interpreters[spec.replica_specs[0].type]
        python_path = kernel.env.get(PYTHON_PATH) or os.environ.get(PYTHON_PATH, "")
        env = [EnvVar(name=name, value=str(folder)) for name, folder in folders.items()]
        spec = spec.model_copy(update={"env": [*env, *inheriting(spec.env, python_path)]})
        if spec.source is None:
            return spec
        log_dirs = spec.tensorboard.log_dirs or [str(log_directory(spec, self.root))]
        board = spec.tensorboard.model_copy(update={"log_dirs": log_dirs})
        changes = {"working_dir": str(working_directory(spec, self.root)), "tensorboard": board}
        return running(spec, python_path).model_copy(update=changes)


def clone_plan(source: CodeSource | None) -> ClonePlan | None:
    """Return the plan of a job's clone; None if the job runs no git repository."""
    if not isinstance(source, GitRepository) or source.path is None or source.commit is None:
        return None
    return ClonePlan(
        folder=str(PurePath(source.path).parent),
        address=source.address,
        ref=source.ref,
        commit=source.commit.id,
        submodules=source.submodules,
        history=source.history,
        protocols=source.allowed_protocols(),
    )
