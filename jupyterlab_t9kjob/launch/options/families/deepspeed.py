"""Options that DeepSpeed adds to a parser: ``deepspeed.add_config_arguments(parser)``."""

from __future__ import annotations

from ..declarations.source import Source
from ..declarations.tables import library_options
from ..model import Family, OptionsRead
from ..program import Program

WORDS = frozenset({"add_config_arguments"})


def read(program: Program) -> OptionsRead | None:
    """Return DeepSpeed's own options if the program adds them."""
    source = Source(program, WORDS)
    for call in source.calls(*WORDS, tops=("deepspeed",)):
        options = library_options("deepspeed", call.last, call.node.lineno, source.path(call.module))
        return OptionsRead(options or [], places={(source.path(call.module), call.node.lineno)})
    return None


FAMILY = Family("deepspeed", WORDS, read)
