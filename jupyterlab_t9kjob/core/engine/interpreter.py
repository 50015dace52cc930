"""The Python of a kernel, and how engines find one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Interpreter:
    """The Python of a kernel.

    Attributes
    ----------
    python
        Path of the executable.
    env
        Environment variables that the kernelspec adds to the server's.
    kernel
        Name of the kernelspec.
    """

    python: str
    env: Mapping[str, str] = field(default_factory=dict)
    kernel: str = "python3"


ResolveKernel = Callable[[str | None], Awaitable[Interpreter]]
"""Returns the Python of a kernel by the name of its kernelspec (None: the default); raises `FieldError`."""

LabKernels = Callable[[], Awaitable[Mapping[int, str]]]
"""Returns the processes of this lab's kernels: a description by process id."""
