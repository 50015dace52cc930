"""`EngineContext`, the argument of an engine's factory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from .interpreter import LabKernels, ResolveKernel
from .protocol import Engine

T = TypeVar("T")


@dataclass(frozen=True)
class EngineContext:
    """Argument of an engine's factory: folders, kernels and configuration of the server.

    Attributes
    ----------
    home
        Folder for records of jobs. The engines of this package share it; an engine of another distribution gets one of
        its own. The folder may not exist yet.
    root
        The contents root, for converting paths to those of the contents API; None if files are not on this machine.
    resolve_kernel
        Returns the Python of a kernel.
    lab_kernels
        Returns the processes of this lab's kernels.
    parent
        The server extension, a traitlets `Configurable`. An engine with traits of its own makes its configurable with
        ``parent=context.parent``, so that an administrator sets them in Jupyter's configuration.
    once
        True if this process ends as soon as it has read the jobs once, as a command that lists them does: an engine may
        leave out what is only of use to a process that stays, such as to report changes and to save memory.
    """

    home: Path
    root: Path | None
    resolve_kernel: ResolveKernel
    lab_kernels: LabKernels
    parent: Any
    once: bool = False
    _shared: dict[object, Any] = field(default_factory=dict)

    def of_other(self, engine: str) -> EngineContext:
        """Return the context of another distribution's engine, whose home no other engine uses."""
        return replace(self, home=self.home / "engines" / engine)

    def shared(self, make: Callable[[EngineContext], T]) -> T:
        """Return the object that `make` creates for this server; only the first call creates it.

        Engines that share an object, such as the connection to a cluster, call this method with the same function.
        """
        if make not in self._shared:
            self._shared[make] = make(self)
        found: T = self._shared[make]
        return found


EngineFactory = Callable[[EngineContext], Engine | None]
"""Makes an engine; None if the configuration switches the engine off. An entry point of `engines.registry.GROUP`."""
