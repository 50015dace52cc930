"""Model of argparse: parsers, groups, subcommands and the options that are added to them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final

from .module import Module
from .operators import items_of
from .state import State
from .values import REST, UNKNOWN, BoundMethod, ClassValue, Instance, Library, ListValue, Value

PARSE_METHODS: Final = frozenset(
    {"parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args", "parse_args_and_config"}
)
WORDS: Final = PARSE_METHODS | {
    *("add_argument", "add_arg", "add", "ArgumentParser", "ArgParser", "add_argument_group"),
    *("add_mutually_exclusive_group", "add_subparsers", "add_parser", "set_defaults", "get_argument_parser"),
}
"""Identifiers of argparse and of libraries that extend its parser."""
STRONG_WORDS: Final = WORDS - {"add"}
_OF_OPTION: Final = ("default", "help", "type", "choices", "required", "nargs", "metavar")
_OF_PARSER: Final = ("description", "prog", "epilog", "usage")
NAMESPACE: Final = Library("argparse.Namespace")


@dataclass(eq=False)
class Action:
    """One call of ``add_argument``.

    Attributes
    ----------
    names
        Flags, or the name of a positional argument.
    kwargs
        Its keyword arguments.
    nodes
        Expressions of the keyword arguments, for texts that are known only in part.
    line, module
        Place of the call.
    condition
        Text of the conditions under which the script has the option.
    group
        Title of the group.
    exclusive
        Name of the mutually exclusive group.
    """

    names: list[str]
    kwargs: dict[Value, Value]
    nodes: dict[str, ast.expr]
    line: int
    module: Module
    condition: str | None
    group: str | None = None
    exclusive: str | None = None
    contents: dict[Value, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Unnamed:
    """An ``add_argument`` whose names are not known, or another place that adds options that are not known.

    Attributes
    ----------
    line, module
        The place.
    function
        The function that may add the options; None for others.
    makes
        True if the function made the parser, False if it got the script's own.
    """

    line: int
    module: Module
    function: str | None = None
    makes: bool = False


@dataclass(eq=False)
class Parser:
    """An ``ArgumentParser``.

    Attributes
    ----------
    type
        Its class.
    kwargs
        Keyword arguments of its class.
    actions
        Options and places with unknown options, in the order in which they were added.
    defaults
        Values of ``set_defaults``.
    subcommands
        Result of ``add_subparsers``.
    parsed
        Number of calls that parse the command line with the parser.
    contents
        Other attributes.
    library_calls
        Library functions that got the parser, by full name, with line and module.
    flags
        Names of all options.
    """

    type: ClassValue | Library
    line: int
    module: Module
    kwargs: dict[Value, Value] = field(default_factory=dict)
    actions: list[Action | Unnamed] = field(default_factory=list)
    defaults: dict[Value, Value] = field(default_factory=dict)
    subcommands: list[Subcommands] = field(default_factory=list)
    parsed: int = 0
    part_of: bool = False
    contents: dict[Value, Value] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        """True if the script adds no option to it. A library's parser that the script parses with is not empty."""
        own = any(isinstance(action, Action) or not action.makes for action in self.actions)
        return not (own or self.subcommands or (self.parsed and self.actions))


@dataclass(eq=False)
class Group:
    """An argument group of a parser, or a mutually exclusive group."""

    parser: Parser
    title: str | None = None
    exclusive: str | None = None
    contents: dict[Value, Value] = field(default_factory=dict)
    actions: tuple[()] = ()


@dataclass(eq=False)
class Subcommands:
    """The result of ``add_subparsers``: parsers by the names of their subcommands."""

    kwargs: dict[Value, Value]
    line: int
    module: Module
    condition: str | None
    parsers: dict[str, tuple[Parser, dict[Value, Value]]] = field(default_factory=dict)
    contents: dict[Value, Value] = field(default_factory=dict)
    actions: tuple[()] = ()


def make_parser(
    type_: ClassValue | Library, args: list[Value], kwargs: dict[Value, Value], node: ast.AST, module: Module
) -> Parser:
    """Return a new parser.

    Parameters
    ----------
    type_
        The parser's class.
    args, kwargs
        Evaluated arguments of the class.
    node
        The call; its line is that of the parser.
    module
        The module with the call.
    """
    parser = Parser(type_, getattr(node, "lineno", 1), module)
    configure(parser, args, kwargs)
    return parser


