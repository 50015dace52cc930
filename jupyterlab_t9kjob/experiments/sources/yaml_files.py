"""Reads YAML that another program wrote, perhaps in part. No object is ever built from a tag.

T9k's SDK writes tags such as ``!!python/tuple`` (t9k-facts.md, Recorder: rules for readers, 4).
"""

from __future__ import annotations

import math
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

import yaml

from ...core.system.files import open_regular
from ..model import json_number

MOST_BYTES: Final = 4 * 1024 * 1024
MOST_PARAMETERS: Final = 2000
LONGEST_VALUE: Final = 200
MOST_LEVELS: Final = 200
_DEEPEST: Final = 20
_LARGEST: Final = 2**53

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class NotReadable(ValueError):
    """A file is no YAML, is cut off, or has another shape than expected."""


class _Loader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader, which takes unknown tags for plain data."""


def _plain(loader: Any, _suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _plain)
_Loader.add_multi_constructor("!", _plain)


def parse(content: bytes) -> Any:
    """Return the value of a YAML document.

    Raises
    ------
    NotReadable
        If the content is no YAML.
    """
    try:
        _check_depth(content)
        return yaml.load(content, Loader=_Loader)  # noqa: S506 (a safe one)
    except (yaml.YAMLError, ValueError) as problem:
        raise NotReadable(str(problem)[:500]) from None
    except Exception as problem:  # PyYAML raises any error for a value that does not fit its tag.
        raise NotReadable(repr(problem)[:500]) from None


def _check_depth(content: bytes) -> None:
    """Refuse deep nesting: the parser in C calls itself for each level, and would crash the process.

    Raises
    ------
    NotReadable
        If the content is nested deeper than `MOST_LEVELS`.
    """
    if len(content) <= MOST_LEVELS:
        return
    depth = 0
    for event in yaml.parse(content, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MOST_LEVELS:
                raise NotReadable("nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file; links are refused.

    Parameters
    ----------
    path
        The file.
    most
        Largest size in bytes.

    Raises
    ------
    OSError
        If the file can't be read.
    NotReadable
        If it is too large.
    """
    with open_regular(path, follow=False) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise NotReadable(f"{path.name}: more than {most} bytes")
    return content


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; empty if the file is empty or missing.

    Raises
    ------
    OSError
        If the file can't be read.
    NotReadable
        If the file has no mapping.
    """
    try:
        value = parse(read_bytes(path))
    except FileNotFoundError:
        return {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NotReadable(f"{path.name}: a {type(value).__name__}, not a mapping")
    return value


def flat(value: Any) -> dict[str, Any]:
    """Return nested mappings as one of at most `MOST_PARAMETERS` plain values, with names joined by dots."""
    found: dict[str, Any] = {}
    _flatten(value, "", found, 0)
    return found


def _flatten(value: Any, prefix: str, found: dict[str, Any], depth: int) -> None:
    for key, item in value.items() if isinstance(value, dict) else ():
        if len(found) >= MOST_PARAMETERS:
            return
        name = f"{prefix}{text(key)}"
        if isinstance(item, dict) and item and depth < _DEEPEST:
            _flatten(item, f"{name}.", found, depth + 1)
        else:
            found[name] = plain(item)


def plain(value: Any, longest: int = LONGEST_VALUE) -> Any:
    """Return a value as a number, text, boolean or None. Lists become texts.

    Parameters
    ----------
    value
        Value of a YAML document.
    longest
        Largest length of a text.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else float(value) if abs(value) < 1e300 else text(value, longest)
    if isinstance(value, float):
        return value
    return text(value, longest)


def text(value: Any, longest: int = LONGEST_VALUE) -> str:
    """Return a value as a text of a limited length.

    Parameters
    ----------
    value
        Value of a YAML document, which may be nested, with itself as a part.
    longest
        Largest length.
    """
    pieces: list[str] = []
    _write(value, pieces, longest, 0)
    joined = "".join(pieces)
    # Lone surrogates can't be encoded as UTF-8.
    joined = joined.encode("utf-8", "replace").decode()
    return joined if len(joined) <= longest else joined[: longest - 1] + "…"


def _write(value: Any, pieces: list[str], longest: int, depth: int) -> None:
    if len(pieces) > longest or depth > _DEEPEST:
        pieces.append("…")
    elif isinstance(value, dict):
        pieces.append("{")
        for number, (key, item) in enumerate(value.items()):
            if len(pieces) > longest:
                break
            pieces.append(", " if number else "")
            _write(key, pieces, longest, depth + 1)
            pieces.append(": ")
            _write(item, pieces, longest, depth + 1)
        pieces.append("}")
    elif isinstance(value, list | tuple | set | frozenset):
        pieces.append("[")
        for number, item in enumerate(value):
            if len(pieces) > longest:
                break
            pieces.append(", " if number else "")
            _write(item, pieces, longest, depth + 1)
        pieces.append("]")
    else:
        pieces.append(_scalar(value)[: longest + 1])


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(json_number(value))
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    try:
        return str(value)
    except ValueError:  # Python writes no integer of more than 4300 digits.
        return hex(value)


def seconds(value: Any) -> float | None:
    """Return a time of a YAML document as seconds since the epoch; None if it is no time."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        found = value.timestamp() if isinstance(value, datetime) else float(value) if _is_number(value) else None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found is not None and math.isfinite(found) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
