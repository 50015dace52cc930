"""Commands of training containers, for kinds whose controller has no field for torchrun."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any, Final

from ....spec import JobSpec, ReplicaSpec, Torchrun
from ...entrypoints import (
    NO_PYTHON,
    Argv,
    Program,
    command_from,
    log_options,
    plain_argv,
    program_from,
    program_from_plain,
    program_of,
    words_of,
    working_directory,
)
from ..pod_template import canonical_template, compact, training_container

LAUNCHER: Final = "torchrun"
LONE_ENDPOINT: Final = "localhost:0"
"""Rendezvous of a job with one replica."""
HOST: Final = "--rdzv_conf=is_host="
_FIRST: Final = "--nnodes="
JOIN_SECONDS: Final = 600
"""Time for which a replica waits for the first one, which may still pull its image. torchrun's own `join_timeout` is as
long, but it gives up a rendezvous that does not answer after 60 s [torch 2.13]."""
# The Job controller sets JOB_COMPLETION_INDEX. torchrun takes only 0 and 1 for is_host.
#
# A replaced agent of torchrun has to take part in a new round of the rendezvous, which two things prevent
# (`rendezvous/dynamic_rendezvous.py`, torch 2.13). An agent is known by its host name and process number, and its
# successor has both again, so all but the first get a name of their own each time; the first has to be found by its
# name, and comes first in the order of names. And with a shared store, agents keep the ports of the round before.
_HOSTED: Final = (
    "export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1; [ $JOB_COMPLETION_INDEX = 0 ] ||"
    " export PET_LOCAL_ADDR=$HOSTNAME.$(cat /proc/sys/kernel/random/uuid); "
    f'exec {LAUNCHER} {HOST}$((JOB_COMPLETION_INDEX == 0)),read_timeout={JOIN_SECONDS} "$@"'
)
_SHELL: Final = ("-c", _HOSTED, LAUNCHER)


def command_of(spec: JobSpec, group: ReplicaSpec, endpoint: str, host: list[str]) -> Argv:
    """Return the command of a replica type: that of debug mode, the program itself, or torchrun with the program.

    Parameters
    ----------
    spec, group
        The job and the replica type.
    endpoint, host
        See `launcher_options`.
    """
    if spec.debug is not None:
        debug = spec.debug.get(group.type)
        command = debug.command if debug else ["sleep", "inf"]
        return Argv(command[:1], command[1:])
    program, cwd = program_of(spec, group), working_directory(spec)
    if spec.torchrun is None:
        return plain_argv(program, cwd)
    return Argv([LAUNCHER], [*launcher_options(spec, endpoint, host), *launched_words(program, cwd)])


def launcher_options(spec: JobSpec, endpoint: str, host: list[str]) -> list[str]:
    """Return torchrun's options.

    All options are written in full. The variables that controllers set (``PET_*``) depend on their versions, and
    torchrun's default rendezvous, ``static``, can't restart after a node is lost. The user's options come first: when
    the command is read, ``--nnodes`` marks their end.

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


def hosted_by_index(words: list[str]) -> Argv:
    """Return the command that starts torchrun in the pods of an Indexed Job, of which the first hosts the rendezvous.

    One pod template holds for all pods, so a shell computes in each pod whether it is the first, and names its agent.
    """
    return Argv(["sh"], [*_SHELL, *words])


def without_shell(argv: Argv) -> Argv:
    """Return torchrun's own command line for one of `hosted_by_index`; any other command unchanged."""
    if argv.command == ["sh"] and tuple(argv.args[: len(_SHELL)]) == _SHELL:
        return Argv([LAUNCHER], argv.args[len(_SHELL) :])
    return argv


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
        return torchrun, command_from(words[1:])
    return torchrun, program_from(words, cwd)


def canonical_command(template: dict[str, Any], training: str | None) -> dict[str, Any]:
    """Return a template in canonical form, also with the usual path of a script that ``python`` runs.

    Parameters
    ----------
    template, training
        See `canonical_template`.
    """
    template = canonical_template(template, training)
    containers = template.get("spec", {}).get("containers", [])
    index = training_container(containers, training)
    if index is not None and (command := containers[index].get("command")) == ["python"]:
        container = containers[index]
        cwd = container.get("workingDir")
        argv = plain_argv(program_from_plain(Argv(command, container.get("args", [])), cwd), cwd)
        container.update(compact({"command": argv.command, "args": argv.args}))
    return template


def read_launched(
    manifest: dict[str, Any],
    fields: Callable[[bool], dict[str, Any]],
    build: Callable[[JobSpec], dict[str, Any]],
    commands: Callable[[dict[str, Any]], Any],
) -> JobSpec:
    """Return the spec of a manifest. A torchrun command that `build` would write otherwise is kept as a command.

    Parameters
    ----------
    manifest
        A canonical manifest.
    fields
        Returns the fields of the spec, given whether a torchrun command becomes `JobSpec.torchrun`.
    build
        Returns the manifest of a spec.
    commands
        Returns the commands of the training containers of a manifest.

    Raises
    ------
    pydantic.ValidationError
        If a value is not valid in a spec.
    """
    launched = JobSpec(**fields(True))
    if launched.torchrun is None:
        return launched
    for spec in (launched, launched.model_copy(update={"keep_logs": False})):
        if commands(build(spec)) == commands(manifest):
            return spec
    return JobSpec(**fields(False))


def command_in(template: dict[str, Any], training: str | None) -> tuple[Any, Any]:
    """Return command and args of the training container of a template; None for what it does not have.

    Parameters
    ----------
    template, training
        See `canonical_template`.
    """
    containers = template.get("spec", {}).get("containers", [])
    index = training_container(containers, training)
    container = containers[index] if index is not None else {}
    return container.get("command"), container.get("args")