def configure(parser: Parser, args: list[Value], kwargs: dict[Value, Value]) -> None:
    """Set the arguments of a parser's class, as its ``__init__`` does.

    Parameters
    ----------
    parser
        The parser; it is changed, and its ``parents`` give it their options.
    args, kwargs
        Evaluated arguments of the class.
    """
    parser.kwargs = dict(zip(("prog", "usage", "description", "epilog", "parents"), args, strict=False)) | kwargs
    parents = parser.kwargs.get("parents")
    for parent in items_of(parents) or []:
        if isinstance(parent, Parser):
            parent.part_of = True
            parser.actions += parent.actions
            parser.flags |= parent.flags
            parser.defaults |= parent.defaults
            parser.subcommands += parent.subcommands
        else:
            parser.actions.append(Unnamed(parser.line, parser.module))
    if parents is not None and items_of(parents) is None:
        parser.actions.append(Unnamed(parser.line, parser.module))


def attribute(owner: Parser | Group | Subcommands | Action, name: str) -> Value:
    """Return an attribute of a parser, group, or option.

    Parameters
    ----------
    owner
        The object.
    name
        Name of the attribute.

    Returns
    -------
    attribute
        The attribute, or a `BoundMethod` for a name that may be a method; UNKNOWN if only a run tells it.
    """
    if name in owner.contents:
        return owner.contents[name]
    if isinstance(owner, Parser):
        if name == "_action_groups":
            owner.groups = owner.groups or [Group(owner), Group(owner)]
            return ListValue.of(list(owner.groups))
        if name in ("_optionals", "_positionals"):
            return Group(owner)
        if name in _OF_PARSER:
            return owner.kwargs.get(name)
        if name == "_defaults":
            return UNKNOWN
        if name == "_actions":
            known = all(isinstance(action, Action) for action in owner.actions)
            return ListValue({"items": list(owner.actions) if known else UNKNOWN})
    if isinstance(owner, Action):
        if name == "dest":
            return dest_of(owner)
        if name in _OF_OPTION:
            return owner.kwargs.get(name)
        return ListValue.of(list(owner.names)) if name == "option_strings" else UNKNOWN
    return UNKNOWN if name.startswith("_") and name != "_add_action" else BoundMethod(owner, name)


def set_attribute(owner: Parser | Action, name: str, value: Value) -> None:
    """Set an attribute of a parser or option that the model follows.

    Parameters
    ----------
    owner
        The parser or option; it is changed.
    name
        Name of the attribute. Names that are not in `_OF_OPTION` or `_OF_PARSER` are ignored.
    value
        The value.
    """
    followed = _OF_OPTION if isinstance(owner, Action) else _OF_PARSER
    if name in followed:
        owner.kwargs[name] = value


def dest_of(action: Action) -> str:
    """Return the attribute in which argparse stores an option's value."""
    dest = action.kwargs.get("dest")
    if isinstance(dest, str) and dest:
        return dest
    if not action.names:
        return ""
    if not action.names[0].startswith(("-", "+")):
        return action.names[0]  # argparse keeps the dashes of a positional argument's name
    long = [name for name in action.names if name.startswith("--")]
    return (long or action.names)[0].lstrip("-+").replace("-", "_")


