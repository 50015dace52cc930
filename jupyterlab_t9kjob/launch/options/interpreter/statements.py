"""Statements: follows a script from its first statement on, without running anything."""

from __future__ import annotations

# ruff: noqa: N802  (methods have the names of syntax nodes)
import ast
from typing import Final

from . import methods, operators
from .definitions import Definitions, extend
from .expressions import MAX_LOOP
from .module import Module
from .modules import Modules, is_search_path
from .state import Branch, State, Stop, negation
from .values import (
    UNKNOWN,
    DictValue,
    ListValue,
    Scope,
    Value,
)

NEXT: Final = "next"
RETURN: Final = "return"
BREAK: Final = "break"
CONTINUE: Final = "continue"
STOP: Final = "stop"

_BLOCKS: Final = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Expr)
_SKIPPED: Final = (*_BLOCKS, ast.Match, ast.Assign, ast.AugAssign)
_SIMPLE: Final = (ast.Constant, ast.Name, ast.Tuple)


class Interpreter(Definitions):
    """Follows statements.

    Parameters
    ----------
    state
        Heap, conditions and limits.
    modules
        Search for modules.
    words
        Identifiers of the libraries whose calls are kept.
    """

    def __init__(self, state: State, modules: Modules, words: frozenset[str]) -> None:
        super().__init__(state, modules, words)

    def run(self, module: Module) -> Scope:
        """Follow the statements of the script."""
        try:
            return self.execute_module(module)
        except Stop:
            return self._scopes[module.path]

    def execute_module(self, module: Module) -> Scope:
        """Follow a module's statements, once, and return its names."""
        scope = self._scopes.get(module.path)
        if scope is None:
            scope = self._scopes[module.path] = Scope(module)
            if module.tree is None:
                self.modules.left_out[module.name] = None
            else:
                with self.state.unconditional():
                    try:
                        self.execute(module.tree.body, scope)
                    except Stop:
                        if module.name == "__main__":
                            raise
                if self.plugins:
                    extend(self.state.heap, scope)
        return scope

    def execute(self, body: list[ast.stmt], scope: Scope) -> str:
        """Follow statements and return how they end: NEXT, RETURN, BREAK, CONTINUE or STOP.

        Parameters
        ----------
        body
            The statements, in order.
        scope
            Scope in which they run.
        """
        for index, node in enumerate(body):
            self.state.step()
            if isinstance(node, _SKIPPED) and self.settled and not self._matter(body[index:], scope.module):
                if isinstance(node, ast.Assign) and (scope.parent is None or isinstance(node.value, _SIMPLE)):
                    self._Assign(node, scope)
                elif isinstance(node, ast.Assign):
                    self._forget(list(node.targets), [], scope)
                continue
            method = getattr(self, f"_{type(node).__name__}", None)
            end = method(node, scope) if method is not None else None
            if end not in (None, NEXT):
                return str(end)
        return NEXT

    @property
    def settled(self) -> bool:
        """True if the command line was parsed: then only statements that may lead to options are followed."""
        return any(parser.parsed for parser in self.parsers)

    def _matter(self, body: list[ast.stmt], module: Module) -> bool:
        return any(self.relevance.relevant(node, module) for node in body)

    def _Expr(self, node: ast.Expr, scope: Scope) -> None:
        self.evaluate(node.value, scope)

    def _Assign(self, node: ast.Assign, scope: Scope) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute) and self._path(node, scope):
            return
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def _AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, scope), scope)

    def _AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        if is_search_path(node.target):
            self.search(self.need(node.value, scope), first=False)
            return
        value = self.need(node.value, scope)
        target = self.need(node.target, scope)
        if isinstance(target, ListValue) and isinstance(node.op, ast.Add):
            methods.list_method(self.state.heap, target, "extend", [value])
            return
        self.assign(node.target, operators.binary(node.op, target, value), scope)

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a target of an assignment or loop; the parameters are those of `Expressions.assign`."""
        if isinstance(target, ast.Attribute):
            self.set_attribute(self.need(target.value, scope), target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner, key = self.need(target.value, scope), self.need(target.slice, scope)
            if isinstance(owner, DictValue) and operators.is_constant(key):
                self.state.heap.write(owner, key, value)
            else:
                methods.havoc(self.state.heap, owner)
        else:
            super().assign(target, value, scope)

    def _Delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                owner, key = self.need(target.value, scope), self.need(target.slice, scope)
                if isinstance(owner, DictValue) and operators.is_constant(key):
                    methods.dict_method(self.state.heap, owner, "pop", [key, None], {})
                else:
                    methods.havoc(self.state.heap, owner)

    def _Global(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            at = scope.parent
            while (
                at is not None and at.parent is not None and (isinstance(node, ast.Global) or name not in at.contents)
            ):
                at = at.parent
            if at is not None:
                scope.declared[name] = at

    _Nonlocal = _Global

    def _Return(self, node: ast.Return, scope: Scope) -> str:
        scope.returns.append(self.evaluate(node.value, scope) if node.value else None)
        return RETURN

    def _Raise(self, node: ast.Raise, scope: Scope) -> str:
        raise Stop

    def _Break(self, node: ast.Break, scope: Scope) -> str:
        return BREAK

    def _Continue(self, node: ast.Continue, scope: Scope) -> str:
        return CONTINUE

    def _If(self, node: ast.If, scope: Scope) -> str:
        known = operators.truth(self.need(node.test, scope))
        if known is not None:
            return self.execute(node.body if known else node.orelse, scope)
        text = self.condition(node.test)
        return self._alternatives([(text, node.body), (negation(node.test, text), node.orelse)], scope)

    def _alternatives(self, alternatives: list[tuple[str | None, list[ast.stmt]]], scope: Scope) -> str:
        """Follow alternative blocks and join what they leave."""
        ends: list[tuple[str, Branch]] = []
        for condition, body in alternatives:
            with self.state.branch(condition) as written:
                try:
                    end = self.execute(body, scope)
                except Stop:
                    end = STOP
            ends.append((end, written))
        going = [branch for end, branch in ends if end == NEXT]
        if going:
            self.state.heap.join(going)
            return NEXT
        alive = [(end, branch) for end, branch in ends if end != STOP]
        if not alive:
            raise Stop
        self.state.heap.join([branch for _, branch in alive])
        return alive[0][0]

    def _For(self, node: ast.For | ast.AsyncFor, scope: Scope) -> str:
        items = self.items(self.need(node.iter, scope))
        if items is None or len(items) > MAX_LOOP:
            text = f"for {ast.unparse(node.target)} in {self.condition(node.iter)}"
            self._forget([node.target], node.body, scope)
            return self._maybe(text, node.body, scope)
        for item in items:
            self.assign(node.target, item, scope)
            end = self.execute(node.body, scope)
            if end == BREAK:
                return NEXT
            if end in (RETURN, STOP):
                return end
        return self.execute(node.orelse, scope)

    _AsyncFor = _For

    def _While(self, node: ast.While, scope: Scope) -> str:
        self._forget([], node.body, scope)
        known = operators.truth(self.need(node.test, scope))
        if known is False:
            return NEXT
        return self._maybe(None if known else f"while {self.condition(node.test)}", node.body, scope)

    def _maybe(self, condition: str | None, body: list[ast.stmt], scope: Scope) -> str:
        """Follow the body of a loop that runs any number of times."""
        self._alternatives([(condition, body), (None, [])], scope)
        return NEXT

    def _forget(self, targets: list[ast.expr], body: list[ast.stmt], scope: Scope) -> None:
        """Make the names that a loop binds unknown: their values come from any of its rounds."""
        nodes: list[ast.AST] = [*targets, *body]
        while nodes:
            node = nodes.pop()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                super().assign(node, UNKNOWN, scope)
            elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                nodes.extend(ast.iter_child_nodes(node))

    def _With(self, node: ast.With | ast.AsyncWith, scope: Scope) -> str:
        for item in node.items:
            value = self.evaluate(item.context_expr, scope)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope)
        return self.execute(node.body, scope)

    _AsyncWith = _With

    def _Try(self, node: ast.Try, scope: Scope) -> str:
        ends: list[tuple[str, Branch]] = []
        with self.state.branch(None) as written:
            try:
                end = self.execute([*node.body, *node.orelse], scope)
            except Stop:
                end = STOP
        ends.append((end, written))
        for handler in node.handlers:
            caught = self.condition(handler.type) if handler.type else "error"
            with self.state.branch(f"except {caught}") as written:
                try:
                    end_handler = self.execute(handler.body, scope)
                except Stop:
                    end_handler = STOP
            ends.append((end_handler, written))
        going = [branch for way, branch in ends if way == NEXT]
        if going:
            self.state.heap.join(going)
            return self.execute(node.finalbody, scope)
        alive = [branch for way, branch in ends if way != STOP]
        if not alive:
            raise Stop
        self.state.heap.join(alive)
        end = next(way for way, _ in ends if way != STOP)
        self.execute(node.finalbody, scope)
        return end

    _TryStar = _Try

    def _Match(self, node: ast.Match, scope: Scope) -> str:
        subject = self.condition(node.subject)
        value = self.need(node.subject, scope)
        alternatives: list[tuple[str | None, list[ast.stmt]]] = []
        for case in node.cases:
            pattern = case.pattern
            if isinstance(pattern, ast.MatchValue) and case.guard is None:
                known = operators.compare(ast.Eq(), value, self.need(pattern.value, scope))
                if known is True and not alternatives:
                    return self.execute(case.body, scope)
                if known is False:
                    continue
            if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and not alternatives and not case.guard:
                return self.execute(case.body, scope)
            alternatives.append((f"{subject} is {ast.unparse(pattern)}", case.body))
        return self._alternatives([*alternatives, (None, [])], scope)

    def _path(self, node: ast.Assign, scope: Scope) -> bool:
        """Follow an assignment to `sys.path`; return True if it is one."""
        if not is_search_path(node.targets[0]):
            return False
        self.search(self.need(node.value, scope), first=True)
        return True
