"""The option of a script that takes the checkpoint from which the script resumes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..model import ScriptOption
from .values import with_option

# Names of options that take a checkpoint, the clearest first.
_NAMES: Final = (
    re.compile(r"^resume_from_(?:checkpoint|ckpt)$"),
    re.compile(r"^(?:auto_)?resume(?:_(?:from|path|file|ckpt|checkpoint)\w*)?$"),
    re.compile(r"^(?:restart|continue|start)_from(?:_\w+)?$"),
    re.compile(r"^(?:ckpt|checkpoint|from_checkpoint)(?:_(?:path|file))?$"),
    re.compile(r"^(?:load|restore)(?:_(?:from|path|file|ckpt|checkpoint))?$"),
)


def resume_option(options: Sequence[ScriptOption], args: Sequence[str]) -> ScriptOption | None:
    """Return the option that takes the checkpoint from which a script resumes; None if none is known.

    The name tells. Two options whose names tell it equally well are ambiguous, and none is returned.

    Parameters
    ----------
    options
        The script's options.
    args
        The job's arguments, which choose the subcommand and may exclude an option.
    """
    given = {word.partition("=")[0] for word in args}
    ranked: dict[int, list[ScriptOption]] = {}
    for option in options:
        rank = _rank(option)
        if rank is not None and _takes_path(option) and _is_free(option, options, args, given):
            ranked.setdefault(rank, []).append(option)
    best = ranked[min(ranked)] if ranked else []
    return best[0] if len(best) == 1 else None


def any_resume_option(options: Sequence[ScriptOption]) -> ScriptOption | None:
    """Return the option that `resume_option` returns for arguments with one of the script's subcommands, or with none.

    Parameters
    ----------
    options
        The script's options.
    """
    commands = dict.fromkeys(option.command or "" for option in options if _rank(option) is not None)
    found = (resume_option(options, command.split()) for command in commands)
    return next((option for option in found if option is not None), None)


def with_checkpoint_of(base: list[str], args: list[str], options: Sequence[ScriptOption]) -> list[str]:
    """Return the arguments of a renamed job, with the checkpoint that the arguments named before.

    Directories that contain the job's name change with the name. A checkpoint stays in the directory of the job that
    wrote it.

    Parameters
    ----------
    base
        Arguments before the change of the name.
    args
        Arguments after it.
    options
        The script's options.
    """
    option = resume_option(options, base)
    checkpoint = option.value_in(base, default=False) if option is not None else None
    if option is None or checkpoint is None or checkpoint == option.value_in(args):
        return args
    return with_option(args, option, checkpoint, options)


def _rank(option: ScriptOption) -> int | None:
    """Return how clearly the name tells that an option takes a checkpoint, 0 for the clearest; None if it does not."""
    name = option.dest.rpartition(".")[2].lower().replace("-", "_")
    return next((rank for rank, pattern in enumerate(_NAMES) if pattern.match(name)), None)


def _takes_path(option: ScriptOption) -> bool:
    writes = {"events", "checkpoints"}.intersection(option.roles)
    return option.kind == "text" and bool(option.flags) and not option.choices and not writes


def _is_free(option: ScriptOption, options: Sequence[ScriptOption], args: Sequence[str], given: set[str]) -> bool:
    """Return true if the script has the option with these arguments."""
    if option.condition is not None or (option.command and not set(option.command.split()) <= set(args)):
        return False
    others = [other for other in options if option.exclusive and other.exclusive == option.exclusive]
    return not any(given.intersection(other.flags) for other in others if other.key != option.key)
