"""Reads from a module's syntax tree how the script trains; `observed` defines the facts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from ..options.syntax_nodes import children
from .conditions import afterwards, of_windows, positive, variables, words
from .observed import Assigned, Call, Constant, Observed, Ref, Scope, Value
from .tree_walk import full_name

MAX_PARTS: Final = 30
MAX_CALLS: Final = 5000
MAX_ENTRIES: Final = 200
MAX_DEPTH: Final = 4
DULL_CALLS: Final = frozenset(
    (
        *("print", "len", "range", "append", "add_argument", "isinstance", "zip", "enumerate", "float", "super", "max"),
        *("sum", "min", "info", "debug", "warning", "warn", "abs", "round", "sorted", "item", "numpy", "view", "mean"),
        *("reshape", "size", "permute", "transpose", "squeeze", "unsqueeze", "step", "zero_grad", "backward"),
    )
)
DULL_ROOTS: Final = frozenset({"numpy", "math", "logging", "re", "matplotlib", "random", "time"})
WRAPPERS: Final = frozenset(
    (
        *("Path", "PurePath", "str", "expanduser", "abspath", "realpath", "normpath", "resolve", "absolute", "int"),
        *("join", "joinpath", "format", "strip", "rstrip", "lstrip", "lower", "fspath", "as_posix", "dirname"),
        *("to_absolute_path", "basename", "with_suffix", "replace", "get", "getenv", "device"),
    )
)
"""Functions such as ``Path``, whose result is derived from their arguments: the arguments are read instead."""


def observe(tree: ast.Module) -> Observed:
    """Return the facts about a module. If it is very large or deeply nested, later parts of it are not read."""
    reading = _Reading()
    with suppress(RecursionError):
        reading.block(tree.body, (None, None), frozenset(), main=False)
    return reading.found


class _Reading:
    def __init__(self) -> None:
        self.found = Observed()
        self._aliases: dict[str, str] = {}

    # -- statements ----------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt], scope: Scope, conditions: frozenset[str], *, main: bool) -> None:
        """Read statements. After ``if x: return`` the rest of the block depends on the same condition."""
        for node in statements:
            if type(node) in _SIMPLE:
                self._simple(node, scope, conditions, main)
                continue
            self._statement(node, scope, conditions, main)
            conditions |= afterwards(node)

    def _statement(self, node: ast.stmt, scope: Scope, conditions: frozenset[str], main: bool) -> None:
        match node:
            case ast.Import(names=names):
                self._aliases.update({alias.asname: alias.name for alias in names if alias.asname})
            case ast.ImportFrom(names=names, module=module, level=level):
                prefix = f"{'.' * level}{module or ''}"
                self._aliases.update({alias.asname or alias.name: f"{prefix}.{alias.name}" for alias in names})
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope, conditions, main)
            case ast.ClassDef(name=name, body=body):
                self.found.classes[name] = frozenset(full_name(base, self._aliases) or "" for base in node.bases)
                self.block(body, (scope[0] or name, None), conditions, main=main)
            case ast.If(test=test, body=body, orelse=orelse):
                self._expressions([test], scope, conditions, main)
                inner = words(test)
                inside = main or "__name__" in inner
                self.block(body, scope, conditions | positive(test, inner), main=inside)
                other = frozenset[str]() if of_windows(test) else inner
                self.block(orelse, scope, conditions | other, main=main)
            case (
                ast.For(target=target, iter=iterated, body=body, orelse=orelse)
                | ast.AsyncFor(target=target, iter=iterated, body=body, orelse=orelse)
            ):
                self._expressions([iterated], scope, conditions, main)
                self._bind(target, iterated, scope, conditions)
                self.block([*body, *orelse], scope, conditions, main=main)
            case ast.While(test=test, body=body, orelse=orelse):
                self._expressions([test], scope, conditions, main)
                self.block([*body, *orelse], scope, conditions, main=main)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                self._expressions([item.context_expr for item in items], scope, conditions, main)
                inner = conditions
                for item in items:
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, item.context_expr, scope, conditions)
                    inner |= words(item.context_expr)  # with accelerator.main_process_first():
                self.block(body, scope, inner, main=main)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                if handlers:
                    self.found.attempts.append((_lines(body), _lines(handlers)))
                for part in (body, orelse, final):
                    self.block(part, scope, conditions, main=main)
                for handler in handlers:
                    self.block(handler.body, scope, conditions | variables(body), main=main)
            case ast.Match(subject=subject, cases=cases):
                self._expressions([subject], scope, conditions, main)
                for case in cases:
                    self.block(case.body, scope, conditions | words(subject), main=main)
            case _:
                self._simple(node, scope, conditions, main)

    def _simple(self, node: ast.stmt, scope: Scope, conditions: frozenset[str], main: bool) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        self._expressions([child for child in children(node) if isinstance(child, ast.expr)], scope, conditions, main)
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value, scope, conditions)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value, scope, conditions)
            case ast.Return(value=ast.expr() as value) if scope[1]:
                self.found.returns.setdefault(scope[1], []).append(self.value(value))

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, conditions: frozenset[str], main: bool
    ) -> None:
        found, arguments = self.found, node.args
        own = [*arguments.posonlyargs, *arguments.args]
        method = scope[0] is not None and scope[1] is None and bool(own) and own[0].arg in ("self", "cls")
        names = tuple(argument.arg for argument in own[method:]) + tuple(x.arg for x in arguments.kwonlyargs)
        keys = [node.name, *([scope[0]] if method and node.name == "__init__" and scope[0] else [])]
        for key in keys:
            found.parameters.setdefault(key, names)
            for argument, default in zip(reversed(own), reversed(arguments.defaults), strict=False):
                found.defaults.setdefault((key, argument.arg), self.value(default))
            for argument, default_ in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=False):
                if default_ is not None:
                    found.defaults.setdefault((key, argument.arg), self.value(default_))
        found.decorated[node.name] = frozenset().union(*(words(decorator) for decorator in node.decorator_list))
        self._expressions(node.decorator_list, scope, conditions, main)
        self.block(node.body, (scope[0] or node.name, node.name), conditions if scope[1] else frozenset(), main=main)

    def _bind(self, target: ast.expr, value: ast.expr, scope: Scope, conditions: frozenset[str]) -> None:
        match target:
            case ast.Name(id=name):
                assigned = Assigned(self.value(value), scope, conditions, target.lineno)
                self.found.names.setdefault(name, []).append(assigned)
                self._dict(name, value)
                if isinstance(value, ast.Dict):
                    self._entries(name, value, scope, conditions)
            case ast.Attribute(attr=name):
                assigned = Assigned(self.value(value), scope, conditions, target.lineno)
                self.found.attributes.setdefault(name, []).append(assigned)
            case ast.Subscript(value=owner, slice=ast.Constant(value=str() as key)):
                assigned = Assigned(self.value(value), scope, conditions, target.lineno)
                if full_name(owner, self._aliases) == "os.environ":
                    self.found.environment.append((key, assigned))
                else:
                    self.found.attributes.setdefault(key, []).append(assigned)
                    if isinstance(owner, ast.Name):
                        self._keys(owner.id, frozenset({key}))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                values = (
                    value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(targets) else None
                )
                for index, item in enumerate(targets):
                    self._bind(item, values[index] if values else value, scope, conditions)

    def _dict(self, name: str, value: ast.expr) -> None:
        match value:
            case ast.Dict(keys=keys) if all(isinstance(key, ast.Constant) for key in keys):
                self._keys(name, frozenset(str(key.value) for key in keys if isinstance(key, ast.Constant)))
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(key.arg for key in keywords):
                self._keys(name, frozenset(key.arg or "" for key in keywords))
            case ast.IfExp(body=body, orelse=orelse):
                self._dict(name, body)
                self._dict(name, orelse)
            case _:
                self.found.dicts[name] = None

    def _entries(self, name: str, node: ast.Dict, scope: Scope, conditions: frozenset[str], depth: int = 0) -> None:
        """Note the values of a dict by their keys, and the absolute paths among them by the dict's name as well."""
        for key, value in zip(node.keys[:MAX_ENTRIES], node.values, strict=False):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                continue
            if isinstance(value, ast.Dict):
                if depth < MAX_DEPTH:
                    self._entries(name, value, scope, conditions, depth + 1)
                continue
            assigned = Assigned(self.value(value), scope, conditions, value.lineno)
            self.found.attributes.setdefault(key.value, []).append(assigned)
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.startswith("/"):
                self.found.names[name].append(assigned)

    def _keys(self, name: str, keys: frozenset[str] | None) -> None:
        known = self.found.dicts.get(name, frozenset())
        self.found.dicts[name] = None if known is None or keys is None else known | keys

    # -- expressions ---------------------------------------------------------------------------------------------------

    def _expressions(self, roots: list[ast.expr], scope: Scope, conditions: frozenset[str], main: bool) -> None:
        for root in roots:
            for node, inner in _walk(root, conditions):
                if isinstance(node, ast.Call):
                    self._call(node, scope, inner, main)
                elif isinstance(node, ast.NamedExpr):
                    self._bind(node.target, node.value, scope, inner)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isupper():
                    self.found.reads.add(node.value)

    def _call(self, node: ast.Call, scope: Scope, conditions: frozenset[str], main: bool) -> None:
        name = full_name(node.func, self._aliases)
        if name is None:
            name = f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else None
        if name is None or len(self.found.calls) >= MAX_CALLS:
            return
        last = name.rpartition(".")[2]
        if last == "update" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            self._update(node.func.value.id, node)
        if last in DULL_CALLS or name.partition(".")[0] in DULL_ROOTS or name.startswith("torch.nn.functional."):
            return
        keywords = tuple((keyword.arg, self.value(keyword.value)) for keyword in node.keywords)
        args: list[Value] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                break
            args.append(self.value(argument))
        self.found.calls.append(Call(name, node.lineno, tuple(args), keywords, scope, conditions, main))

    def _update(self, name: str, node: ast.Call) -> None:
        """Note the keys that ``kwargs.update(...)`` adds to a dict."""
        for argument in node.args:
            match argument:
                case ast.Name(id=other):
                    self._keys(name, self.found.dicts.get(other))
                case ast.Dict(keys=keys) if all(isinstance(key, ast.Constant) for key in keys):
                    self._keys(name, frozenset(str(key.value) for key in keys if isinstance(key, ast.Constant)))
                case _:
                    self._keys(name, None)
        if node.keywords:
            known = all(keyword.arg for keyword in node.keywords)
            self._keys(name, frozenset(keyword.arg or "" for keyword in node.keywords) if known else None)

    def value(self, node: ast.expr) -> Value:
        """Return the parts of an expression."""
        parts: list[Ref | Constant] = []
        self._parts(node, parts, 0)
        return Value(tuple(parts[:MAX_PARTS]), len(parts) == 1)

    def _parts(self, node: ast.expr, parts: list[Ref | Constant], depth: int) -> None:
        if len(parts) > MAX_PARTS or depth > 20:
            return
        children: list[ast.expr] = []
        match node:
            case ast.Name(id=name):
                parts.append(Ref("name", name))
            case ast.Constant(value=str() | int() | float() | None as constant):
                parts.append(constant)
            case ast.Attribute() | ast.Subscript(slice=ast.Constant(value=str())):
                children = self._attribute(node, parts)
            case ast.Subscript(value=owner):
                children = [owner]
            case ast.BinOp(left=left, right=right):
                children = [left, right]
            case ast.BoolOp(values=values):
                children = values
            case ast.JoinedStr(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                children = values
            case ast.FormattedValue(value=inner) | ast.Await(value=inner) | ast.UnaryOp(operand=inner):
                children = [inner]
            case ast.IfExp(test=test, orelse=orelse) if of_windows(test):
                children = [orelse]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                parts += [Ref("test", name) for name in sorted(words(test))][:5]
                children = [body, orelse]
            case ast.Compare(left=left, comparators=comparators):
                children = [left, *comparators]
            case ast.NamedExpr(value=inner):
                children = [inner]
            case ast.Call():
                children = self._called(node, parts)
        for child in children:
            self._parts(child, parts, depth + 1)

    def _attribute(self, node: ast.expr, parts: list[Ref | Constant]) -> list[ast.expr]:
        names: list[str] = []
        while len(names) < 8:
            match node:
                case ast.Attribute(value=owner, attr=name):
                    names.append(name)
                    node = owner
                case ast.Subscript(value=owner, slice=ast.Constant(value=str() as key)):
                    names.append(key)
                    node = owner
                case _:
                    break
        if names == ["parent"] or (names and not isinstance(node, ast.Name)):
            return [node]
        parts.append(Ref("attr", ".".join(reversed(names))))
        return []

    def _called(self, node: ast.Call, parts: list[Ref | Constant]) -> list[ast.expr]:
        name = full_name(node.func, self._aliases) or ""
        last = name.rpartition(".")[2] or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if last == "getattr" or (last == "get" and len(node.args) > 0):
            key = node.args[-1 if last == "get" and len(node.args) == 1 else min(1, len(node.args) - 1)]
            if last == "get":
                key = node.args[0]
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                prefix = "environ." if name == "os.environ.get" else ""
                parts.append(Ref("attr", f"{prefix}{key.value}"))
                return [] if last == "getattr" else node.args[1:]
        if name == "os.getenv" and node.args and isinstance(node.args[0], ast.Constant):
            parts.append(Ref("attr", f"environ.{node.args[0].value!s}"))
            return node.args[1:]
        if last == "strftime":
            return []
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) and last in WRAPPERS else []
        if owner and full_name(owner[0], self._aliases) in ("os.path", "os", "osp", "hydra.utils", "pathlib", "torch"):
            owner = []
        if last not in WRAPPERS:
            parts.append(Ref("call", name or f".{last}"))
        return [*owner, *(x.value if isinstance(x, ast.Starred) else x for x in node.args)]


_SIMPLE: Final = frozenset({ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Delete})
_YIELDED: Final = frozenset({ast.Call, ast.NamedExpr, ast.Constant})


def _lines(nodes: Sequence[ast.stmt | ast.excepthandler]) -> range:
    return range(nodes[0].lineno, (nodes[-1].end_lineno or nodes[-1].lineno) + 1)


def _walk(root: ast.expr, conditions: frozenset[str]) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Yield the calls, constants and ``:=`` of an expression with the conditions under which they are evaluated."""
    stack: list[tuple[ast.AST, frozenset[str]]] = [(root, conditions)]
    while stack:
        node, inner = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            continue
        if kind in _YIELDED:
            yield node, inner
        if isinstance(node, ast.IfExp):
            stack.append((node.test, inner))
            inner = inner | words(node.test)
            stack += [(node.body, inner), (node.orelse, inner)]
        elif isinstance(node, ast.BoolOp):
            stack.append((node.values[0], inner))
            inner = inner | words(node.values[0])
            stack += [(value, inner) for value in node.values[1:]]
        elif kind is not ast.Constant:
            stack += [(value, inner) for value in children(node)]
