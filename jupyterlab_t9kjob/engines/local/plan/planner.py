"""What a spec becomes on this machine: the Pythons that run it, what speaks against it, and the plan of a run."""

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
    """Plans runs; creates nothing.

    Parameters
    ----------
    root
        The contents root, to name files as the contents API does.
    resolve_kernel
        Finds a kernel's Python.
    settings
        What an administrator may change.
    pool
        The machine's devices.
    """

    def __init__(self, root: Path | None, resolve_kernel: ResolveKernel, settings: Settings, pool: DevicePool) -> None:
        self._root = root
        self._resolve = resolve_kernel
        self._settings = settings
        self._pool = pool

    async def interpreters(self, spec: JobSpec) -> dict[str, Interpreter]:
        """Return the Python of each replica type; raises `FieldError` where there is none."""
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
        """Return what speaks against a spec, among jobs with these names."""
        checker = Checker(spec, interpreters, self._root, self._pool, names)
        files = [(field, path) for field, path in checker.files() if path.is_absolute()]
        field: str | None = None
        try:
            for at, path in files:
                field = at
                await on_disk(path, os.path.lexists, path)
            return await on_disk([path for _, path in files], checker.run)
        except Unavailable as error:
            return [Check(level="error", code=error.code, message=error.message, hint=error.hint, field=field)]

    def preview(self, spec: JobSpec, interpreters: Mapping[str, Interpreter], checks: list[Check]) -> Preview:
        """Return what a run would be, in words."""
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
        """Return the plan of a new run."""
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
