"""Kernels in which local jobs can run, and the packages that are installed in them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shlex
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from inspect import isawaitable
from pathlib import Path
from typing import Any

import anyio

from ...core.engine.interpreter import Interpreter
from ...core.errors import FieldError, Unavailable
from ...core.system.disk_threads import on_disk
from ...core.translation import _, sentences
from ..model import Kernel, TorchInfo
from .interpreters import Resolved, resolve

FIELD = "/spec/runtime/kernel"
PROBE = Path(__file__).with_name("probe.py").read_text(encoding="utf-8")
PROBE_SECONDS = 20.0
SILENT_SECONDS = 60.0
"""Time for which a Python that did not answer is not probed again, unless its file changes."""
ENDING_SECONDS = 1.0
"""Time to wait for the end of a killed Python."""
PROBES_AT_ONCE = 2
MAX_FOLDERS = 200

log = logging.getLogger(__name__)


@dataclass
class _Findings:
    """Answer of a kernel's Python to the probe, and the `_stamp` at that time."""

    python: str
    torch: TorchInfo
    found: dict[str, bool]
    folders: list[str]
    stamp: tuple[int, ...] = field(default=())


class Kernels:
    """The server's kernelspecs.

    Parameters
    ----------
    manager
        The server's kernel spec manager, sync or async.
    default
        Name of the default kernel.
    """

    def __init__(self, manager: Any, default: str) -> None:
        self._manager = manager
        self.default = default
        self._findings: dict[tuple[str, str], _Findings] = {}
        self._silent: dict[tuple[str, str], tuple[float, tuple[int, ...]]] = {}
        self._probing: dict[tuple[str, str], asyncio.Lock] = {}
        self._slots = asyncio.Semaphore(PROBES_AT_ONCE)

    async def all(self, *, probed: bool = True) -> list[Kernel]:
        """Return all kernels, the default one first, then by display name.

        Parameters
        ----------
        probed
            True to probe kernels for torch; False to return only what earlier probes found.
        """
        specs = await self._specs()
        kernels = await asyncio.gather(*(self._kernel(name, specs[name], probed=probed) for name in specs))
        return sorted(kernels, key=lambda k: (k.name != self.default, not k.enabled, k.display_name.lower(), k.name))

    async def get(self, name: str | None, *, probed: bool = True) -> Kernel:
        """Return a kernel.

        Parameters
        ----------
        name
            Name of the kernel; None for the default one.
        probed
            See `all`.

        Raises
        ------
        FieldError
            If there is no such kernel.
        """
        name = name or self.default
        return await self._kernel(name, await self._spec(name), probed=probed)

    async def usable(self, name: str | None) -> tuple[Kernel, dict[str, str]]:
        """Return a kernel in which a job can run, and the variables that it adds to the environment.

        Raises
        ------
        FieldError
            If the kernel does not exist, is not a Python of this machine, or does not have torch.
        """
        name = name or self.default
        spec = await self._spec(name)
        kernel = await self._kernel(name, spec)
        refusal = refused(kernel)
        if refusal is not None:
            raise refusal
        return kernel, (await _resolved(spec)).env

    async def interpreter(self, name: str | None) -> Interpreter:
        """Return the Python of a kernel in which a job can run; the parameters and errors are those of `usable`."""
        kernel, env = await self.usable(name)
        assert kernel.python is not None  # noqa: S101
        return Interpreter(python=kernel.python, env=env, kernel=kernel.name)

    async def missing(self, name: str | None, modules: Iterable[str]) -> list[str]:
        """Return the modules that a kernel does not have, without importing them.

        Parameters
        ----------
        name
            Name of the kernel; None for the default one.
        modules
            Names of the modules. None of them is returned if the kernel does not answer.
        """
        resolved = await _resolved(await self._spec(name or self.default))
        asked = [module for module in dict.fromkeys(modules) if all(map(str.isidentifier, module.split(".")))]
        findings = await self._probe(resolved, asked)
        return [module for module in asked if findings is not None and findings.found.get(module) is False]

    async def torch_in(self, python: str) -> TorchInfo | None:
        """Return the torch of a Python of this machine, given its path; None if it does not answer."""
        findings = await self._probe(Resolved(python=python))
        return findings.torch if findings else None

    async def _specs(self) -> dict[str, dict[str, Any]]:
        answer = await on_disk(getattr(self._manager, "kernel_dirs", []), self._manager.get_all_specs)
        specs: dict[str, dict[str, Any]] = await answer if isawaitable(answer) else answer
        return specs

    async def _spec(self, name: str) -> dict[str, Any]:
        specs = await self._specs()
        if name not in specs:
            raise FieldError(
                _("There is no kernel “{kernel}”.", kernel=name),
                code="KernelGone",
                field=FIELD,
                hint=_("Choose another kernel, or install it again."),
            )
        return specs[name]

    async def _kernel(self, name: str, entry: dict[str, Any], *, probed: bool = True) -> Kernel:
        resolved = await _resolved(entry)
        findings = (
            await self._probe(resolved) if probed else self._findings.get((resolved.python or "", str(resolved.env)))
        )
        spec = entry.get("spec") or {}
        return Kernel(
            name=name,
            display_name=str(spec.get("display_name") or name),
            python=resolved.python,
            python_version=findings.python if findings else None,
            enabled=resolved.reason is None,
            reason=resolved.reason,
            torch=findings.torch if findings else None,
        )

    async def _probe(self, resolved: Resolved, modules: Iterable[str] = ()) -> _Findings | None:
        try:
            return await self._findings_of(resolved, modules)
        except Unavailable as error:
            log.warning("The Python %s did not say what is installed. %s", resolved.python, error.message)
            return None

    async def _findings_of(self, resolved: Resolved, modules: Iterable[str]) -> _Findings | None:
        """Return what is installed, from an earlier probe if nothing has changed since."""
        if resolved.python is None:
            return None
        key = (resolved.python, str(resolved.env))
        async with self._probing.setdefault(key, asyncio.Lock()):
            known = self._findings.get(key)
            if known and await _stamp(resolved.python, known.folders) != known.stamp:
                known = None
            wanted = [module for module in modules if known is None or module not in known.found]
            if known and not wanted:
                return known
            now, program = time.monotonic(), await _stamp(resolved.python, [])
            since, same = self._silent.get(key, (-SILENT_SECONDS, program))
            if now - since < SILENT_SECONDS and same == program:
                return known
            async with self._slots:
                answer = await _ask(resolved, wanted)
            if answer is None:
                self._silent[key] = (time.monotonic(), program)
                return known
            found = {**(known.found if known else {}), **answer.found}
            stamp = await _stamp(resolved.python, answer.folders)
            self._findings[key] = _Findings(answer.python, answer.torch, found, answer.folders, stamp)
            return self._findings[key]


