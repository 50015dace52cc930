"""Reads YAML from untrusted sources, with limits, positions and messages for users.

PyYAML's own constructors recurse, expand aliases without a limit, accept duplicate keys and discard positions. This
module uses only PyYAML's parser and builds the values from its events. Scalars are resolved as in Kubernetes' own
YAML reader: without dates, base 60 and Python objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from ...errors import TooLarge
from ...translation import Text, _
from ..model import ManifestError, child, in_words

MOST_BYTES: Final = 1 << 20
"""Largest text, in bytes. etcd does not store larger objects either."""

MOST_VALUES: Final = 50_000
"""Largest number of values in all documents together. An alias counts as all values that it expands to."""

MOST_LEVELS: Final = 60

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL: Final = re.compile(r"~|null|Null|NULL|")
_BOOL: Final = re.compile(r"(true|True|TRUE|yes|Yes|YES|on|On|ON)|(false|False|FALSE|no|No|NO|off|Off|OFF)")
_INT: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,18})")
_OCTAL: Final = re.compile(r"0o?[0-7]{1,21}")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]{1,16}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_TAGS: Final = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:float": float,
    "tag:yaml.org,2002:null": type(None),
}
_COLLECTIONS: Final = {None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


class Place(NamedTuple):
    """Position in a text, from 1."""

    line: int
    column: int


@dataclass(eq=False)
class Node:
    """A value of a text with its position.

    The nodes form a tree, because a dictionary of all JSON pointers could fill the memory.

    Attributes
    ----------
    place
        Position of the value, or of its key.
    """

    place: Place | None = None
    key: str | int = "manifest"
    parent: Node | None = None
    children: dict[str, Node] = field(default_factory=dict)

    @property
    def pointer(self) -> str:
        """The JSON pointer of the value, beginning with ``/manifest``."""
        return child(self.parent.pointer if self.parent else "", self.key)

    def add(self, key: str | int, event: Event) -> Node:
        """Return a new child node for a field or an item.

        Parameters
        ----------
        key
            Name of the field, or index of the item.
        event
            The parser's event at the position of the child.
        """
        node = self.children[str(key)] = Node(_place(event), key, self)
        return node


@dataclass
class Document:
    """One document of a text.

    Attributes
    ----------
    value
        Content as a JSON value.
    root
        Positions of all values.
    """

    value: Any = None
    root: Node = field(default_factory=Node)

    def place(self, pointer: str) -> Place | None:
        """Return the position of a value, or of its closest ancestor that is in the text.

        Parameters
        ----------
        pointer
            A JSON pointer that begins with ``/manifest``.
        """
        node = self.root
        for part in pointer.split("/")[2:]:
            found = node.children.get(part.replace("~1", "/").replace("~0", "~"))
            if found is None:
                break
            node = found
        return node.place


def read_documents(text: str) -> list[Document]:
    """Return all documents of a text.

    Raises
    ------
    TooLarge
        If the text is larger than `MOST_BYTES`.
    ManifestError
        If the text is no YAML, or uses features that no manifest needs: duplicate keys, aliases that expand to too many
        values, more than `MOST_LEVELS` levels, tags. `line` and `column` are set.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        message = _("The text has {size} MiB; a manifest may have 1 MiB.", size=f"{size / (1 << 20):.1f}")
        hint = _("Put data into files or ConfigMaps, not into the manifest.")
        raise TooLarge(message, field="/manifest", hint=hint)
    reader = _Reader(yaml.parse(text, Loader=_LOADER))
    try:
        return list(reader.documents())
    except yaml.MarkedYAMLError as error:
        raise _explained(error) from None
    except yaml.YAMLError as error:
        message = _("The text has a character that YAML can't have.")
        hint = _("It may be a binary file, or in another encoding than UTF-8.")
        raise ManifestError(message, code="BadYaml", hint=hint, verbatim=str(error)) from None
    except UnicodeError:
        message = _("The text has half a character in it.")
        raise ManifestError(message, code="BadYaml", hint=_("Copy it again, as UTF-8.")) from None


def plain_scalar(text: str) -> Any:
    """Return the value of a plain (unquoted) scalar."""
    if _NULL.fullmatch(text):
        return None
    if switch := _BOOL.fullmatch(text):
        return switch[1] is not None
    if _INT.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text.removeprefix("0").removeprefix("o") or "0", 8)
    if _HEX.fullmatch(text):
        return int(text, 16)
    if _FLOAT.fullmatch(text) and len(text) < 60:
        return float(text) if abs(float(text)) < float("inf") else text
    return text


class _Anchor(NamedTuple):
    value: Any
    values: int


