"""Changes values in a YAML text and leaves the rest as it is: comments, order, indentation, quotes.

A YAML writer would lose all of that. `edited` therefore compares the text's value with the wanted one, and replaces,
inserts and deletes only the lines that differ. It reads the result again, so it never returns another value than the
wanted one.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from ...errors import FieldError
from ..kinds.shapes import without_nulls
from .merge_patch import KEYS
from .yaml_reader import read_documents
from .yaml_writer import in_order, to_flow, to_yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_ALIAS: Final = re.compile(r"(^|[\s\[,{])\*[^\s,\]}]", re.MULTILINE)


def edited(text: str, wanted: Any) -> str | None:
    """Return a YAML text changed to another value; None if the text can't be changed so (blocking).

    Parameters
    ----------
    text
        YAML with one document.
    wanted
        The value that the result has. Fields that are null in the text count as absent.
    """
    try:
        documents = read_documents(text)
        if len(documents) != 1 or not isinstance(documents[0].value, dict):
            return None
        value = documents[0].value
        if _same(value, wanted):
            return text
        root = yaml.compose(text, Loader=_LOADER)
    except (FieldError, yaml.YAMLError):
        return None
    # A change of a value with an anchor changes its aliases as well; then the aliases are written out.
    for expands in (False, True) if _ALIAS.search(text) else (False,):
        editor = _Editor(text, expands)
        if (
            root is not None
            and editor.change(root, value, wanted, "")
            and _has_value(result := editor.result(), wanted)
        ):
            return result
    return None


def _has_value(text: str, wanted: Any) -> bool:
    """Return True if a text is one document with a value."""
    try:
        documents = read_documents(text)
    except FieldError:
        return False
    return len(documents) == 1 and _same(documents[0].value, wanted)


@dataclass
class _Edit:
    """Replacement of the characters from one position to another; lines and columns count from 0."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass
class _Part:
    """A field of an object or an item of a list, in the text."""

    key: Any
    """Name of the field, or name or content of the item."""
    line: int
    """First line."""
    last: int
    """Last line with a part of its value."""
    node: Node
    is_alias: bool
    value: Any


