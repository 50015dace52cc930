"""Definitions of functions and classes with their decorators, and imports."""

from __future__ import annotations

# ruff: noqa: N802  (methods have the names of syntax nodes)
import ast

from ..syntax_nodes import descendants
from . import methods
from .calls import Calls
from .library_calls import Args, Kwargs
from .module import Module
from .modules import Modules
from .relevance import OWN, filled_by
from .state import Heap, State
from .values import (
    REST,
    UNKNOWN,
    ClassValue,
    DictValue,
    FunctionValue,
    ImportedName,
    Instance,
    Library,
    ListValue,
    ModuleValue,
    Scope,
    SuperValue,
    Value,
)


class Definitions(Calls):
    """Gives names to functions, classes and modules.

    Parameters
    ----------
    state
        Heap, conditions and limits.
    modules
        Search for modules.
    words
        Identifiers of the libraries whose calls are kept.

    Attributes
    ----------
    decorated
        Functions and classes with decorators of libraries.
    waiting
        Imported modules that may lead to options, and that were not followed yet.
    plugins
        True if the script imports modules that are not followed, as only a run tells their names, or as they are too
        many. They may fill all registries.
    """

    def __init__(self, state: State, modules: Modules, words: frozenset[str]) -> None:
        super().__init__(state, modules, words)
        self._scopes: dict[str, Scope] = {}
        self._put_off: list[Module] = []
        self.decorated: list[FunctionValue | ClassValue] = []
        self.waiting: list[Module] = []
        self.plugins = False

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        # The methods of a class do not see the names of its body.
        owner = scope.owner if scope.is_class else None
        made = FunctionValue(node, scope.module, scope, self.defaults(node.args, scope), owner=owner)
        value = self._decorate(made, node.decorator_list, scope)
        self.state.heap.write(scope.declared.get(node.name, scope), node.name, value)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        bases = [self.need(base, scope) for base in node.bases]
        made = ClassValue(node, scope.module, bases)
        inner = Scope(scope.module, scope, made, is_class=True)
        inner.contents = made.contents
        self.execute(node.body, inner)
        self._derive(made, node, scope)
        value = self._decorate(made, node.decorator_list, scope)
        self.state.heap.write(scope, node.name, value)

    def _derive(self, made: ClassValue, node: ast.ClassDef, scope: Scope) -> None:
        """Tell the bases of a class that it derives from them, as Python does."""
        for base in made.bases:
            if isinstance(base, ClassValue):
                methods.list_method(self.state.heap, base.subclasses, "append", [made])
        hook = self.attribute(SuperValue(made, made), "__init_subclass__")
        if isinstance(hook, FunctionValue):
            given = {keyword.arg or REST: self.evaluate(keyword.value, scope) for keyword in node.keywords}
            given.pop("metaclass", None)
            self.invoke(hook, [], given, _call_of(node.bases[0]), scope)

    def _decorate(self, made: FunctionValue | ClassValue, decorators: list[ast.expr], scope: Scope) -> Value:
        value: Value = made
        for node in reversed(decorators):
            if isinstance(node, ast.Call):
                function = self.need(node.func, scope)
                decorator = self.force(self._decorator_call(function, node, scope))
            else:
                decorator = self.need(node, scope)
            if isinstance(decorator, FunctionValue):
                wrapped = self.force(self.invoke(decorator, [value], {}, _call_of(node), scope))
                value = wrapped if type(wrapped) is type(value) else value
            else:
                made.decorators.append(decorator)
        if any(getattr(each, "name", "") for each in made.decorators):
            self.decorated.append(made)
        return value

    def _decorator_call(self, function: Value, node: ast.Call, scope: Scope) -> Value:
        """Return the decorator that a call gives; a `LibraryCall` for a library's."""
        value = self.evaluate(node, scope)
        if value is UNKNOWN and isinstance(function, Library):
            return function
        return value

    def _Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            name = alias.asname or whole
            module = self.modules.find(whole, scope.module)
            value: Value = ModuleValue(module) if module is not None else Library(whole)
            self._follow_import(module if alias.asname else self.modules.find(alias.name, scope.module))
            self.state.heap.write(scope.declared.get(name, scope), name, value)

    def _follow_import(self, module: Module | None) -> None:
        """Follow an imported module now if it may change others or `sys.path`; others when their names are used."""
        if module is None or module.path in self._scopes:
            return
        adds_folders = "sys.path" in module.source and module.mentions(("insert", "append"))
        late = self.state.is_late
        if adds_folders or (not late and self.relevance.registers(module)):
            self.execute_module(module)
            return
        if late and not self.plugins and self.relevance.registers(module):
            self._import_unknown()
        self._put_off.append(module)
        if self.relevance.leads(module):
            self.waiting.append(module)

    def subclasses(self, owner: ClassValue) -> Value:
        """Return the classes that derive from a class, in all modules that are imported so far."""
        while self._put_off:
            module = self._put_off.pop(0)
            if module.mentions((owner.name,)):
                self.execute_module(module)
        return ListValue({"items": owner.subclasses.contents["items"]})

    def import_named(self, function: Library, args: Args, kwargs: Kwargs, scope: Scope) -> Value:
        """Return the module that a function imports; the parameters are those of `LibraryCalls.import_named`."""
        name = self.force(args[0] if args else kwargs.get("name", UNKNOWN))
        if not isinstance(name, str):
            self._import_unknown()
            return UNKNOWN
        level = len(name) - len(name.lstrip("."))
        module = self.modules.find(name.lstrip("."), scope.module, level)
        if module is None:
            return UNKNOWN
        self.execute_module(module)
        return ModuleValue(module) if function.last == "import_module" else UNKNOWN

    def _ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        source = self.modules.find(node.module or "", scope.module, node.level)
        self._follow_import(source)
        for alias in node.names:
            if alias.name == "*":
                if source is not None and source is not scope.module:
                    names = dict(self.execute_module(source).contents)
                    for name, value in names.items():
                        if not str(name).startswith("_"):
                            self.state.heap.write(scope, name, value)
                continue
            value = Library(f"{node.module}.{alias.name}") if not node.level else UNKNOWN
            if source is not None:
                submodule = self.modules.named_submodule(source, alias.name, node)
                self._follow_import(submodule)
                value = ModuleValue(submodule) if submodule is not None else ImportedName(source, alias.name)
            name = alias.asname or alias.name
            self.state.heap.write(scope.declared.get(name, scope), name, value)

    def _import_unknown(self) -> None:
        """Note that modules which are not followed may fill all registries."""
        self.plugins = True
        for scope in self._scopes.values():
            extend(self.state.heap, scope)


