"""Writes plain data as YAML, without PyYAML, so that the recorder works in an image that lacks it.

PyYAML's safe loader reads the text, and so does T9k's SDK. Texts that a plain scalar can't hold are written as JSON
strings, which are valid in YAML; tuples are written as lists.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Mapping

_PLAIN = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_./-]*[A-Za-z0-9_])?\Z")
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_LONGEST_KEY = 100
# YAML allows these characters nowhere, also not in quotes, and json.dumps does not escape them all.
_UNPRINTABLE = re.compile("[\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff\x85\u2028\u2029\ufeff]")


def text_of(value: str) -> str:
    """Return a string as a YAML scalar that is read as the same string."""
    if len(value) <= _LONGEST_KEY and _PLAIN.match(value) and value.lower() not in _WORDS:
        return value
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def number_of(value: float) -> str:
    """Return a number as a YAML scalar that is read as the same number."""
    if isinstance(value, int):
        return str(int(value))
    text = float.__repr__(value)
    if math.isfinite(value):
        # YAML 1.1 takes 1e-05 for a string.
        return text.replace("e", ".0e", 1) if "e" in text and "." not in text else text
    return ".nan" if value != value else ".inf" if value > 0 else "-.inf"


def dump(value: Any) -> str:
    """Return a document: a mapping, a sequence or a scalar.

    Parameters
    ----------
    value
        Dictionaries, lists, tuples, strings, numbers, booleans and None, nested.

    Raises
    ------
    TypeError
        If a value is of another type.
    """
    lines: list[str] = []
    _block(value, "", lines)
    return "\n".join(lines) + "\n"


def _block(value: Any, indent: str, lines: list[str]) -> None:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            name = _scalar(key)
            head = f"{indent}{name}:" if len(name) <= _LONGEST_KEY else f"{indent}? {name}\n{indent}:"
            _entry(head, item, indent + "  ", lines)
    elif isinstance(value, (list, tuple)) and value:
        for item in value:
            _entry(f"{indent}-", item, indent + "  ", lines)
    else:
        lines.append(indent + _scalar(value))


def _entry(head: str, item: Any, indent: str, lines: list[str]) -> None:
    if isinstance(item, (Mapping, list, tuple)) and item:
        lines.append(head)
        _block(item, indent, lines)
    else:
        lines.append(f"{head} {_scalar(item)}")


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, (int, float)):
        return number_of(value)
    if isinstance(value, Mapping) and not value:
        return "{}"
    if isinstance(value, (list, tuple)) and not value:
        return "[]"
    raise TypeError(f"{type(value).__name__} can't be written as YAML")
