"""Attributes of values: of modules, classes, instances, enum members, parsers and paths."""

from __future__ import annotations

import ast
import os.path
from abc import ABC, abstractmethod
from typing import Final

from .library import constant
from .module import Module
from .modules import Modules
from .parsers import Action, Group, Parser, Subcommands, attribute
from .values import (
    UNKNOWN,
    BoundMethod,
    ClassValue,
    DictValue,
    Either,
    EnumMember,
    FunctionValue,
    ImportedName,
    Instance,
    Library,
    LibraryCall,
    ListValue,
    ModuleValue,
    PathText,
    Scope,
    SuperValue,
    Value,
)

ENUMS: Final = ("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag")


class Attributes(ABC):
    """Finds attributes.

    Parameters
    ----------
    modules
        Search for modules.
    """

    def __init__(self, modules: Modules) -> None:
        self.modules = modules

    @abstractmethod
    def invoke(
        self, function: Value, args: list[Value] | None, kwargs: dict[Value, Value], node: ast.Call, scope: Scope
    ) -> Value:
        """Return the result of a call with evaluated arguments.

        Parameters
        ----------
        function
            The called value.
        args
            Positional arguments; None if they are not all known.
        kwargs
            Keyword arguments by name; the key `REST` stands for further ones that are not known.
        node
            The call.
        scope
            Scope that contains the call.

        Returns
        -------
        result
            The result; UNKNOWN if only a run tells it.

        Raises
        ------
        Stop
            If the script exits in the call.
        OutOfBudget, CallTooLong
            If a limit of steps or time is reached.
        """

    @abstractmethod
    def execute_module(self, module: Module) -> Scope:
        """Follow a module's statements, once, and return its names."""

    @abstractmethod
    def force(self, value: Value) -> Value:
        """Return a value after following the call or import that gives it."""

    def imported(self, value: ImportedName) -> Value:
        """Return the value of a name that is imported from a module of the workspace."""
        scope = self.execute_module(value.module)
        if value.name in scope.contents:
            found = scope.contents[value.name]
            return UNKNOWN if found is value else found
        submodule = self.modules.submodule(value.module, value.name)
        return ModuleValue(submodule) if submodule is not None else UNKNOWN

    def attribute(self, value: Value, name: str) -> Value:
        """Return an attribute of a value.

        Parameters
        ----------
        value
            The value.
        name
            Name of the attribute.

        Returns
        -------
        attribute
            The attribute, or a `BoundMethod` if it may be a method; UNKNOWN if only a run tells it.
        """
        match value:
            case ModuleValue(module=module):
                return self.imported(ImportedName(module, name))
            case Library(name=owner):
                return constant(f"{owner}.{name}")
            case Parser(type=ClassValue() as type_) | Instance(type=ClassValue() as type_):
                return self._of_instance(value, type_, name)
            case Instance():
                return value.contents.get(name, UNKNOWN)
            case ClassValue():
                return self._of_class(value, name)
            case SuperValue():
                return self._of_super(value, name)
            case EnumMember():
                return self._of_member(value, name)
            case Parser() | Group() | Subcommands() | Action():
                return attribute(value, name)
            case PathText():
                return _of_path(value, name)
            case Either(values=values):
                return Either(tuple(self.attribute(each, name) for each in values))
            case FunctionValue():
                return value.name if name == "__name__" else BoundMethod(value, name)
            case str() | ListValue() | DictValue() | LibraryCall():
                return BoundMethod(value, name)
        return UNKNOWN

    def _of_instance(self, value: Parser | Instance, type_: ClassValue, name: str) -> Value:
        if name in value.contents:
            return value.contents[name]
        if name == "__class__":
            return type_
        found = self._member(type_, name)
        if isinstance(found, FunctionValue):
            kinds = {getattr(decorator, "last", "") for decorator in found.decorators}
            if "staticmethod" in kinds:
                return found
            bound = _bind(found, type_ if "classmethod" in kinds else value)
            if kinds & {"property", "cached_property", "lazy_property"}:
                empty = ast.Call(func=ast.Name(id=name), args=[], keywords=[], lineno=found.node.lineno)
                return self.invoke(bound, [], {}, empty, found.scope)
            return bound
        if found is not UNKNOWN or isinstance(value, Instance):
            return found
        return attribute(value, name)

    def _of_class(self, value: ClassValue, name: str) -> Value:
        if name == "__name__":
            return value.name
        if name == "__members__":
            return DictValue(dict(self.members(value)))
        if name == "__doc__":
            return ast.get_docstring(value.node)
        if name == "__subclasses__":
            return BoundMethod(value, name)
        found = self._member(value, name)
        if isinstance(found, FunctionValue):
            kinds = {getattr(decorator, "last", "") for decorator in found.decorators}
            return _bind(found, value) if "classmethod" in kinds else found
        if value.derives(*ENUMS) and found is not UNKNOWN:
            return EnumMember(value, name, found)
        return found

    def _member(self, type_: ClassValue, name: str) -> Value:
        for base in type_.lineage():
            if isinstance(base, ClassValue) and name in base.contents:
                return self.force(base.contents[name])
        return UNKNOWN

    def _of_super(self, value: SuperValue, name: str) -> Value:
        for base in value.owner.lineage()[1:]:
            if isinstance(base, ClassValue) and name in base.contents:
                found = base.contents[name]
                return _bind(found, value.bound) if isinstance(found, FunctionValue) else found
        return BoundMethod(value, name)

    def _of_member(self, value: EnumMember, name: str) -> Value:
        if name in ("name", "_name_"):
            return value.name
        if name in ("value", "_value_"):
            return value.value
        found = self._member(value.type, name)
        return _bind(found, value) if isinstance(found, FunctionValue) else UNKNOWN

    def members(self, value: ClassValue) -> list[tuple[str, EnumMember]]:
        """Return the members of an enum by name."""
        return [
            (name, EnumMember(value, name, self.force(member)))
            for name, member in value.contents.items()
            if not name.startswith("_") and not isinstance(member, FunctionValue | ClassValue)
        ]


def _bind(function: FunctionValue, owner: Value) -> FunctionValue:
    bound = FunctionValue(function.node, function.module, function.scope, function.defaults, (owner,), function.owner)
    bound.decorators = function.decorators
    return bound


def _of_path(value: PathText, name: str) -> Value:
    match name:
        case "parent":
            return PathText(os.path.dirname(value.rstrip("/")) or ".")  # noqa: PTH120
        case "name":
            return os.path.basename(value.rstrip("/"))  # noqa: PTH119
        case "stem":
            return os.path.splitext(os.path.basename(value))[0]  # noqa: PTH119, PTH122
        case "suffix":
            return os.path.splitext(value)[1]  # noqa: PTH122
        case "parents":
            parents = [value := PathText(os.path.dirname(value)) for _ in range(value.count("/"))]  # noqa: PTH120
            return tuple(parents)
    return BoundMethod(value, name)
