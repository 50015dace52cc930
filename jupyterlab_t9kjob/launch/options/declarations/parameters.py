"""Parameters of functions and fields of dataclasses, with types, defaults and descriptions."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any, Final

from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..texts import dotted, one_line
from .calls import keyword_of
from .docstrings import parameter_texts
from .scopes import Function, in_order
from .source import Source
from .types import TEXT, Type, read_type

MAX_BASES: Final = 20
FIELD_FUNCTIONS: Final = frozenset(
    {
        "field",
        "choice",
        "list_field",
        "mutable_field",
        "flag",
        "subparsers",
        "attrib",
        "ib",
        "Field",
        "HfArg",
        "dict_field",
    }
)


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""The default of a parameter that has none."""


@dataclass
class Parameter:
    """A parameter of a function, or a field of a dataclass.

    Attributes
    ----------
    name
        Its name.
    type
        Type of its annotation.
    default
        Its default; MISSING if it has none, UNKNOWN if only a run tells it.
    help
        Its description in the docstring, or in a comment beside the field.
    line, module
        Place of its definition.
    annotated
        True if it has an annotation.
    keyword_only
        True after ``*``.
    call
        Call that describes a field or default (``field(…)``, ``typer.Option(…)``); None if there is none.
    node
        Expression of the default; None if there is none.
    """

    name: str
    type: Type
    default: Any
    line: int
    module: Module
    help: str | None = None
    annotated: bool = True
    keyword_only: bool = False
    call: ast.Call | None = None
    node: ast.expr | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def parameters_of(source: Source, module: Module, function: Function, *, method: bool = False) -> list[Parameter]:
    """Return the parameters of a function, without ``*args``, ``**kwargs`` and the first one of a method.

    Parameters
    ----------
    source
        The script and its modules.
    module, function
        The module, and the function in it.
    method
        True leaves out the first parameter.
    """
    texts = parameter_texts(function)
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    nothing: list[ast.expr | None] = [None]
    defaults = [*nothing * (len(plain) - len(arguments.defaults)), *arguments.defaults, *arguments.kw_defaults]
    found: list[Parameter] = []
    for index, (argument, node) in enumerate(zip([*plain, *arguments.kwonlyargs], defaults, strict=True)):
        if method and index == 0:
            continue
        found.append(
            Parameter(
                argument.arg,
                read_type(source, module, argument.annotation),
                MISSING if node is None else source.value(module, node),
                argument.lineno,
                module,
                texts.get(argument.arg),
                annotated=argument.annotation is not None,
                keyword_only=index >= len(plain),
                call=node if isinstance(node, ast.Call) else None,
                node=node,
            )
        )
    return found


def is_dataclass(source: Source, module: Module, node: ast.ClassDef, left: int = MAX_BASES) -> bool:
    """Return True for a dataclass, an attrs class or a pydantic model.

    Parameters
    ----------
    source
        The script and its modules.
    module, node
        The module, and the class in it.
    left
        Number of further generations of bases to search.
    """
    names = [dotted(one.func if isinstance(one, ast.Call) else one) or "" for one in node.decorator_list]
    if any(name.rpartition(".")[2] in {"dataclass", "define", "frozen", "attrs", "s"} for name in names):
        return True
    for base in node.bases:
        if source.library(module, base).rpartition(".")[2] in {"BaseModel", "Serializable", "NamedTuple"}:
            return True
        own = source.definition(module, base)
        if own and isinstance(own[1], ast.ClassDef) and left and is_dataclass(source, own[0], own[1], left - 1):
            return True
    return False


