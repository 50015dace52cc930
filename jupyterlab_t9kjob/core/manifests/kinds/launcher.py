"""The torchrun command that the job itself writes, for kinds whose controller has no field for torchrun."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from ...spec import JobSpec, Torchrun
from ..entrypoints import NO_PYTHON, Argv, Program, log_options, program_from, program_from_plain, words_of

LAUNCHER: Final = "torchrun"
LONE_ENDPOINT: Final = "localhost:0"
"""Rendezvous of a job with one replica."""
HOST: Final = "--rdzv_conf=is_host="
_FIRST: Final = "--nnodes="


def launcher_options(spec: JobSpec, endpoint: str, host: list[str]) -> list[str]:
    """Return torchrun's options.

    All options are written in full. The variables that controllers set (``PET_*``) depend on their versions, and
    torchrun's default rendezvous can't restart after a node is lost (kube-engines.md §3.4). The user's options come
    first: when the command is read, ``--nnodes`` marks their end.

    Parameters
    ----------
    spec
        The job; torchrun is on.
    endpoint
        Host and port of the rendezvous.
    host
        The option that says whether this replica hosts the rendezvous; empty to let torchrun find out.
    """
    torchrun = spec.torchrun
    assert torchrun is not None  # noqa: S101
    elastic = spec.elastic
    nodes = f"{elastic.min}:{elastic.max}" if elastic else str(spec.total_replicas)
    return [
        *torchrun.extra_options,
        f"{_FIRST}{nodes}",
        f"--nproc_per_node={torchrun.proc_per_node}",
        f"--max_restarts={torchrun.max_restarts}",
        f"--rdzv_backend={torchrun.rdzv_backend}",
        f"--rdzv_id={spec.name}",
        f"--rdzv_endpoint={endpoint}",
        *host,
        *log_options(spec),
    ]


def launched_words(program: Program, cwd: str | None) -> list[str]:
    """Return the words that follow torchrun's options.

    Parameters
    ----------
    program
        The program that torchrun starts.
    cwd
        Working directory in the container; None if it is not known.
    """
    mode = [NO_PYTHON] if program.entrypoint.kind == "command" else []
    return [*mode, *words_of(program, cwd)]


def read_launcher(argv: Argv, cwd: str | None) -> tuple[Torchrun | None, Program | None]:
    """Return torchrun's settings and the program of a command of `launcher_options`; None for any other command.

    Parameters
    ----------
    argv
        The container's command and args.
    cwd
        Working directory in the container; None if it is not known.
    """
    if argv.command != [LAUNCHER]:
        return None, None
    extra = list(takewhile(lambda word: not word.startswith(_FIRST), argv.args))
    rest = argv.args[len(extra) :]
    names = (_FIRST, "--nproc_per_node=", "--max_restarts=", "--rdzv_backend=c10d", "--rdzv_id=", "--rdzv_endpoint=")
    if len(rest) < len(names) or not all(word.startswith(name) for word, name in zip(rest, names, strict=False)):
        return None, None
    processes, restarts = rest[1].partition("=")[2], rest[2].partition("=")[2]
    words = rest[len(names) :]
    for name in (HOST, "--log_dir=", "--tee="):
        if words and words[0].startswith(name):
            words.pop(0)
    count = int(processes) if processes.isascii() and processes.isdigit() and len(processes) < 5 else 0
    if not restarts.isascii() or not restarts.isdigit() or len(restarts) > 9:
        return None, None
    if processes != "gpu" and not 1 <= count <= 1024:
        return None, None
    torchrun = Torchrun(
        proc_per_node="gpu" if processes == "gpu" else count,
        max_restarts=int(restarts),
        extra_options=extra,
    )
    if words[:1] == [NO_PYTHON]:
        return torchrun, program_from_plain(Argv(None, words[1:]), cwd)
    return torchrun, program_from(words, cwd)
