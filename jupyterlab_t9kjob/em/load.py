"""Reads files of runs and artifacts that this recorder or T9k's SDK wrote.

The files may be empty, cut off or half written, and T9k's SDK writes tags of Python objects. No object is ever built
from a tag: tuples become lists, and other tagged values become what YAML says about them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ITEM = re.compile(rb"^- ", re.MULTILINE)
_MOST_LEVELS = 200
_MOST_BYTES = 64 * 1024 * 1024


class SafeLoader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader, which takes unknown tags for plain data."""


def _plain(loader: Any, _suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


SafeLoader.add_multi_constructor("tag:yaml.org,2002:python/", _plain)
SafeLoader.add_multi_constructor("!", _plain)


def parse(text: str | bytes) -> Any:
    """Return the value of a YAML document.

    Raises
    ------
    ValueError
        If the text is no YAML, or is nested deeper than 200 levels.
    """
    try:
        _check_depth(text)
        return yaml.load(text, Loader=SafeLoader)  # noqa: S506 (a safe one)
    except (yaml.YAMLError, ValueError) as problem:
        raise ValueError(str(problem)) from None
    except Exception as problem:  # PyYAML raises any error for a value that does not fit its tag.
        raise ValueError(repr(problem)) from None


def _check_depth(text: str | bytes) -> None:
    """Refuse deep nesting: the parser in C calls itself for each level, and would crash the process."""
    if len(text) <= _MOST_LEVELS:
        return
    depth = 0
    for event in yaml.parse(text, Loader=SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MOST_LEVELS:
                raise ValueError("The text is nested too deeply.")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; an empty file gives an empty mapping.

    Raises
    ------
    OSError
        If the file can't be read.
    ValueError
        If the file holds no mapping, or is larger than 64 MB.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError("The file is too large.")
        value = parse(content)
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{path}: the file holds a {type(value).__name__}, not a mapping.")
    return value


class Metric(NamedTuple):
    """One item of a metrics file."""

    value: dict[str, float]
    step: float | None
    epoch: float | None
    timestamp: str | None


class Metrics(NamedTuple):
    """Items of a part of a metrics file.

    Attributes
    ----------
    items
        The items.
    end
        Offset after the last complete item; the next part begins here.
    unreadable
        Number of items that could not be read.
    """

    items: list[Metric]
    end: int
    unreadable: int


def read_metrics(content: bytes, start: int = 0, *, final: bool = False) -> Metrics:
    """Return the items in a part of a metrics file.

    The last item is complete if it has its `timestamp` line, which is written last.

    Parameters
    ----------
    content
        Bytes of the file from `start`, which is 0 or the `end` of the part before.
    start
        Offset of the content in the file.
    final
        True if nobody writes the file any more: an item without its end is counted as unreadable.
    """
    items: list[Metric] = []
    end, unreadable = 0, 0
    if not final:
        content = content[: content.rfind(b"\n") + 1]
    for first, last in _spans(content):
        metric = _metric(content[first:last])
        if metric is not None:
            items.append(metric)
        elif last < len(content) or final:
            unreadable += 1
        else:
            break
        end = last
    return Metrics(items, start + end, unreadable)


def _spans(content: bytes) -> Iterator[tuple[int, int]]:
    """Return begin and end of each item."""
    begins = [match.start() for match in _ITEM.finditer(content)]
    return zip(begins, [*begins[1:], len(content)])


def _metric(content: bytes) -> Metric | None:
    try:
        [item] = parse(content)
        sequence = item["sequence"]
        value = {str(name): float(number) for name, number in item["value"].items()}
        step, epoch = _number(sequence.get("step")), _number(sequence.get("epoch"))
        time = sequence["timestamp"]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    return Metric(value, step, epoch, None if time is None else str(time))


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
