"""Plans runs on this machine: finds the kernels' Pythons, checks specs, and makes previews and plans."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from ....core.checks import Check, Preview
from ....core.errors import FieldError, Unavailable
from ....core.interpreter import Interpreter, ResolveKernel
from ....core.spec import JobSpec
from ....core.system.disk_threads import on_disk
from ....core.system.locks import runtime_directory
from ..devices.pool import DevicePool
from ..settings import Settings
from ..supervisor.record import RunPlan
from .checks import Checker
from .command import command_text, plan_first, plan_replicas, size_text, working_directory


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
        self._root = root
        self._resolve = resolve_kernel
        self._settings = settings
        self._pool = pool

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
                known[kernel] = found[group.type] = known.get(kernel) or await self._resolve(kernel)
            except FieldError as error:
                if own:
                    error.field = f"/spec/replica_specs/{index}/runtime/kernel"
                raise
        return found

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
        checker = Checker(spec, interpreters, self._root, self._pool, names)
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
        first = spec.replica_specs[0]
        plan = plan_first(spec, first, interpreters[first.type], self._root)
        kernel_env = interpreters[first.type].env
        return Preview(
            command=command_text(plan, working_directory(spec, self._root), spec.total_replicas),
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
        uid = uuid.uuid4().hex
        return RunPlan(
            uid=uid,
            name=spec.name,
            lock=str(runtime_directory() / f"{uid}.lock"),
            cwd=str(working_directory(spec, self._root)),
            replicas=plan_replicas(spec, interpreters, self._root),
            backoff_limit=spec.run_policy.backoff_limit,
            backoff_seconds=self._settings.backoff_seconds,
            deadline_seconds=spec.run_policy.active_deadline_seconds,
            grace_seconds=self._settings.grace_seconds,
            rendezvous_port=self._settings.rendezvous_port,
            log_bytes=self._settings.log_bytes,
            devices=self._pool.plan(),
        )