class _Reader:
    """Builds values from the parser's events, and counts them."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._values = 0
        self._anchors: dict[str, _Anchor | None] = {}

    def documents(self) -> Iterator[Document]:
        document = Document()
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                document = Document()
                self._anchors = {}
            elif isinstance(event, DocumentEndEvent):
                yield document
            elif not isinstance(event, (yaml.StreamStartEvent, yaml.StreamEndEvent)):
                document.root.place = _place(event)
                document.value = self._value(event, document.root, 0)

    def _value(self, event: Event, node: Node, level: int) -> Any:
        self._count(1, event)
        if isinstance(event, AliasEvent):
            return self._alias(event)
        before, anchor = self._values, getattr(event, "anchor", None)
        if anchor:
            self._anchors[anchor] = None
        if level > MOST_LEVELS:
            message = _("The text is nested more than {levels} levels deep.", levels=MOST_LEVELS)
            raise _error("TooDeep", message, event)
        value: Any
        if isinstance(event, ScalarEvent):
            value = self._scalar(event, node)
        elif isinstance(event, SequenceStartEvent):
            value = self._sequence(event, node, level)
        elif isinstance(event, MappingStartEvent):
            value = self._mapping(event, node, level)
        else:
            raise _error("BadYaml", _("The text ends too early."), event)
        if anchor:
            self._anchors[anchor] = _Anchor(value, self._values - before + 1)
        return value

    def _count(self, values: int, event: Event) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            message = _("The text stands for more than {values} values.", values=MOST_VALUES)
            raise _error("TooManyValues", message, event, hint=_("Aliases (*name) count as what they stand for."))

    def _alias(self, event: AliasEvent) -> Any:
        name = event.anchor or ""
        if name not in self._anchors:
            message = _("*{name} refers to an anchor that is not there.", name=name)
            raise _error("UnknownAlias", message, event, hint=_("Put &{name} where the value first stands.", name=name))
        anchor = self._anchors[name]
        if anchor is None:
            message = _("*{name} stands within the very value that it refers to.", name=name)
            raise _error("EndlessAlias", message, event)
        self._count(anchor.values, event)
        return _copy(anchor.value)

    def _scalar(self, event: ScalarEvent, node: Node) -> Any:
        text, tag = event.value, event.tag
        # A long text that many aliases repeat needs as much memory as many values.
        self._count(len(text) // 64, event)
        if tag in (None, "!"):
            # Plain scalars are resolved; quoted scalars are text.
            return plain_scalar(text) if event.implicit[0] and tag is None else text
        if tag not in _TAGS:
            message = _("The tag {tag} has no place in a manifest.", tag=tag)
            raise _error("Tag", message, event, node, _("Write the value itself."))
        if _TAGS[tag] is str:
            return text
        value = plain_scalar(text)
        if not isinstance(value, _TAGS[tag]):
            message = _("“{text}” is not what its tag {tag} says.", text=text[:40], tag=tag)
            raise _error("Tag", message, event, node)
        return value

    def _sequence(self, event: SequenceStartEvent, node: Node, level: int) -> list[Any]:
        _refuse_tag(event, node)
        items: list[Any] = []
        for item in self._events:
            if isinstance(item, SequenceEndEvent):
                break
            items.append(self._value(item, node.add(len(items), item), level + 1))
        return items

    def _mapping(self, event: MappingStartEvent, node: Node, level: int) -> dict[str, Any]:
        _refuse_tag(event, node)
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_event in self._events:
            if isinstance(key_event, MappingEndEvent):
                break
            if not isinstance(key_event, ScalarEvent):
                raise _error("BadKey", _("A key must be a word, not a list or an object."), key_event, node)
            key = key_event.value
            if key == "<<" and key_event.implicit[0]:
                value = self._value(next(self._events), Node(), level + 1)
                merged = {**_merged(value, key_event, node), **merged}
            elif key in result:
                raise _twice(key, key_event, node, result)
            else:
                result[key] = self._value(next(self._events), node.add(key, key_event), level + 1)
        return {**merged, **result}


def _merged(value: Any, event: Event, node: Node) -> dict[str, Any]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) for item in values):
        raise _error("BadMerge", _("<< takes an object, or a list of objects."), event, node)
    return {key: content for item in reversed(values) for key, content in item.items()}


def _twice(key: str, event: Event, node: Node, before: dict[str, Any]) -> ManifestError:
    first = node.children[key]
    if node.parent is None and before.get("metadata", "") is None and before.get("spec", "") is None:
        return lost_indentation(_place(event))
    line = first.place.line if first.place else 0
    message = _("{key} stands twice, first in line {line}.", key=key[:80], line=line)
    if node.parent:
        where = in_words(node.pointer)
        message = _("{key} stands twice in {where}, first in line {line}.", key=key[:80], where=where, line=line)
    return _error("DuplicateKey", message, event, first, _("Remove one of the two."))


def lost_indentation(place: Place | None) -> ManifestError:
    """Return the error for a text without its indentation."""
    message = _("The indentation is gone: spec is empty, and its fields stand beside it.")
    hint = _("Copy the text from where its lines are still indented, such as the page's copy button.")
    return _at("NoIndentation", message, place, "/manifest/spec", hint)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _refuse_tag(event: SequenceStartEvent | MappingStartEvent, node: Node) -> None:
    if event.tag not in _COLLECTIONS:
        message = _("The tag {tag} has no place in a manifest.", tag=str(event.tag))
        raise _error("Tag", message, event, node, _("Write the value itself."))


def _place(event: Event) -> Place:
    mark = event.start_mark
    return Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)


def _error(
    reason: str,
    message: Text,
    event: Event,
    node: Node | None = None,
    hint: Text | None = None,
) -> ManifestError:
    return _at(reason, message, _place(event), node.pointer if node else "/manifest", hint)


def _at(reason: str, message: Text, place: Place | None, pointer: str, hint: Text | None = None) -> ManifestError:
    if place is None:
        return ManifestError(message, code=reason, field=pointer, hint=hint)
    line, column = place
    message = _("Line {line}, column {column}: {error}", line=line, column=column, error=message)
    return ManifestError(message, code=reason, field=pointer, hint=hint, line=line, column=column)


def _explained(error: yaml.MarkedYAMLError) -> ManifestError:
    mark = error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark else None
    problem = error.problem or ""
    hint = _("Compare the line with the ones around it: indentation, colons, quotes.")
    if "\\t" in problem or "cannot start any token" in problem:
        hint = _("YAML is indented with spaces, never with tabs; and @, % or ` begin no word without quotes.")
    elif "mapping values are not allowed" in problem:
        hint = _("The line is indented too far, or a text with a colon lacks quotes.")
    elif "':'" in problem:
        hint = _("A colon and a space must follow each key.")
    message = _("This is no YAML: {problem}.", problem=problem) if problem else _("This is no YAML.")
    return _at("BadYaml", message, place, "/manifest", hint)