def _call_of(function: ast.expr) -> ast.Call:
    """Return a call that Python makes by itself, at the place of an expression."""
    return ast.Call(func=function, args=[], keywords=[], lineno=function.lineno, col_offset=0)


def extend(heap: Heap, scope: Scope) -> None:
    """Note that the registries of a module may have further items, which are not known.

    Parameters
    ----------
    heap
        The heap that writes the change.
    scope
        Names of the module.
    """
    names = _filled_in(scope.module)
    for name, value in list(scope.contents.items()):
        if name in names:
            _extend(heap, value)
        type_ = value.type if isinstance(value, Instance) else value
        if isinstance(type_, ClassValue):
            owners = (*OWN, type_.name)
            held = {part for full in filled_by(type_.node) for part in (full.split(".") if "." in full else ())}
            for attribute, inner in value.contents.items() if held.intersection(owners) else ():
                if attribute in held:
                    _extend(heap, inner)


def _filled_in(module: Module) -> frozenset[str]:
    functions = [node for node in descendants(module.tree) if _is_function(node)] if module.tree else []
    return frozenset().union(*map(filled_by, functions))


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _extend(heap: Heap, value: Value) -> None:
    if isinstance(value, ListValue):
        heap.write(value, "items", UNKNOWN)
    elif isinstance(value, DictValue):
        heap.write(value, REST, None)