def refused(kernel: Kernel) -> FieldError | None:
    """Return the error that says why a job can't run in a kernel; None if it can."""
    if not kernel.enabled:
        cannot = _("“{kernel}” can't run a job on this machine.", kernel=kernel.display_name)
        return FieldError(
            sentences(cannot, kernel.reason) or cannot,
            code="KernelNotLocal",
            field=FIELD,
            hint=_("Choose another kernel."),
        )
    if kernel.torch is not None and kernel.torch.version is None:
        return FieldError(
            _("PyTorch is not installed in “{kernel}”.", kernel=kernel.display_name),
            code="TorchMissing",
            field=FIELD,
            hint=_("Install it with: {command}", command=install_command(kernel, "torch")),
        )
    return None


def install_command(kernel: Kernel, *packages: str) -> str:
    """Return the shell command that installs packages in a kernel.

    Parameters
    ----------
    kernel
        The kernel. ``python`` stands for a Python that is not known.
    *packages
        Names of the packages, with versions if necessary.
    """
    return shlex.join([kernel.python or "python", "-m", "pip", "install", *packages])


async def _resolved(entry: dict[str, Any]) -> Resolved:
    try:
        return await on_disk([part for part in _argv(entry)[:1] if os.path.isabs(part)], _resolve, entry)  # noqa: PTH117
    except Unavailable as error:
        return Resolved(reason=error.message)


def _argv(entry: dict[str, Any]) -> list[str]:
    argv = (entry.get("spec") or {}).get("argv")
    return [str(part) for part in argv] if isinstance(argv, list) else []


def _resolve(entry: dict[str, Any]) -> Resolved:
    if "resource_dir" not in entry:
        return Resolved(reason=_("It runs on a gateway, not on this machine."))
    return resolve(entry.get("spec") or {}, str(entry["resource_dir"]))


async def _stamp(python: str, folders: list[str]) -> tuple[int, ...]:
    prefix = Path(python).parent.parent
    elsewhere = [folder for folder in folders if not Path(folder).is_relative_to(prefix)]
    return await on_disk([python, *elsewhere], _changes, python, folders)


def _changes(python: str, folders: list[str]) -> tuple[int, ...]:
    """Return what changes when a package is installed or the interpreter replaced."""

    def changed(path: str) -> int:
        try:
            return os.stat(path).st_mtime_ns  # noqa: PTH116
        except OSError:
            return 0

    return tuple(changed(path) for path in (python, *folders))


async def _ask(resolved: Resolved, modules: list[str]) -> _Findings | None:
    """Run the probe; None if it fails or takes too long, which is logged."""
    assert resolved.python is not None  # noqa: S101
    try:
        process = await asyncio.create_subprocess_exec(
            *(resolved.python, "-c", PROBE),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **resolved.env},
            cwd=Path(resolved.python).parent,
            start_new_session=True,
        )
    except OSError as error:
        log.warning("The Python %s can't be started: %s", resolved.python, error.strerror)
        return None
    try:
        request = json.dumps({"modules": modules}).encode()
        output, _errors = await asyncio.wait_for(process.communicate(request), PROBE_SECONDS)
        answer = json.loads(output.rstrip().rpartition(b"\n")[2])
        found = {module: module in answer["found"] for module in modules}
        torch = TorchInfo(version=answer["torch"], devices=answer["devices"])
        return _Findings(answer["python"], torch, found, answer["folders"][:MAX_FOLDERS])
    except asyncio.TimeoutError:
        log.warning("The Python %s did not say within %g s what is installed.", resolved.python, PROBE_SECONDS)
    except (ValueError, KeyError, TypeError):
        log.warning("The Python %s did not say what is installed.", resolved.python)
    finally:
        if process.returncode is None:
            _kill(process)
            with anyio.move_on_after(ENDING_SECONDS):  # A process that waits for a disk can't be killed.
                await process.wait()
    return None


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a Python with its child processes; it may be a script that started the real one."""
    if os.name == "nt":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