class ParserCall:
    """A call of a method of a parser, group or subcommands.

    Parameters
    ----------
    state
        State of the interpreter.
    node
        The call.
    module
        The module with the call.
    args, kwargs
        Its arguments; None if the positional arguments are not all known.
    """

    def __init__(
        self, state: State, node: ast.Call, module: Module, args: list[Value] | None, kwargs: dict[Value, Value]
    ) -> None:
        self._state = state
        self._node = node
        self._module = module
        self._args = args
        self._kwargs = kwargs

    def run(self, owner: Parser | Group | Subcommands, name: str) -> Value:
        """Return the result of a method.

        Parameters
        ----------
        owner
            Object of the method; it is changed.
        name
            Name of the method.

        Returns
        -------
        result
            The result; UNKNOWN for methods that are not modelled.
        """
        if isinstance(owner, Subcommands):
            return self._add_parser(owner) if name == "add_parser" else UNKNOWN
        parser = owner if isinstance(owner, Parser) else owner.parser
        group = owner if isinstance(owner, Group) else Group(parser)
        args, kwargs = self._args or [], self._kwargs
        match name:
            case "add_argument" | "add_arg" | "add":
                return self._add_argument(parser, group)
            case "add_argument_group":
                title = args[0] if args else kwargs.get("title")
                return Group(parser, title if isinstance(title, str) else None, group.exclusive)
            case "add_mutually_exclusive_group":
                number = f"{parser.line}:{self._node.lineno}:{len(parser.actions)}"
                return Group(parser, group.title, number)
            case "add_subparsers":
                made = Subcommands(kwargs, self._node.lineno, self._module, self._state.condition)
                parser.subcommands.append(made)
                return made
            case "set_defaults":
                self._set_defaults(parser)
                return None
            case "get_default":
                return UNKNOWN
            case "add_argparse_args" | "_add_action" | "add_class_arguments":
                parser.actions.append(Unnamed(self._node.lineno, self._module))
                return UNKNOWN
            case _ if name in PARSE_METHODS or name.startswith("parse_"):
                return self._parse(parser, name)
        return UNKNOWN

    def _add_argument(self, parser: Parser, group: Group) -> Value:
        line, module = self._node.lineno, self._module
        names = self._args
        if names is None or not names or not all(isinstance(name, str) for name in names):
            if names == [] and isinstance(self._kwargs.get("dest"), str) and REST not in self._kwargs:
                names = [self._kwargs["dest"]]
            else:
                parser.actions.append(Unnamed(line, module))
                return UNKNOWN
        if REST in self._kwargs and not str(names[0]).startswith("-"):
            parser.actions.append(Unnamed(line, module))
            return UNKNOWN
        nodes = {keyword.arg: keyword.value for keyword in self._node.keywords if keyword.arg}
        action = Action(
            [str(name) for name in names],
            dict(self._kwargs),
            nodes,
            line,
            module,
            self._state.condition,
            group.title,
            group.exclusive,
        )
        if "default" not in action.kwargs and dest_of(action) in parser.defaults:
            action.kwargs["default"] = parser.defaults[dest_of(action)]
        known = action.names[0].startswith("-") and not parser.flags.isdisjoint(action.names)
        parser.flags.update(action.names)
        for number, other in enumerate(parser.actions) if known else ():
            if isinstance(other, Action) and not set(action.names).isdisjoint(other.names):
                if parser.kwargs.get("conflict_handler") == "resolve" and not action.condition:
                    parser.actions[number] = action
                    return action
                if other.line == action.line and other.module is module:
                    return other  # the call is followed again, under another condition
        parser.actions.append(action)
        return action

    def _set_defaults(self, parser: Parser) -> None:
        uncertain = self._state.condition is not None
        values = {key: UNKNOWN if uncertain else value for key, value in self._kwargs.items()}
        parser.defaults |= values
        for index, action in enumerate(parser.actions):
            if REST in values:
                break
            if isinstance(action, Action) and dest_of(action) in values:
                # Parsers share the options of their parents, so the option is copied.
                changed = Action(**{**action.__dict__, "kwargs": {**action.kwargs, "default": values[dest_of(action)]}})
                parser.actions[index] = changed

    def _add_parser(self, owner: Subcommands) -> Value:
        name = (self._args or [None])[0] if self._args else self._kwargs.get("name")
        parser = make_parser(Library("argparse.ArgumentParser"), [], self._kwargs, self._node, self._module)
        parser.part_of = True
        owner.parsers[name if isinstance(name, str) else ""] = (parser, self._kwargs)
        return parser

    def _parse(self, parser: Parser, name: str) -> Value:
        words = self._args[0] if self._args else self._kwargs.get("args")
        given = items_of(words)
        if given is None or not isinstance(words, ListValue) or any(not isinstance(word, str) for word in given):
            parser.parsed += 1
        result = Instance(NAMESPACE)
        if "known" in name:
            return (result, ListValue({"items": UNKNOWN}))
        return result
