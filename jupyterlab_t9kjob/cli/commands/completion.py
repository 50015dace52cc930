"""The command `completion`: prints the script by which a shell completes commands, options and names of jobs."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ...core.translation import _
from ..base import Command, t

VARIABLE = "_T9KJOB_COMPLETE"


@click.command(
    "completion",
    cls=Command,
    help=t(_("Print the script by which a shell completes commands, options and names of jobs.")),
    examples=[
        'eval "$(t9kjob completion bash)"      # in ~/.bashrc',
        'eval "$(t9kjob completion zsh)"       # in ~/.zshrc',
        "t9kjob completion fish > ~/.config/fish/completions/t9kjob.fish",
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print the script by which a shell completes commands.

    Parameters
    ----------
    ctx
        Context of the command.
    shell
        ``bash``, ``zsh`` or ``fish``.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101
    click.echo(kind(ctx.find_root().command, {}, "t9kjob", VARIABLE).source())