@dataclass
class _Editor:
    """Collects the edits of one text."""

    text: str
    expands: bool = False
    """True to write out all aliases."""
    edits: list[_Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = [*self.text.removesuffix("\n").split("\n"), ""]

    def result(self) -> str:
        """Return the text with all edits."""
        lines = list(self._lines)
        # From the end to the beginning. What is inserted at the beginning of a replaced line stands before it.
        order = sorted(enumerate(self.edits), key=lambda one: (one[1].start, one[1].start != one[1].end, one[0]))
        for _index, edit in reversed(order):
            (first, column), (last, end) = edit.start, edit.end
            before, after = lines[first][:column], lines[last][end:]
            lines[first : last + 1] = (before + edit.text + after).split("\n")
        return "\n".join(lines)

    def change(self, node: Node, value: Any, wanted: Any, name: str) -> bool:
        """Change a value where it stands; return False if it must be written anew with its key or dash.

        Parameters
        ----------
        node
            The value in the text.
        value, wanted
            The value and the wanted one.
        name
            Name of the field that has the value, which tells how the items of a list are identified.
        """
        begun = len(self.edits)
        is_done = self._change(node, value, wanted, name)
        if not is_done:
            del self.edits[begun:]
        return is_done

    def _change(self, node: Node, value: Any, wanted: Any, name: str) -> bool:
        if node.start_mark.index == node.end_mark.index:
            return False
        if isinstance(node, ScalarNode):
            is_one_line = node.start_mark.line == node.end_mark.line
            if isinstance(wanted, dict | list) or node.style in ("|", ">") or not is_one_line:
                return False
            return self._replace(node, wanted)
        if not isinstance(node, CollectionNode):
            return False
        if node.flow_style:
            return self._replace(node, wanted) if isinstance(wanted, dict | list) else False
        if not wanted or type(value) is not type(wanted):
            return False
        if isinstance(node, MappingNode):
            return self._change_fields(node, value, wanted)
        return isinstance(node, SequenceNode) and self._change_items(node, value, wanted, name)

    def _replace(self, node: Node, wanted: Any) -> bool:
        start, end = node.start_mark, node.end_mark
        self.edits.append(_Edit((start.line, start.column), (end.line, end.column), to_flow(wanted)))
        return True

    def _change_fields(self, node: MappingNode, value: dict[str, Any], wanted: dict[str, Any]) -> bool:
        parts, indent = self._fields(node, value), node.start_mark.column
        if parts is None:
            return False
        known = {part.key for part in parts}
        first = parts[0]
        # After a dash, the first field can't be deleted or written anew by itself.
        is_behind_dash = bool(self._lines[first.line][:indent].strip())
        for part in parts:
            if part.key not in wanted:
                if part.value is None:
                    continue
                if part is first and is_behind_dash:
                    return False
                self._delete(part)
            elif self._differs(part, wanted[part.key]):
                if not part.is_alias and self.change(part.node, part.value, wanted[part.key], part.key):
                    continue
                if part is first and is_behind_dash:
                    return False
                self._write(part, to_yaml({part.key: wanted[part.key]}), indent)
        order = in_order([*known, *(key for key in wanted if key not in known)])
        for key in wanted:
            if key not in known:
                before = [part for part in parts if order.index(part.key) < order.index(key)]
                part = max(before or parts[:1], key=lambda one: one.line)
                self._insert(part.last + 1, to_yaml({key: wanted[key]}), indent)
        return True

    def _change_items(self, node: SequenceNode, value: list[Any], wanted: list[Any], name: str) -> bool:
        parts, indent = self._items(node, value, name), node.start_mark.column
        if parts is None:
            return False
        keys = [_identity(item, name) for item in wanted]
        matcher = difflib.SequenceMatcher(None, [part.key for part in parts], keys, autojunk=False)
        for tag, start, end, other, other_end in matcher.get_opcodes():
            pairs = min(end - start, other_end - other) if tag in ("equal", "replace") else 0
            for part, item in zip(parts[start : start + pairs], wanted[other : other + pairs], strict=True):
                if self._differs(part, item) and not self.change(part.node, part.value, item, ""):
                    self._write(part, to_yaml([item]), indent)
            for part in parts[start + pairs : end]:
                self._delete(part)
            at = parts[end - 1].last + 1 if end else parts[0].line
            for item in wanted[other + pairs : other_end]:
                self._insert(at, to_yaml([item]), indent)
        return True

    # -- lines of the text ---------------------------------------------------------------------------------------------

    def _differs(self, part: _Part, wanted: Any) -> bool:
        """Return True if a part must be changed: its value differs, or it has aliases that are written out."""
        has_alias = self.expands and _ALIAS.search("\n".join(self._lines[part.line : part.last + 1]))
        return bool(has_alias) or not _same(part.value, wanted)

    def _delete(self, part: _Part) -> None:
        self.edits.append(_Edit((part.line, 0), (part.last + 1, 0), ""))

    def _write(self, part: _Part, text: str, indent: int) -> None:
        """Replace a field or an item by another text."""
        self.edits.append(_Edit((part.line, 0), (part.last + 1, 0), _indented(text, indent)))

    def _insert(self, line: int, text: str, indent: int) -> None:
        self.edits.append(_Edit((line, 0), (line, 0), _indented(text, indent)))

    def _fields(self, node: MappingNode, value: dict[str, Any]) -> list[_Part] | None:
        """Return the fields of an object; None if some come from elsewhere (``<<``), or a key spans lines."""
        parts = []
        for key, inner in node.value:
            if key.value not in value or not isinstance(key, ScalarNode):
                return None
            is_alias = inner.start_mark.index < key.end_mark.index
            line = key.start_mark.line
            last = key.end_mark.line if is_alias else self._last(inner)
            parts.append(_Part(key.value, line, last, inner, is_alias, value[key.value]))
        return parts if len(parts) == len(value) else None

    def _items(self, node: SequenceNode, value: list[Any], name: str) -> list[_Part] | None:
        """Return the items of a list; None if one of them is an alias, whose line is not known."""
        parts: list[_Part] = []
        for inner, item in zip(node.value, value, strict=True):
            if inner.start_mark.index < node.start_mark.index or (parts and inner.start_mark.line <= parts[-1].last):
                return None
            line = inner.start_mark.line
            while line > node.start_mark.line and self._lines[line][: node.start_mark.column + 1].strip() != "-":
                line -= 1  # the value may begin below its dash
            parts.append(_Part(_identity(item, name), line, self._last(inner), inner, False, item))
        return parts

    def _last(self, node: Node) -> int:
        """Return the last line of a value, without the blank lines and comments behind it."""
        if not isinstance(node, CollectionNode) or node.flow_style or not node.value:
            end: int = node.end_mark.line
            if end > node.start_mark.line and node.end_mark.column == 0:
                end -= 1
            while end > node.start_mark.line and not self._lines[end].strip():
                end -= 1
            return end
        last = node.value[-1]
        if isinstance(node, MappingNode):
            key, inner = last
            return key.end_mark.line if inner.start_mark.index < key.end_mark.index else self._last(inner)
        return self._last(last) if last.start_mark.index >= node.start_mark.index else node.end_mark.line - 1


def _identity(item: Any, name: str) -> str:
    """Return the text that identifies an item of a list: its name if the items of this list have names."""
    key = KEYS.get(name)
    if isinstance(item, dict) and key is not None and isinstance(item.get(key), str):
        return f"{key}={item[key]}"
    return json.dumps(item, sort_keys=True)


def _indented(text: str, indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def _same(one: Any, other: Any) -> bool:
    """Return True if two JSON values are equal but for nulls; true differs from 1."""
    texts: Sequence[str] = [json.dumps(without_nulls(value), sort_keys=True) for value in (one, other)]
    return texts[0] == texts[1]
