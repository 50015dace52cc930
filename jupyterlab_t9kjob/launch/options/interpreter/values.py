"""Values of the interpreter: Python's own constants, and models of everything else.

Numbers, strings, bytes, booleans, None, Ellipsis, and tuples of values stand for themselves. A value that only a run
of the script would tell is `Unknown`. Values with contents that change (lists, dicts, instances) keep them in a
``dict``, so that the interpreter can undo what one branch of an ``if`` did before it follows the other.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from .module import Module

Value: TypeAlias = Any
"""A Python constant or an instance of a class of this module."""


class Unknown:
    """A value that is known only while the script runs."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


class WrittenInt(int):
    """An integer that the source writes in another way than Python prints it, such as ``1_000``."""

    text: str


class WrittenFloat(float):
    """A number that the source writes in another way than Python prints it, such as ``1e-3``."""

    text: str


class PathText(str):
    """A `pathlib.Path`."""

    __slots__ = ()


@dataclass(frozen=True)
class Library:
    """A module, function, class or constant that is not in the workspace, by its full name.

    Builtins have the prefix ``builtins.``.
    """

    name: str

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Either:
    """One of several values, such as a parser that is made in both branches of an ``if``."""

    values: tuple[Value, ...]


@dataclass(eq=False)
class ListValue:
    """A list or a set.

    Attributes
    ----------
    contents
        The items, under the key ``items``; UNKNOWN if the length is not known.
    """

    contents: dict[Value, Value]

    @classmethod
    def of(cls, items: list[Value]) -> ListValue:
        """Return a list with these items."""
        return cls({"items": items})

    @property
    def items(self) -> list[Value] | None:
        """The items; None if they are not known. Change them through `Heap.write` only."""
        items = self.contents["items"]
        return items if isinstance(items, list) else None


@dataclass(eq=False)
class DictValue:
    """A dict.

    Attributes
    ----------
    contents
        Values by constant keys; None stands below `REST` for "further keys are not known".
    """

    contents: dict[Value, Value] = field(default_factory=dict)

    @property
    def certain(self) -> bool:
        """True if all keys are known."""
        return REST not in self.contents


class _Rest:
    """Key of a `DictValue` that may have further keys."""

    def __repr__(self) -> str:
        return "REST"


REST: Final = _Rest()


@dataclass(eq=False)
class FunctionValue:
    """A function, method or lambda of the workspace.

    Attributes
    ----------
    node
        Its definition.
    module
        The module with the definition.
    scope
        The scope of the definition.
    defaults
        Values of the parameters' defaults by name.
    bound
        The instance or class to which a method is bound, in a tuple; empty for a function.
    owner
        The class whose body has the definition; None outside of classes.
    decorators
        Values of the decorators that are not in the workspace; a decorator that is called is a `LibraryCall`.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: Module
    scope: Scope
    defaults: dict[str, Value] = field(default_factory=dict)
    bound: tuple[Value, ...] = ()
    owner: ClassValue | None = None
    decorators: list[Value] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The function's name; ``<lambda>`` for a lambda."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(eq=False)
class ClassValue:
    """A class of the workspace.

    Attributes
    ----------
    node
        Its definition.
    module
        The module with the definition.
    bases
        Base classes: `ClassValue`, `Library`, or UNKNOWN.
    contents
        Class attributes and methods by name.
    decorators
        Values of the decorators that are not in the workspace.
    subclasses
        Classes of the workspace that derive from it directly.
    """

    node: ast.ClassDef
    module: Module
    bases: list[Value]
    contents: dict[Value, Value] = field(default_factory=dict)
    decorators: list[Value] = field(default_factory=list)
    subclasses: ListValue = field(default_factory=lambda: ListValue.of([]))

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.node.name

    def lineage(self) -> list[Value]:
        """Return the class and its bases, depth first, each once."""
        found: list[Value] = []
        waiting: list[Value] = [self]
        while waiting and len(found) < 100:
            value = waiting.pop(0)
            if not any(value is other for other in found):
                found.append(value)
                if isinstance(value, ClassValue):
                    waiting[:0] = value.bases
        return found

    def derives(self, *names: str) -> bool:
        """Return True if one of the bases is a library's class with one of these names."""
        return any(isinstance(base, Library) and base.name in names for base in self.lineage())


@dataclass(eq=False)
class Instance:
    """An instance of a class of the workspace, or a namespace of options.

    Attributes
    ----------
    type
        Its class; a `Library` for a class that is not in the workspace.
    contents
        Attributes by name. Attributes that are not in it are unknown.
    """

    type: ClassValue | Library
    contents: dict[Value, Value] = field(default_factory=dict)


@dataclass(eq=False)
class EnumMember:
    """A member of an enum of the workspace."""

    type: ClassValue
    name: str
    value: Value


@dataclass(eq=False)
class BoundMethod:
    """A method of a value that is not an instance of a class of the workspace, such as ``[].append``."""

    owner: Value
    name: str


@dataclass(eq=False)
class ImportedName:
    """A name that is imported from a module of the workspace, which is followed when the name is used."""

    module: Module
    name: str


@dataclass(eq=False)
class ModuleValue:
    """A module of the workspace."""

    module: Module


@dataclass(eq=False)
class SuperValue:
    """The result of ``super()``."""

    owner: ClassValue
    bound: Value


@dataclass(eq=False)
class LibraryCall:
    """A call of a function or class that is not in the workspace, and its result.

    Attributes
    ----------
    name
        Full name of the function, such as ``fire.Fire``.
    args
        Positional arguments. Arguments after ``*args`` that is not known are missing.
    kwargs
        Keyword arguments; the key `REST` is present after ``**kwargs`` that is not known.
    line
        Line of the call, from 1.
    module
        The module with the call.
    node
        The call.
    condition
        Text of the ``if`` around the call that only a run decides; None if the call is certain.
    receiver
        For a method: the `LibraryCall` that made its object, or the function or class whose decorator made it
        (``@cli.command()`` of click). The name is then the method's.
    """

    name: str
    args: list[Value]
    kwargs: dict[Value, Value]
    line: int
    module: Module
    node: ast.Call
    condition: str | None = None
    receiver: Value = None


@dataclass(eq=False)
class Partial:
    """The result of ``functools.partial``."""

    function: Value
    args: list[Value]
    kwargs: dict[Value, Value]


@dataclass(eq=False)
class Deferred:
    """The result of a call that is evaluated only when its value is needed."""

    function: Value
    args: list[Value]
    kwargs: dict[Value, Value]
    node: ast.Call
    scope: Scope
    result: list[Value] = field(default_factory=list)


class Scope:
    """Names of a module, class body or function call.

    Parameters
    ----------
    module
        The module with the code.
    parent
        The enclosing scope; None for a module.
    owner
        The class whose body or method has the scope; None outside of classes.

    Attributes
    ----------
    declared
        Scopes of the names that are declared ``global`` or ``nonlocal``.
    is_class
        True for the body of a class.
    returns
        Values that the function returned so far.
    """

    __slots__ = ("contents", "declared", "is_class", "module", "owner", "parent", "returns")

    def __init__(
        self, module: Module, parent: Scope | None = None, owner: ClassValue | None = None, *, is_class: bool = False
    ) -> None:
        self.module = module
        self.is_class = is_class
        self.returns: list[Value] = []
        self.parent = parent
        self.owner = owner
        self.contents: dict[Value, Value] = {}
        self.declared: dict[str, Scope] = {}
