"""Flags of absl: calls of ``flags.DEFINE_*`` in the script and in the modules that it imports."""

from __future__ import annotations

from typing import Final

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import OptionKind, as_text, choices_of
from ..declarations.calls import Call
from ..declarations.source import Source
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program
from ..texts import dotted, one_line

KINDS: Final[dict[str, OptionKind]] = {
    "DEFINE_string": "text",
    "DEFINE_integer": "int",
    "DEFINE_float": "float",
    "DEFINE_bool": "flag",
    "DEFINE_boolean": "flag",
    "DEFINE_enum": "choice",
    "DEFINE_enum_class": "choice",
    "DEFINE_list": "text",
    "DEFINE_spaceseplist": "text",
    "DEFINE_multi_string": "text",
    "DEFINE_multi_integer": "text",
    "DEFINE_multi_float": "text",
    "DEFINE_multi_enum": "choice",
    "DEFINE_multi_enum_class": "choice",
    "DEFINE_config_file": "text",
    "DEFINE_alias": "text",
}
WORDS = frozenset(KINDS)
_REQUIRING: Final = ("mark_flag_as_required", "mark_flags_as_required")
_TOPS: Final = ("absl", "tensorflow", "ml_collections")


def read(program: Program) -> OptionsRead | None:
    """Return the flags of the program."""
    source = Source(program, WORDS | {*_REQUIRING})
    result = OptionsRead()
    found: dict[str, ScriptOption] = {}
    required: set[str] = set()
    used = False
    for call in source.calls(*KINDS, *_REQUIRING, tops=_TOPS):
        used = True
        if call.last in _REQUIRING:
            names = source.value(call.module, call.argument(0, "flag_names"))
            required |= {names} if isinstance(names, str) else set(names if isinstance(names, list | tuple) else ())
            continue
        name = source.string(call.module, call.argument(0, "name"))
        if name is None:
            sentence = _("The names of flags are built while the script runs.")
            result.unread.append(UnreadOptions(sentence, call.node.lineno, source.path(call.module)))
        elif call.last == "DEFINE_alias":
            original = found.get(source.string(call.module, call.argument(1, "original_name")) or "")
            if original is not None:
                original.flags.append(f"--{name}")
        elif name not in found:
            found[name] = _option(source, call, name)
            if call.last == "DEFINE_config_file":
                sentence = _("The file of --{name} has further options.", name=name)
                result.unread.append(UnreadOptions(sentence, call.node.lineno, source.path(call.module)))
    for name in required & found.keys():
        found[name].required = True
    result.options = list(found.values())
    return result if used else None


def _option(source: Source, call: Call, name: str) -> ScriptOption:
    module, kind = call.module, KINDS[call.last]
    default = source.value(module, call.argument(1, "default"))
    choices: list[str] = []
    if kind == "choice":
        listed = call.argument(2, "enum_values" if call.last.endswith("enum") else "enum_class")
        own = source.definition(module, listed)
        members = source.members(*own) if own else []
        choices = [member.name.lower() for member in members] or choices_of(source.value(module, listed))
    text = source.string(module, call.argument(3 if kind == "choice" else 2, "help"))
    short = source.string(module, call.keyword("short_name"))
    if call.last == "DEFINE_list" and isinstance(default, list | tuple):
        shown: str | None = ",".join(as_text(item) or "" for item in default)
    elif call.last.endswith("enum_class"):
        written = dotted(call.argument(1, "default"))
        shown = written.rpartition(".")[2].lower() if written else as_text(default)
    else:
        shown = as_text(default)
    if kind == "flag" and default is not UNKNOWN:
        shown = None if default is None else str(bool(default) and default not in ("false", "f", "0"))
    requires = source.value(module, call.keyword("required")) is True
    return ScriptOption(
        flags=[f"--{name}", *([f"-{short}"] if short else [])],
        dest=name,
        kind="choice" if choices else "text" if kind == "choice" else kind,
        default=shown or (None if default != "" else ""),
        choices=choices,
        help=one_line(text),
        required=requires,
        repeatable=call.last.startswith("DEFINE_multi"),
        off_flag=f"--no{name}" if kind == "flag" else None,
        line=call.node.lineno,
        path=source.path(module),
    )


FAMILY = Family("absl.flags", WORDS, read)
