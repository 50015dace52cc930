"""Options of ``HfArgumentParser``, Hugging Face's parser for dataclasses (also trl's ``TrlParser``)."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import argument_option, as_text, choices_of, flags_sorted, kind_of_type
from ..declarations.calls import Call, keyword_of
from ..declarations.parameters import MISSING, Parameter, bases_of, fields_of
from ..declarations.source import Source
from ..declarations.tables import library_options
from ..declarations.types import enum_value
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program
from ..texts import one_line

PARSERS = frozenset({"HfArgumentParser", "TrlParser"})


def read(program: Program) -> OptionsRead | None:
    """Return the options of the dataclasses that the program's parsers get."""
    source = Source(program, PARSERS)
    if source.is_used:
        source = Source(program, frozenset({"Parser"}))  # A class derived from the parser has a name of its own.
    result = OptionsRead()
    found: dict[str, ScriptOption] = {}
    calls = list(source.calls(*PARSERS, tops=("transformers", "trl")))
    for call in calls:
        description = source.string(call.module, call.keyword("description"))
        result.description = result.description or one_line(description)
        if call.last == "TrlParser":
            line, path = call.node.lineno, source.path(call.module)
            help_ = "Path to a YAML file with values of options."
            found["config"] = ScriptOption(
                flags=["--config"], dest="config", kind="text", help=help_, line=line, path=path, library="trl"
            )
        for module, node in _classes(source, call):
            for option in _options(source, call, module, node, result.unread):
                found.setdefault(option.dest, option)
        for added in source.methods(call, "add_argument"):
            own = argument_option(source, added)
            if own is not None:
                found.setdefault(own.dest, own)
    result.options = list(found.values())
    return result if calls else None


def _classes(source: Source, call: Call) -> list[tuple[Module, ast.expr]]:
    """Return the expressions of the dataclasses that a parser gets, each with its module."""
    argument = call.argument(0, "dataclass_types")
    node = source.assigned(call.module, argument)
    if isinstance(node, ast.Tuple | ast.List):
        return [(call.module, item) for item in node.elts]
    return [(call.module, argument)] if argument is not None else []


def _options(
    source: Source, call: Call, module: Module, node: ast.expr, unread: list[UnreadOptions]
) -> list[ScriptOption]:
    """Return the options of a dataclass, of the library or of the workspace with bases in the library."""
    line, path = call.node.lineno, source.path(call.module)
    own = source.definition(module, node)
    if own is None or not isinstance(own[1], ast.ClassDef):
        return _of_library(source.library(module, node), node, line, path, unread)
    found: dict[str, ScriptOption] = {}
    for base in bases_of(source, own[0], own[1])[1]:
        if base.partition(".")[0] in ("transformers", "trl"):
            class_path = source.path(own[0])
            options = _of_library(base, own[1], own[1].lineno, class_path, unread)
            found |= {option.dest: option for option in options}
    for parameter in fields_of(source, own[0], own[1]):
        found[parameter.name] = _option(source, parameter)
    return list(found.values())


def _of_library(
    name: str, node: ast.AST, line: int, path: str | None, unread: list[UnreadOptions]
) -> list[ScriptOption]:
    library, last = name.partition(".")[0], name.rpartition(".")[2]
    options = library_options(library, last, line, path) or library_options("transformers", last, line, path)
    if options is None:
        what = last or ast.unparse(node)[:80]
        sentence = _("The options of {name} are built while the script runs.", name=what)
        unread.append(UnreadOptions(sentence, line, path))
    return options or []


def _option(source: Source, parameter: Parameter) -> ScriptOption:
    found, default, metadata = parameter.type, parameter.default, parameter.metadata
    flag = f"--{parameter.name}"
    if parameter.call is not None and not metadata:  # HfArg(help=…, aliases=…) writes its arguments into the metadata
        names = ("help", "aliases")
        metadata = {name: source.value(parameter.module, keyword_of(parameter.call, name)) for name in names}
    aliases = metadata.get("aliases")
    spellings = [flag, flag.replace("_", "-"), *choices_of([aliases] if isinstance(aliases, str) else aliases)]
    choices = choices_of([enum_value(choice) for choice in found.choices]) or choices_of(metadata.get("choices"))
    kind = "choice" if choices and found.kind != "list" else kind_of_type(found)
    nargs = metadata.get("nargs")  # The parser passes the metadata to `add_argument`.
    if nargs in ("+", "*") or (isinstance(nargs, int) and not isinstance(nargs, bool)):
        kind = "list"
    help_ = metadata.get("help")
    option = ScriptOption(
        flags=[flag, *(one for one in flags_sorted(spellings) if one != flag)],
        dest=parameter.name,
        kind=kind,
        item_kind=found.item_kind,
        default=as_text(enum_value(default)) if default is not MISSING else None,
        choices=choices,
        help=one_line(help_) if isinstance(help_, str) else None,
        required=default is MISSING and kind != "flag",
        line=parameter.line,
        path=source.path(parameter.module),
    )
    if kind == "flag":
        option.value_optional = True
        option.off_flag = f"--no_{parameter.name}" if default is True else f"{flag}=False"
        if default is MISSING:
            option.default = "False"
    if default is UNKNOWN:
        option.default = None
    return option


FAMILY = Family("HfArgumentParser", PARSERS, read)