def bases_of(source: Source, module: Module, node: ast.ClassDef) -> tuple[list[tuple[Module, ast.ClassDef]], list[str]]:
    """Return a class and its bases of the workspace, the first base first, and its bases in libraries by full name.

    Parameters
    ----------
    source
        The script and its modules.
    module, node
        The module, and the class in it.
    """
    own: list[tuple[Module, ast.ClassDef]] = []
    libraries: list[str] = []
    seen: list[ast.ClassDef] = []

    def visit(module: Module, node: ast.ClassDef) -> None:
        if len(own) > MAX_BASES or any(node is other for _, other in own) or node in seen:
            return
        seen.append(node)
        for base in reversed(node.bases):
            found = source.definition(module, base)
            if found is not None and found[1] is node:  # class A(A), whose base is imported
                libraries.append(source.imported(module, base))
            elif found is not None and isinstance(found[1], ast.ClassDef):
                visit(found[0], found[1])
            elif name := source.library(module, base):
                libraries.append(name)
        own.append((module, node))

    visit(module, node)
    return own, libraries


def fields_of(source: Source, module: Module, node: ast.ClassDef, *, comments: bool = True) -> list[Parameter]:
    """Return the fields of a dataclass with those of its bases, in the order of its ``__init__``.

    Parameters
    ----------
    source
        The script and its modules.
    module, node
        The module, and the class in it.
    comments
        True if comments beside and above a field describe it. Texts below a field always do.
    """
    found: dict[str, Parameter] = {}
    for owner, class_ in bases_of(source, module, node)[0]:
        texts = parameter_texts(class_)
        for index, statement in enumerate(class_.body):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                if (dotted(statement.annotation) or "").endswith("ClassVar") or (
                    isinstance(statement.annotation, ast.Subscript)
                    and (dotted(statement.annotation.value) or "").endswith("ClassVar")
                ):
                    continue
                made = _field(source, owner, statement, name)
                if made is None:
                    found.pop(name, None)
                    continue
                following = class_.body[index + 1] if index + 1 < len(class_.body) else None
                made.help = _text_below(following) or texts.get(name)
                if comments and not made.help:
                    made.help = trailing_comment(owner, statement) or _comment_above(owner, statement.lineno)
                found[name] = made
    return list(found.values())


def _field(source: Source, module: Module, statement: ast.AnnAssign, name: str) -> Parameter | None:
    """Return a field; None if it is not a parameter of ``__init__``."""
    value = statement.value
    made = Parameter(name, read_type(source, module, statement.annotation), MISSING, statement.lineno, module)
    made.node = value
    if value is None:
        return made
    if not isinstance(value, ast.Call) or (dotted(value.func) or "").rpartition(".")[2] not in FIELD_FUNCTIONS:
        made.default = source.value(module, value)
        made.call = value if isinstance(value, ast.Call) else None
        return made
    made.call = value
    if source.value(module, keyword_of(value, "init")) is False:
        return None
    default, factory = keyword_of(value, "default"), keyword_of(value, "default_factory")
    if default is not None:
        made.default = source.value(module, default)
        made.node = default
    elif factory is not None:
        made.default = made_by(source, module, factory)
        made.node = factory
    metadata = source_metadata(source, module, keyword_of(value, "metadata"))
    made.metadata = metadata
    return made


def made_by(source: Source, module: Module, factory: ast.expr) -> Any:
    """Return what a default factory makes; UNKNOWN if only a run tells it.

    Parameters
    ----------
    source
        The script and its modules.
    module, factory
        The module, and the factory's expression in it.
    """
    if isinstance(factory, ast.Lambda):
        return source.value(module, factory.body)
    name = dotted(factory)
    if name in ("list", "dict", "tuple", "set"):
        return {"list": [], "dict": {}, "tuple": (), "set": []}[name]
    own = source.definition(module, factory)
    if own is not None and isinstance(own[1], Function):
        returned = [node for node in own[1].body if isinstance(node, ast.Return)]
        return source.value(own[0], returned[0].value) if len(returned) == 1 else UNKNOWN
    return UNKNOWN


