"""Options of the command line for the values of a new job: what it runs with, where, and from which repository."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from ..core.errors import FieldError
from ..core.translation import _, sentences
from .base import duration, t

Function = TypeVar("Function", bound=Callable[..., Any])

GIT: Final = ("git_ref", "git_folder", "git_secret", "git_submodules", "git_history")
"""Options that need the address of a repository."""
CLEAN_UP: Final = {"None": "None", "Running": "Unfinished", "Unfinished": "Unfinished", "All": "All"}
"""Pods that are removed at the end, with Arena's name for those that have not finished."""


def job_options(function: Function) -> Function:
    """Give a command the options for the values of a new job; their names are those of `client.options.JobOptions`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def _clean_up(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    return None if value is None else CLEAN_UP[value]


def _processes(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> int | str | None:
    if value is None:
        return None
    from ..client.words import processes

    try:
        return processes(value)
    except FieldError as error:
        raise click.BadParameter(t(sentences(error.message, error.hint) or error.message)) from None


_OPTIONS: Final = (
    click.option("--name", help=t(_("Name of the job."))),
    click.option("--nodes", "--workers", type=click.IntRange(1), help=t(_("Number of nodes."))),
    click.option(
        "--procs", "--nproc-per-node", "processes", callback=_processes,
        help=t(_("Processes per node, or “gpu” for one for each GPU."))
    ),
    click.option("--gpus", type=click.IntRange(0), help=t(_("GPUs per node."))),
    click.option("--cpu", help=t(_("CPU cores per node."))),
    click.option("--memory", help=t(_("Memory per node, such as 16Gi."))),
    click.option("--shm", "--share-memory", help=t(_("Size of the memory volume at /dev/shm, such as 2Gi."))),
    click.option("--rdma", is_flag=True, help=t(_("One RDMA device per node, and the right to lock memory."))),
    click.option("--rdma-resource", help=t(_("Name of the RDMA resource, if it is not rdma/hca."))),
    click.option("--image", help=t(_("Container image, in a cluster."))),
    click.option(
        "--image-pull-secret", "pull_secrets", multiple=True, help=t(_("Secret with which images are pulled."))
    ),
    click.option(
        "--image-pull-policy",
        "pull_policy",
        type=click.Choice(["Always", "IfNotPresent", "Never"]),
        help=t(_("When images are pulled.")),
    ),
    click.option(
        "--training-runtime",
        metavar="[NAMESPACE/]NAME",
        help=t(_("Training runtime of a TrainJob; with the namespace for one of the job's namespace.")),
    ),
    click.option("--kernel", help=t(_("Kernel whose Python runs the job, on this machine."))),
    click.option("--working-dir", type=click.Path(), help=t(_("Working directory of the job."))),
    click.option(
        "--env", "-e", multiple=True, help=t(_("Variable NAME=VALUE, or NAME for the value that it has here."))
    ),
    click.option(
        "--env-from-secret", "secrets", multiple=True, help=t(_("Variable from a secret: NAME=secret:key."))
    ),
    click.option(
        "--data", "-d", "mounts", multiple=True, help=t(_("Volume: claim:/path, claim/folder:/path, claim:/path:ro."))
    ),
    click.option(
        "--config-file", "config_files", multiple=True,
        help=t(_("Small text file of this machine and its path in the job's pods: FILE:/path.")),
    ),
    click.option(
        "--git", help=t(_("Run a commit of a git repository: its address, or “.” for that of the file's own clone."))
    ),
    click.option(
        "--branch", "--tag", "--commit", "git_ref",
        help=t(_("Branch, tag or full id of a commit; by default the branch that is checked out, or the default one.")),
    ),
    click.option("--git-folder", help=t(_("Folder in the repository from which Python imports modules."))),
    click.option("--git-secret", help=t(_("Secret with which the pods read a private repository."))),
    click.option("--submodules", "git_submodules", is_flag=True, help=t(_("Clone submodules too."))),
    click.option("--git-history", is_flag=True, help=t(_("Clone the history too."))),
    click.option("--label", "-l", "labels", multiple=True, help=t(_("Label of the job's object: KEY=VALUE."))),
    click.option(
        "--annotation", "-a", "annotations", multiple=True, help=t(_("Annotation of the job's object: KEY=VALUE."))
    ),
    click.option(
        "--selector", "node_selector", multiple=True, help=t(_("Only nodes with this label: KEY=VALUE."))
    ),
    click.option(
        "--toleration", "tolerations", multiple=True,
        help=t(_("Taint that is tolerated: key=value:effect, key:effect, key or all.")),
    ),
    click.option("--queue", help=t(_("Queue of the job."))),
    click.option("--priority", "-p", "priority_class", help=t(_("PriorityClass of the pods."))),
    click.option("--scheduler", help=t(_("Scheduler of the pods."))),
    click.option(
        "--host-network", "--hostNetwork", "host_network", is_flag=True,
        help=t(_("Let the pods use the network of their node.")),
    ),
    click.option("--retry", "restarts", type=click.IntRange(0), help=t(_("Number of restarts after failures."))),
    click.option(
        "--deadline", "--running-timeout", callback=duration, help=t(_("Longest running time, such as 2h30m."))
    ),
    click.option(
        "--ttl", "--ttl-after-finished", "ttl_seconds", callback=duration,
        help=t(_("Delete the job's object some time after its end, such as 1d.")),
    ),
    click.option(
        "--clean-up", "--clean-task-policy", "clean_up", type=click.Choice(list(CLEAN_UP)), callback=_clean_up,
        help=t(_("Pods that are removed at the end.")),
    ),
    click.option("--paused", is_flag=True, help=t(_("Create the job paused."))),
    click.option("--preset", help=t(_("Preset of the launch form."))),
    click.option(
        "--set", "values", multiple=True, help=t(_("Any field: run_policy.clean_up=All. The value is JSON or text."))
    ),
)  # fmt: skip
