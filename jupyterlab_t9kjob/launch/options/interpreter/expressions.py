"""Evaluation of expressions."""

from __future__ import annotations

# ruff: noqa: N802  (methods have the names of syntax nodes)
import ast
import builtins
from abc import abstractmethod
from collections.abc import Callable
from typing import Final

from . import operators
from .attributes import ENUMS, Attributes
from .library import constant
from .modules import Modules
from .operators import bounded, is_constant, items_of, truth
from .state import MAX_DEPTH, State, join, source_text
from .values import (
    REST,
    UNKNOWN,
    ClassValue,
    Deferred,
    DictValue,
    FunctionValue,
    ImportedName,
    Library,
    ListValue,
    Scope,
    Value,
)

BUILTINS: Final = frozenset(dir(builtins))
MAX_LOOP: Final = 1000


class Expressions(Attributes):
    """Evaluates expressions.

    Parameters
    ----------
    state
        Heap, conditions and limits.
    modules
        Search for modules.
    """

    def __init__(self, state: State, modules: Modules) -> None:
        super().__init__(modules)
        self.state = state
        self._depth = 0

    @abstractmethod
    def call(self, node: ast.Call, scope: Scope) -> Value:
        """Return the result of a call.

        Parameters
        ----------
        node
            The call.
        scope
            Scope that contains the call.

        Raises
        ------
        Stop
            If the script exits in the call.
        """

    def need(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression, with calls and imports that were put off until now.

        Parameters
        ----------
        node
            The expression.
        scope
            Scope that contains the expression.
        """
        return self.force(self.evaluate(node, scope))

    def force(self, value: Value) -> Value:
        """Return a value after following the call or import that gives it."""
        for _ in range(30):
            if isinstance(value, ImportedName):
                value = self.imported(value)
            elif isinstance(value, Deferred):
                if not value.result:
                    value.result.append(UNKNOWN)  # A call that needs its own result.
                    function = self.force(value.function)
                    value.result[0] = self.invoke(function, value.args, value.kwargs, value.node, value.scope)
                value = value.result[0]
            else:
                return value
        return UNKNOWN

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression; the result may be a `Deferred` or an `ImportedName`.

        Parameters
        ----------
        node
            The expression.
        scope
            Scope that contains the expression.

        Raises
        ------
        Stop
            If the script exits in a call of the expression.
        OutOfBudget, CallTooLong
            If a limit of steps or time is reached.
        """
        self.state.step()
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None or self._depth > 4 * MAX_DEPTH:
            return UNKNOWN
        self._depth += 1
        try:
            return method(node, scope)
        finally:
            self._depth -= 1

    def _Constant(self, node: ast.Constant, scope: Scope) -> Value:
        value = node.value
        if type(value) in (int, float) and node.lineno == node.end_lineno:
            length = (node.end_col_offset or 0) - node.col_offset
            lines = scope.module.lines
            if length != len(repr(value)) and node.lineno <= len(lines) and lines[node.lineno - 1].isascii():
                text = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
                return operators.written(value, text)  # type: ignore[arg-type]
        return bounded(value)

    def _Name(self, node: ast.Name, scope: Scope) -> Value:
        name = node.id
        declared = scope.declared.get(name)
        at: Scope | None = declared or scope
        first = at
        while at is not None:
            # The names of a class body are not seen in its methods.
            if name in at.contents and (at is first or not at.is_class):
                return at.contents[name]
            at = at.parent
        if name == "__file__":
            return scope.module.path
        if name == "__name__":
            return scope.module.name
        if name == "__doc__":
            return ast.get_docstring(scope.module.tree, clean=False) if scope.module.tree else None
        return constant(f"builtins.{name}") if name in BUILTINS else UNKNOWN

    def _Attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.need(node.value, scope), node.attr)

    def items(self, value: Value) -> list[Value] | None:
        """Return the items over which a loop over a value goes; None if they are not known."""
        if isinstance(value, ClassValue):
            return [member for _, member in self.members(value)] if value.derives(*ENUMS) else None
        return items_of(value)

    def _Subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        value = self.need(node.value, scope)
        if isinstance(value, Library) and not value.name.startswith(("sys.", "os.")):
            return value  # a generic type, such as ``argparse._SubParsersAction[T]``
        key = self.need(node.slice, scope)
        if isinstance(value, ClassValue) and isinstance(key, str):
            return dict(self.members(value)).get(key, UNKNOWN)
        return operators.subscript(value, key)

    def _Slice(self, node: ast.Slice, scope: Scope) -> Value:
        parts = [self.need(part, scope) if part else None for part in (node.lower, node.upper, node.step)]
        return slice(*parts) if all(part is None or isinstance(part, int) for part in parts) else UNKNOWN

    def _Tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        items = self._elements(node.elts, scope)
        return UNKNOWN if items is None else tuple(items)

    def _List(self, node: ast.List | ast.Set, scope: Scope) -> Value:
        items = self._elements(node.elts, scope)
        return ListValue({"items": UNKNOWN if items is None else items})

    _Set = _List

    def _elements(self, nodes: list[ast.expr], scope: Scope) -> list[Value] | None:
        items: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                more = self.items(self.need(node.value, scope))
                if more is None:
                    return None
                items += more
            else:
                items.append(self.evaluate(node, scope))
        return items

    def _Dict(self, node: ast.Dict, scope: Scope) -> Value:
        made = DictValue()
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                more = self.need(item, scope)
                made.contents.update(more.contents if isinstance(more, DictValue) else {REST: None})
                continue
            name = self.need(key, scope)
            made.contents[name if is_constant(name) else REST] = self.evaluate(item, scope)
        return made

    def _UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.need(node.operand, scope)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            return UNKNOWN if known is None else not known
        if isinstance(node.op, ast.USub):
            return operators.negative(value)
        return value if isinstance(node.op, ast.UAdd) and isinstance(value, int | float) else UNKNOWN

    def _BinOp(self, node: ast.BinOp, scope: Scope) -> Value:
        return operators.binary(node.op, self.need(node.left, scope), self.need(node.right, scope))

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> Value:
        wanted = isinstance(node.op, ast.Or)
        certain = True
        value: Value = UNKNOWN
        for part in node.values:
            value = self.need(part, scope)
            known = truth(value)
            if known is wanted:
                return value if certain or type(value) is bool else UNKNOWN
            certain &= known is not None
        return value if certain else UNKNOWN

    def _Compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.need(node.left, scope)
        result: Value = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.need(right_node, scope)
            found = operators.compare(op, left, right)
            if found is False:
                return False
            result = result if found is True else UNKNOWN
            left = right
        return result

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> Value:
        known = truth(self.need(node.test, scope))
        if known is None:
            return join([self.need(node.body, scope), self.need(node.orelse, scope)])
        return self.evaluate(node.body if known else node.orelse, scope)

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.state.heap.write(scope, node.target.id, value)
        return value

    def _JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        texts = [self.evaluate(part, scope) for part in node.values]
        return bounded("".join(texts)) if all(isinstance(text, str) for text in texts) else UNKNOWN

    def _FormattedValue(self, node: ast.FormattedValue, scope: Scope) -> Value:
        value = self.need(node.value, scope)
        spec = self.evaluate(node.format_spec, scope) if node.format_spec else ""
        conversion = chr(node.conversion) if node.conversion >= 0 else ""
        text = operators.format_value(value, conversion, spec) if isinstance(spec, str) else None
        return UNKNOWN if text is None else text

    def _Lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return FunctionValue(node, scope.module, scope, self.defaults(node.args, scope))

    def _Await(self, node: ast.Await, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _Call(self, node: ast.Call, scope: Scope) -> Value:
        return self.call(node, scope)

    def _ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
        found: list[Value] = []
        inner = Scope(scope.module, scope)
        known = self._generate(node.generators, inner, lambda: found.append(self.need(node.elt, inner)))
        return ListValue({"items": found if known else UNKNOWN})

    _SetComp = _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp, scope: Scope) -> Value:
        made, inner = DictValue(), Scope(scope.module, scope)

        def add() -> None:
            key = self.need(node.key, inner)
            made.contents[key if is_constant(key) else REST] = self.need(node.value, inner)

        if not self._generate(node.generators, inner, add):
            made.contents[REST] = None
        return made

    def _generate(self, generators: list[ast.comprehension], scope: Scope, add: Callable[[], None]) -> bool:
        """Call `add` for each combination of a comprehension's items; return False if they are not all known."""
        if not generators:
            add()
            return True
        first, *others = generators
        items = self.items(self.need(first.iter, scope))
        if items is None or len(items) > MAX_LOOP:
            return False
        for item in items:
            self.assign(first.target, item, scope)
            tests = [truth(self.need(test, scope)) for test in first.ifs]
            if None in tests:
                return False
            if all(tests) and not self._generate(others, scope, add):
                return False
        return True

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind the names of a target of an assignment or loop.

        Parameters
        ----------
        target
            The target. Attributes and items are left to the subclass.
        value
            The assigned value; an item of a loop.
        scope
            Scope that contains the statement.
        """
        if isinstance(target, ast.Name):
            owner = scope.declared.get(target.id, scope)
            self.state.heap.write(owner, target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            items = self.items(self.force(value))
            fits = items is not None and len(items) == len(target.elts)
            for index, part in enumerate(target.elts):
                known = fits and items is not None and not isinstance(part, ast.Starred)
                self.assign(part, items[index] if known and items else UNKNOWN, scope)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, UNKNOWN, scope)

    def defaults(self, arguments: ast.arguments, scope: Scope) -> dict[str, Value]:
        """Return the values of the defaults of parameters.

        Parameters
        ----------
        arguments
            Parameters of a function.
        scope
            Scope that contains the function.

        Returns
        -------
        defaults
            Values by the names of the parameters that have a default.
        """
        positional = [*arguments.posonlyargs, *arguments.args]
        late = positional[len(positional) - len(arguments.defaults) :]
        found = {arg.arg: self.evaluate(node, scope) for arg, node in zip(late, arguments.defaults, strict=True)}
        for arg, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if node is not None:
                found[arg.arg] = self.evaluate(node, scope)
        return found

    def text(self, node: ast.expr, scope: Scope) -> str | None:
        """Return a text whose unknown parts are replaced by an ellipsis; None if no part is known.

        Parameters
        ----------
        node
            The expression.
        scope
            Scope that contains the expression.
        """
        value = self.need(node, scope)
        if isinstance(value, str):
            return value
        match node:
            case ast.BinOp(op=ast.Add()):
                parts = [self.text(node.left, scope), self.text(node.right, scope)]
            case ast.JoinedStr(values=values):
                parts = [self.text(part, scope) for part in values]
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str() as text)):
                parts = [text.partition("%")[0], None]
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
                parts = [text.partition("{")[0], None]
            case _:
                return None
        return "".join("…" if part is None else part for part in parts) if any(parts) else None

    def condition(self, node: ast.expr) -> str:
        """Return the text of a condition."""
        return source_text(node)
