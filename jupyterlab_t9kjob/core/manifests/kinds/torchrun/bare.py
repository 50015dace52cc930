"""Reads commands with a torchrun that gets its rendezvous from the variables ``PET_*`` of an operator.

Options: torch 2.13 ``torch/distributed/run.py``. Each is accepted with dashes and with underscores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from ....spec import Elastic, Entrypoint
from ...entrypoints import Argv, Program, command_from, program_from
from .launcher import LAUNCHER

_MODULE: Final = "torch.distributed.run"
FLAGS: Final = frozenset(("standalone", "no_python", "run_path", "module", "m", "use_env", "virtual_local_rank"))
"""Options without a value."""
_OWN_RENDEZVOUS: Final = frozenset(
    ("standalone", "nnodes", "node_rank", "master_addr", "master_port", "local_addr", "run_path", "use_env")
)
"""Options with which torchrun's replicas are other ones than those of the operator; also those that begin with rdzv."""
_PROCESSES: Final = frozenset(("nproc_per_node", "nproc"))

Processes = int | Literal["gpu"]


@dataclass(frozen=True)
class Bare:
    """A torchrun without a rendezvous of its own.

    Attributes
    ----------
    program
        The program that it starts.
    processes, max_restarts
        Values of the options; None for an option that is not given.
    options
        All other options.
    """

    program: Program
    processes: Processes | None = None
    max_restarts: int | None = None
    options: tuple[str, ...] = ()

    def has_options_of(self, other: Bare) -> bool:
        """Return True if both give torchrun the same options."""
        return (self.processes, self.max_restarts, self.options) == (
            other.processes,
            other.max_restarts,
            other.options,
        )


@dataclass(frozen=True)
class Told:
    """Facts that an operator gives torchrun by the variables ``PET_*``.

    Attributes
    ----------
    processes
        Processes of each replica; None if they are not known before the job runs.
    elastic
        Bounds of an elastic job.
    max_restarts
        Restarts of torchrun's processes.
    fields
        Paths of the fields of the manifest that say so.
    """

    processes: Processes | None = None
    elastic: Elastic | None = None
    max_restarts: int = 0
    fields: tuple[tuple[str, ...], ...] = ()


def read_bare(argv: Argv, cwd: str | None) -> Bare | None:
    """Return the torchrun of a container's command; None for another command, or one with a rendezvous of its own.

    Parameters
    ----------
    argv
        The container's command and args.
    cwd
        Working directory in the container; None if it is not known.
    """
    words = [*(argv.command or []), *argv.args]
    if words and PurePosixPath(words[0]).name == LAUNCHER:
        words = words[1:]
    elif words[1:3] == ["-m", _MODULE] and PurePosixPath(words[0]).name in ("python", "python3"):
        words = words[3:]
    else:
        return None
    options = _Options()
    while words and words[0].startswith("-"):
        taken = options.take(words)
        if taken is None:
            return None
        words = words[taken:]
    if not words or not words[0]:
        return None
    program = program_from(words, cwd)
    if options.given & {"m", "module"}:
        program = Program(Entrypoint(kind="module", value=words[0]), words[1:])
    elif "no_python" in options.given:
        program = command_from(words)
    return Bare(program, options.processes, options.max_restarts, tuple(options.others))


@dataclass
class _Options:
    """Options of torchrun that have been read so far."""

    given: set[str] = field(default_factory=set)
    processes: Processes | None = None
    max_restarts: int | None = None
    others: list[str] = field(default_factory=list)

    def take(self, words: list[str]) -> int | None:
        """Read the first option; return the number of its words, None for one that can't be understood."""
        name, equals, value = words[0].partition("=")
        name = name.lstrip("-").replace("-", "_")
        if not name or name in _OWN_RENDEZVOUS or name.startswith("rdzv"):
            return None
        count = 1 if equals or name in FLAGS else 2
        if count > len(words):
            return None
        value = value if equals else words[count - 1]
        self.given.add(name)
        if name in _PROCESSES:
            self.processes = processes_of(value)
            return None if self.processes is None else count
        if name == "max_restarts":
            self.max_restarts = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
            return None if self.max_restarts is None else count
        if name not in ("m", "module", "no_python"):
            self.others += words[:count]
        return count


def processes_of(value: Any) -> Processes | None:
    """Return a number of processes as a spec has it; None for any other value, such as ``auto``."""
    text = str(value)
    if text == "gpu":
        return "gpu"
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 1024 and len(text) < 5 else None


def writes_logs(bare: Bare) -> bool:
    """Return True if an option says where torchrun writes the output of its processes."""
    names = {option.partition("=")[0].replace("_", "-") for option in bare.options}
    return not names.isdisjoint(("--log-dir", "--tee", "-t", "--redirects", "-r"))