def source_metadata(source: Source, module: Module, node: ast.expr | None) -> dict[str, Any]:
    """Return the entries of a dict whose keys are constants; a value that only a run tells is UNKNOWN.

    Parameters
    ----------
    source
        The script and its modules.
    module, node
        The module, and the expression of the dict in it; None for no dict.
    """
    if not isinstance(node, ast.Dict):
        value = source.value(module, node)
        return value if isinstance(value, dict) else {}
    pairs = zip(node.keys, node.values, strict=True)
    return {str(key.value): source.value(module, value) for key, value in pairs if isinstance(key, ast.Constant)}


def _text_below(following: ast.stmt | None) -> str | None:
    """Return the text that stands below a field."""
    match following:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return one_line(text)
    return None


def trailing_comment(module: Module, statement: ast.stmt) -> str | None:
    """Return the comment at the end of a statement's last line.

    Parameters
    ----------
    module, statement
        The module, and the statement in it.
    """
    line = (module.lines[(statement.end_lineno or statement.lineno) - 1]).encode()
    rest = line[statement.end_col_offset or 0 :].decode("utf-8", "replace").strip()
    return _comment_text(rest) if rest.startswith("#") else None


def _comment_above(module: Module, line: int) -> str | None:
    found: list[str] = []
    for text in reversed(module.lines[: line - 1]):
        stripped = text.strip()
        if not stripped.startswith("#"):
            break
        found.insert(0, _comment_text(stripped) or "")
    return one_line(" ".join(found))


def _comment_text(text: str) -> str | None:
    plain = re.sub(r"^#+:?\s*", "", text)
    return None if re.match(r"(noqa|type:|pylint|fmt:|pragma)", plain) else one_line(plain)


def apply_default(source: Source, parameter: Parameter, fields: list[Parameter]) -> None:
    """Set the defaults of fields to those of a default such as ``Optimizer(lr=0.1)``, or of its factory.

    Parameters
    ----------
    source
        The script and its modules.
    parameter
        Parameter with the default.
    fields
        Fields of the parameter's class; they are changed.
    """
    made: ast.AST | None = parameter.node
    if isinstance(made, ast.Lambda):
        made = made.body
    if isinstance(made, ast.Call) and (dotted(made.func) or "").rpartition(".")[2] not in FIELD_FUNCTIONS:
        for index, one in enumerate(fields):
            value = made.args[index] if index < len(made.args) else keyword_of(made, one.name)
            if value is not None:
                one.default, one.node = source.value(parameter.module, value), value


def nested(found: Type, source: Source) -> tuple[Module, ast.ClassDef] | None:
    """Return the dataclass that a type stands for; None for other types, and for a dataclass or None.

    Parameters
    ----------
    found
        The type.
    source
        The script and its modules.
    """
    own = None if found.optional else found.definition
    return own if own is not None and is_dataclass(source, *own) else None


__all__ = [
    "MISSING",
    "TEXT",
    "Parameter",
    "apply_default",
    "bases_of",
    "classes_named",
    "fields_of",
    "is_dataclass",
    "made_by",
    "nested",
    "parameters_of",
    "trailing_comment",
]


def names_class(source: Source, parameter: Parameter) -> bool:
    """Return True if the annotation of a parameter names a class of the workspace.

    Parameters
    ----------
    source
        The script and its modules.
    parameter
        The parameter.
    """
    return bool(classes_named(source, parameter))


def classes_named(source: Source, parameter: Parameter) -> list[tuple[Module, ast.ClassDef]]:
    """Return the classes of the workspace that the annotation of a parameter names, in the order of the text.

    Parameters
    ----------
    source
        The script and its modules.
    parameter
        The parameter, whose line and module find the annotation.
    """
    found: list[tuple[Module, ast.ClassDef]] = []
    for node in ast.walk(parameter.module.tree or ast.Module([], [])):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.lineno == parameter.line and node.annotation is not None:
            for name in in_order(node.annotation):
                own = source.definition(parameter.module, name) if isinstance(name, ast.Name) else None
                if own is not None and isinstance(own[1], ast.ClassDef):
                    found.append((own[0], own[1]))
            break
    return found
