"""Commands that run a spec on this machine, and the texts that show them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from ....core.engine.interpreter import Interpreter
from ....core.spec import Debug, Entrypoint, JobSpec, ReplicaSpec
from ....core.texts.command_lines import option_lines, quoted
from ....core.translation import Text, _, _n, translated
from ..supervisor.records.record import ReplicaPlan

INDENT = "    "
LONE_ENDPOINT = "--rdzv-endpoint=localhost:0"


def working_directory(spec: JobSpec, root: Path | None) -> Path:
    """Return the job's working directory: the given one, the script's folder, or the root of the contents API.

    Parameters
    ----------
    spec
        The job.
    root
        Root folder of the contents API.
    """
    if spec.working_dir:
        return Path(spec.working_dir)
    if spec.entrypoint.kind in ("script", "notebook"):
        return Path(spec.entrypoint.value).parent
    return root or Path.home()


def entrypoints_of(spec: JobSpec) -> dict[str, Entrypoint]:
    """Return the entrypoints of a job and of its replica types, by their fields."""
    found = {"/spec/entrypoint/value": spec.entrypoint}
    for index, group in enumerate(spec.replica_specs):
        if group.entrypoint is not None:
            found[f"/spec/replica_specs/{index}/entrypoint/value"] = group.entrypoint
    return found


def log_directory(spec: JobSpec, root: Path | None) -> Path:
    """Return the job's own directory for TensorBoard events (`T9KJOB_LOG_DIR`).

    Parameters
    ----------
    spec
        The job.
    root
        Root folder of the contents API.
    """
    if spec.tensorboard.log_dirs:
        return Path(spec.tensorboard.log_dirs[0])
    if spec.entrypoint.kind in ("script", "notebook"):
        return Path(spec.entrypoint.value).parent / "runs" / spec.name
    return working_directory(spec, root) / "runs" / spec.name


def plan_replicas(spec: JobSpec, interpreters: Mapping[str, Interpreter], root: Path | None) -> list[ReplicaPlan]:
    """Return the plans of all replicas, the master first.

    Parameters
    ----------
    spec
        A spec without errors.
    interpreters
        Python of each replica type.
    root
        Root folder of the contents API.
    """
    plans: list[ReplicaPlan] = []
    for group in spec.replica_specs:
        first = plan_first(spec, group, interpreters[group.type], root)
        plans += [ReplicaPlan(**{**first, "name": f"{group.type}-{index}"}) for index in range(group.replicas)]
    return plans


def plan_first(spec: JobSpec, group: ReplicaSpec, interpreter: Interpreter, root: Path | None) -> ReplicaPlan:
    """Return the plan of the first replica of a type; the others differ only in their names.

    In debug mode each rank runs the command that waits, so that a rank has the environment of the training.

    Parameters
    ----------
    spec
        The job.
    group
        The replica type.
    interpreter
        Its Python.
    root
        Root folder of the contents API.
    """
    if spec.debug is None:
        return _plan_first(spec, group, interpreter, root)
    program, *args = (spec.debug.get(group.type) or Debug()).command
    waits = {"entrypoint": Entrypoint(kind="command", value=program), "args": args}
    plan = _plan_first(spec.model_copy(update={"resume": []}), group.model_copy(update=waits), interpreter, root)
    cwd = working_directory(spec, root)
    plan["debugged_launcher"] = launcher_of(spec, group, interpreter)
    plan["debugged_program"] = program_of(spec, group, interpreter, cwd)
    plan["debugged_rank"] = program_of(spec.model_copy(update={"torchrun": None}), group, interpreter, cwd)
    return plan


def _plan_first(spec: JobSpec, group: ReplicaSpec, interpreter: Interpreter, root: Path | None) -> ReplicaPlan:
    cwd = working_directory(spec, root)
    program = program_of(spec, group, interpreter, cwd)
    env = {**interpreter.env, "T9KJOB_NAME": spec.name, "T9KJOB_LOG_DIR": str(log_directory(spec, root))}
    if spec.torchrun is None:
        env["PYTHONUNBUFFERED"] = "1"
    for variable in [*spec.env, *(group.env or [])]:
        env[variable.name] = variable.value or ""
    return ReplicaPlan(
        name=f"{group.type}-0",
        restart_policy=group.restart_policy,
        launcher=launcher_of(spec, group, interpreter),
        program=program,
        resumed_program=_resumed(spec, group, interpreter, cwd) or program,
        env=env,
        processes=processes_of(spec, group),
        devices=group.resources.device_count,
    )


def processes_of(spec: JobSpec, group: ReplicaSpec) -> int | None:
    """Return the number of ranks of one replica; None if torchrun decides.

    Parameters
    ----------
    spec
        The job.
    group
        The replica type.
    """
    if spec.torchrun is None:
        return 1
    if spec.torchrun.proc_per_node == "gpu":
        return group.resources.device_count or None
    return spec.torchrun.proc_per_node


def launcher_of(spec: JobSpec, group: ReplicaSpec, interpreter: Interpreter) -> list[str] | None:
    """Return torchrun's part of the command without the rendezvous; None if torchrun is off.

    Parameters
    ----------
    spec
        The job.
    group
        The replica type.
    interpreter
        Its Python.
    """
    if spec.torchrun is None:
        return None
    options = [
        f"--nnodes={spec.total_replicas}",
        # “One process per GPU” becomes a number: torchrun sees at most one part of a GPU that is divided by MIG.
        f"--nproc-per-node={processes_of(spec, group) or spec.torchrun.proc_per_node}",
        f"--rdzv-backend={spec.torchrun.rdzv_backend}",
        f"--max-restarts={spec.torchrun.max_restarts}",
        *spec.torchrun.extra_options,
    ]
    kind = (group.entrypoint or spec.entrypoint).kind
    # torchrun starts a script with Python unless an option says otherwise.
    how = {"module": ["--module"], "command": ["--no-python"]}.get(kind, [])
    return [interpreter.python, "-m", "torch.distributed.run", *options, *how]


def program_of(
    spec: JobSpec,
    group: ReplicaSpec,
    interpreter: Interpreter,
    cwd: Path,
    args: list[str] | None = None,
) -> list[str]:
    """Return the part of the command behind torchrun's options; the whole command if torchrun is off.

    Parameters
    ----------
    spec
        The job.
    group
        The replica type.
    interpreter
        Its Python.
    cwd
        Working directory of the job.
    args
        Arguments that replace those of the spec.
    """
    entrypoint = group.entrypoint or spec.entrypoint
    if args is None:
        args = spec.args if group.args is None else group.args
    program = [entrypoint_argument(entrypoint, cwd), *args]
    if spec.torchrun is not None:
        return _through_torchrun(program, entrypoint)
    if entrypoint.kind == "command":
        return program
    if entrypoint.kind == "module":
        return [interpreter.python, "-m", *program]
    return [interpreter.python, *program]


def _through_torchrun(program: list[str], entrypoint: Entrypoint) -> list[str]:
    """Return a program and its arguments, escaped so that torchrun passes them on unchanged.

    torchrun removes a ``--`` directly behind the entrypoint, and replaces ``$local_rank`` in arguments; its template
    reads ``$$`` as one ``$``.
    """
    start, *args = program
    if args[:1] == ["--"]:
        args.insert(0, "--")
    if entrypoint.kind != "command":  # A command itself is no argument, so torchrun replaces nothing in it.
        start = start.replace("$", "$$")
    return [start, *(argument.replace("$", "$$") for argument in args)]


def entrypoint_argument(entrypoint: Entrypoint, cwd: Path) -> str:
    """Return the entrypoint for a command line; a script below the working directory as a relative path.

    Parameters
    ----------
    entrypoint
        Script, notebook, module or command.
    cwd
        Working directory of the job.
    """
    path = Path(entrypoint.script)
    if entrypoint.kind not in ("script", "notebook") or not path.is_relative_to(cwd):
        return entrypoint.script
    relative = str(path.relative_to(cwd))
    return f"./{relative}" if relative.startswith("-") else relative


def command_text(plan: ReplicaPlan, cwd: Path, count: int) -> str:
    """Return the command of the first replica for a shell, one option on each line.

    Parameters
    ----------
    plan
        Plan of the replica.
    cwd
        Working directory of the job.
    count
        Number of replicas.
    """
    lines: list[str]
    launcher = plan["launcher"]
    if launcher is None:
        python = [part for part in (plan["program"][:3]) if part]
        start = next((i for i, part in enumerate(python[1:], 1) if part != "-m"), len(python) - 1)
        lines = [quoted(plan["program"][: start + 1]), *option_lines(plan["program"][start + 1 :])]
    else:
        endpoint = LONE_ENDPOINT if count == 1 else '--rdzv-endpoint=localhost:"${PORT:-29500}"'
        options = option_lines(launcher[5:])
        lines = [
            quoted(launcher[:3]),
            quoted(launcher[3:5]),
            options[0],
            endpoint,
            *options[1:],
            *option_lines(plan["program"]),
        ]
    text = f"cd {shlex.quote(str(cwd))}\n" + f" \\\n{INDENT}".join(lines)
    if count == 1:
        return text
    note = _n("once for the {n} replica", "once for each of the {n} replicas", count)
    return f"# {translated(note)}\n{text}"


def size_text(spec: JobSpec) -> Text:
    """Return the size of a job: “4 processes in 2 replicas on this machine, with 4 GPUs”."""
    gpus = sum(group.resources.device_count * group.replicas for group in spec.replica_specs)
    if not gpus:
        return _processes_text(spec)
    return _n("{size}, with {n} GPU", "{size}, with {n} GPUs", gpus, size=_processes_text(spec))


def _processes_text(spec: JobSpec) -> Text:
    each = [(processes_of(spec, group), group.replicas) for group in spec.replica_specs]
    count = sum((processes or 0) * replicas for processes, replicas in each)
    unknown = any(processes is None for processes, _replicas in each)
    replicas = spec.total_replicas
    if replicas == 1 or spec.torchrun is None:
        if unknown:
            return _("One process per GPU on this machine")
        return _n("{n} process on this machine", "{n} processes on this machine", count)
    if unknown:
        return _("One process per GPU in {replicas} replicas on this machine", replicas=replicas)
    return _n(
        "{n} process in {replicas} replicas on this machine",
        "{n} processes in {replicas} replicas on this machine",
        count,
        replicas=replicas,
    )


def command_of(plan: ReplicaPlan, count: int) -> list[str]:
    """Return the argv of a replica, without the options that each attempt chooses.

    Parameters
    ----------
    plan
        Plan of the replica.
    count
        Number of replicas. The torchrun of a single one chooses a free port, which otherwise each attempt does.
    """
    launcher = plan["launcher"]
    if launcher is None:
        return plan["program"]
    return [*launcher, *([LONE_ENDPOINT] if count == 1 else []), *plan["program"]]


def _resumed(spec: JobSpec, group: ReplicaSpec, interpreter: Interpreter, cwd: Path) -> list[str] | None:
    for resume in spec.resume:
        if resume.type == group.type and resume.args is not None:
            return program_of(spec, group, interpreter, cwd, resume.args)
    return None
