"""Parameters of a notebook: the variables of its cell with the tag ``parameters``, as in papermill."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from ..model import ScriptOption
from .reader import CodeCell

TAG: Final = "parameters"
INJECTED_TAG: Final = "injected-parameters"
"""Tag of the cell that papermill adds to its output; it replaces the values of the cell before."""
MAX_PARAMETERS: Final = 500
_MAX_TEXT: Final = 2000

Kind = Literal["bool", "int", "float", "str", "literal"]
_ANNOTATIONS: Final[dict[str, Kind]] = {"bool": "bool", "int": "int", "float": "float", "str": "str"}


@dataclass(frozen=True)
class Parameter:
    """A parameter: its kind, its value as text (None if only the notebook computes it), and its comment."""

    name: str
    kind: Kind
    default: str | None
    help: str | None
    line: int


@dataclass(frozen=True)
class Parameters:
    """Parameters of a notebook.

    Attributes
    ----------
    cell
        Number of the cell with the tag; None if the notebook has none.
    after
        Key of the cell after which a job's values are assigned.
    items
        The parameters, in the order of the cell.
    """

    cell: int | None = None
    after: str | None = None
    items: list[Parameter] = field(default_factory=list)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each parameter."""
        return {item.name: item.kind for item in self.items}

    def without(self, flags: set[str]) -> Parameters:
        """Return the parameters whose flags are not among those that the notebook's own code reads."""
        return replace(self, items=[item for item in self.items if f"--{item.name}" not in flags])

    def options(self) -> list[ScriptOption]:
        """Return the parameters as options of the script."""
        return [_option(item) for item in self.items]


def read_parameters(cells: list[tuple[CodeCell, str]]) -> Parameters:
    """Return the parameters of a notebook.

    Parameters
    ----------
    cells
        The code cells in order, each with its text as Python.
    """
    own = next((cell for cell in cells if TAG in cell[0].tags), None)
    injected = next((cell for cell in cells if INJECTED_TAG in cell[0].tags), None)
    if own is None:
        return Parameters()
    found = {item.name: item for item in _assigned(own[1])}
    last = own
    if injected is not None and injected[0].number > own[0].number:
        last = injected
        for item in _assigned(injected[1]):
            before = found.get(item.name, item)
            found[item.name] = Parameter(item.name, item.kind, item.default, before.help, before.line)
    return Parameters(own[0].number, last[0].key, list(found.values())[:MAX_PARAMETERS])


def _assigned(code: str) -> list[Parameter]:
    try:
        body = ast.parse(code).body
        comments = _comments(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return []
    found: dict[str, Parameter] = {}
    for node in body:
        annotated = ""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                annotated = ast.unparse(node.annotation)
            case _:
                continue
        if name.startswith("_"):
            continue
        kind, default = _kind_and_text(value, code)
        if kind == "literal" or (annotated, kind) == ("float", "int"):
            kind = _ANNOTATIONS.get(annotated, kind)
        found[name] = Parameter(name, kind, default, comments.get(node.end_lineno or node.lineno), node.lineno)
    return list(found.values())


def _kind_and_text(value: ast.expr, code: str) -> tuple[Kind, str | None]:
    try:
        constant: Any = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return "literal", None
    text = ast.get_source_segment(code, value) or repr(constant)
    if len(text) > _MAX_TEXT:
        return "literal", None
    match constant:
        case bool():
            return "bool", str(constant)
        case int():
            return "int", text
        case float():
            return "float", text
        case str():
            return "str", constant
    return "literal", " ".join(text.split()) if "\n" in text else text


def _comments(code: str) -> dict[int, str]:
    """Return the comment at the end of each line."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {
        token.start[0]: token.string.lstrip("# ")[:_MAX_TEXT]
        for token in tokens
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()
    }


def _option(item: Parameter) -> ScriptOption:
    flag = f"--{item.name}"
    match item.kind:
        case "bool":
            return ScriptOption(
                flags=[flag],
                off_flag=f"--no-{item.name}",
                dest=item.name,
                kind="flag",
                default=item.default,
                help=item.help,
                line=item.line,
            )
        case "int" | "float":
            return ScriptOption(
                flags=[flag], dest=item.name, kind=item.kind, default=item.default, help=item.help, line=item.line
            )
    return ScriptOption(flags=[flag], dest=item.name, kind="text", default=item.default, help=item.help, line=item.line)
