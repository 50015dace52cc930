"""The command `t9kjob`: the list of its commands, each of which is imported when it is used."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

import click

from ..core.translation import _
from .base import t
from .errors import BROKEN_PIPE

COMMANDS: Final = {
    "submit": "submit",
    "list": "jobs",
    "get": "jobs",
    "logs": "logs",
    "events": "jobs",
    "exec": "execution",
    "wait": "waiting",
    "stop": "actions",
    "pause": "actions",
    "resume": "actions",
    "rerun": "actions",
    "delete": "actions",
    "prune": "actions",
    "open": "lab",
    "top": "cluster",
    "data": "cluster",
    "runs": "runs",
    "tensorboard": "tensorboard",
    "doctor": "doctor",
    "completion": "completion",
}
"""Names of the commands in the order of the help, with the modules that have them."""


class LazyGroup(click.Group):
    """A group that imports only the command that is run."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the words of the command; print its help if it is asked for.

        The parameters are those of `click.Command.make_context`.
        """
        with closed_pipe_ends():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with closed_pipe_ends():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command.

        Parameters
        ----------
        ctx
            Context of the call.
        cmd_name
            Name of the command.
        """
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f".commands.{COMMANDS[cmd_name]}", __package__)
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command


@contextlib.contextmanager
def closed_pipe_ends() -> Iterator[None]:
    """End the command with `BROKEN_PIPE` if the reader of its output has left; click would end it with 1."""
    try:
        yield
    except BrokenPipeError:
        raise click.exceptions.Exit(BROKEN_PIPE) from None


def _print_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(version("jupyterlab_t9kjob"))
        ctx.exit()


@click.group(
    cls=LazyGroup,
    help=t(_("Run PyTorch scripts as distributed jobs: on this machine, on T9k, on Kubeflow.")),
    epilog=t(
        _("Exit codes: 0 done, 1 error or failed job, 2 wrong use, 124 time is over, 130 interrupted, 141 broken pipe.")
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    callback=_print_version,
    expose_value=False,
    is_eager=True,
    help=t(_("Print the version.")),
)
def t9kjob() -> None:
    """Run a command."""
