"""Types of annotations: kind, choices and items of the value that an option takes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..texts import dotted
from .calls import keyword_of
from .constants import Member
from .source import Source

Kind = Literal["text", "int", "float", "bool", "choice", "list"]
ItemKind = Literal["text", "int", "float"]

_PLAIN: Final[dict[str, Kind]] = {"int": "int", "float": "float", "bool": "bool"}
_SEQUENCES: Final = frozenset(
    {"list", "List", "tuple", "Tuple", "Sequence", "set", "Set", "FrozenSet", "frozenset", "Iterable", "Collection"}
)
_WRAPPERS: Final = frozenset({"Final", "ClassVar", "Required", "Positional", "FlagConversionOff", "Suppress", "Fixed"})


@dataclass(frozen=True)
class Type:
    """Type of an option's value.

    Attributes
    ----------
    kind
        Kind of the value; ``text`` for all types that are not known.
    item_kind
        Kind of the items of a list.
    choices
        Values of a ``Literal``, or members of an enum.
    optional
        True if the value may be None.
    is_union
        True if the type has several alternatives other than None.
    fixed
        True for a tuple with a fixed number of items.
    metadata
        Further arguments of ``Annotated``.
    wrappers
        Names of generic types around the type that change how it is given, such as ``Positional``.
    definition
        Class of the workspace, with its module.
    """

    kind: Kind = "text"
    item_kind: ItemKind = "text"
    choices: tuple[Any, ...] = ()
    optional: bool = False
    is_union: bool = False
    fixed: bool = False
    metadata: tuple[ast.expr, ...] = ()
    wrappers: tuple[str, ...] = ()
    definition: tuple[Module, ast.ClassDef] | None = field(default=None, repr=False)

    @property
    def is_enum(self) -> bool:
        """True if the choices are members of an enum."""
        return any(isinstance(choice, Member) for choice in self.choices)


TEXT: Final = Type()


def read_type(source: Source, module: Module, node: ast.expr | None, depth: int = 0) -> Type:
    """Return the type that an annotation stands for.

    Parameters
    ----------
    source
        The script and its modules.
    module
        The module with the annotation.
    node
        The annotation; None if there is none.
    depth
        Number of types around the annotation. Annotations are read 12 deep.

    Returns
    -------
    type
        The type; TEXT if it is not known.
    """
    if node is None or depth > 12:
        return TEXT
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return read_type(source, module, ast.parse(node.value, mode="eval").body, depth + 1)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return TEXT
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(source, module, [node.left, node.right], depth)
    if isinstance(node, ast.Subscript):
        return _generic(source, module, node, depth)
    name = (dotted(node) or "").rpartition(".")[2]
    own = source.definition(module, node)
    if own is not None and isinstance(own[1], ast.ClassDef):
        members = source.members(*own)
        if members:
            return Type("choice", choices=tuple(members))
        return Type(definition=(own[0], own[1]))
    if name in _SEQUENCES:
        return Type("list")
    if name in _PLAIN:
        return Type(_PLAIN[name])
    resolved = source.resolve(module, node)
    value = getattr(getattr(resolved, "node", None), "value", None)
    if isinstance(value, ast.expr) and not isinstance(value, ast.Constant):
        return read_type(source, getattr(resolved, "module", module), value, depth + 1)  # an alias of a type
    return TEXT


def _generic(source: Source, module: Module, node: ast.Subscript, depth: int) -> Type:
    name = (dotted(node.value) or "").rpartition(".")[2]
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return replace(read_type(source, module, arguments[0], depth + 1), optional=True)
    if name == "Union":
        return _union(source, module, arguments, depth)
    if name == "Literal":
        values = [source.value(module, argument) for argument in arguments]
        return TEXT if UNKNOWN in values else _literal(values)
    if name == "Annotated" and arguments:
        inner = read_type(source, module, arguments[0], depth + 1)
        return replace(inner, metadata=(*arguments[1:], *inner.metadata))
    if name in _WRAPPERS:
        inner = read_type(source, module, arguments[0], depth + 1)
        return replace(inner, wrappers=(name, *inner.wrappers))
    if name in _SEQUENCES:
        item = read_type(source, module, arguments[0], depth + 1)
        fixed = name in ("tuple", "Tuple") and not any(
            isinstance(a, ast.Constant) and a.value is Ellipsis for a in arguments
        )
        kind: ItemKind = item.kind if item.kind in ("int", "float") else "text"
        return Type("list", kind, choices=item.choices, fixed=fixed)
    return TEXT


def _union(source: Source, module: Module, nodes: list[ast.expr], depth: int) -> Type:
    optional = False
    found: list[Type] = []
    for node in nodes:
        if isinstance(node, ast.Constant) and node.value is None:
            optional = True
        else:
            found.append(read_type(source, module, node, depth + 1))
    optional |= any(one.optional for one in found)
    if len(found) == 1:
        return replace(found[0], optional=optional)
    kinds = {one.kind for one in found}
    if kinds == {"choice"}:
        return Type("choice", choices=tuple(c for one in found for c in one.choices), optional=optional)
    kind: Kind = "float" if kinds == {"int", "float"} else "text"
    return Type(kind, optional=optional, is_union=True)


def _literal(values: list[Any]) -> Type:
    chosen = tuple(value for value in values if value is not None)
    if chosen and all(isinstance(value, bool) for value in chosen):
        return Type("bool", optional=None in values)
    return Type("choice", choices=chosen, optional=None in values)


def enum_value(member: Any) -> Any:
    """Return the value of an enum's member; other values are returned as they are."""
    return member.value if isinstance(member, Member) else member


def enum_name(member: Any) -> Any:
    """Return the name of an enum's member; other values are returned as they are."""
    return member.name if isinstance(member, Member) else member


def annotated_call(found: Type, *names: str) -> ast.Call | None:
    """Return the call of a function with one of some names among the arguments of ``Annotated``.

    Parameters
    ----------
    found
        The type, with the arguments of ``Annotated`` as its metadata.
    *names
        Last parts of the function's name.
    """
    for node in found.metadata:
        if isinstance(node, ast.Call) and (dotted(node.func) or "").rpartition(".")[2] in names:
            return node
    return None


def flag_of(call: ast.Call, name: str, source: Source, module: Module) -> bool:
    """Return True if a keyword argument of a call is certainly True.

    Parameters
    ----------
    call
        The call.
    name
        Name of the argument.
    source
        The script and its modules.
    module
        The module with the call.
    """
    return source.value(module, keyword_of(call, name)) is True
