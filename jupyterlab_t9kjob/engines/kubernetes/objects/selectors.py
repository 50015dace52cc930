"""Label selectors and tolerations, evaluated as the API server and the scheduler do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ....core.capacity import Taint
from ..client.api import Json
from ..client.json_access import part, parts, text, texts

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")


def selects(selector: Json, labels: Mapping[str, Any]) -> bool:
    """Return True if a label selector matches labels; an empty selector matches all.

    Requirements with an unknown operator count as met.

    Parameters
    ----------
    selector
        The selector with ``matchLabels`` and ``matchExpressions``.
    labels
        The labels.
    """
    return all(labels.get(name) == wanted for name, wanted in part(selector, "matchLabels").items()) and all(
        _holds(requirement, labels) is not False for requirement in parts(selector, "matchExpressions")
    )


def matches(requirement: Json, labels: Mapping[str, Any]) -> bool:
    """Return True if labels meet a requirement of a node selector; an unknown operator is never met.

    Parameters
    ----------
    requirement
        The requirement: key, operator, values.
    labels
        The labels.
    """
    return _holds(requirement, labels) is True


def tolerates(toleration: Json, taint: Taint) -> bool:
    """Return True if a toleration tolerates a taint.

    Parameters
    ----------
    toleration
        A toleration of a pod.
    taint
        A taint of a node.
    """
    if text(toleration, "effect") not in (None, taint.effect):
        return False
    key = text(toleration, "key")
    if text(toleration, "operator") == "Exists":
        return key in (None, taint.key)
    return key == taint.key and (text(toleration, "value") or "") == taint.value


def _holds(requirement: Json, labels: Mapping[str, Any]) -> bool | None:
    name, values = text(requirement, "key") or "", texts(requirement, "values")
    match text(requirement, "operator"):
        case "In":
            return labels.get(name) in values
        case "NotIn":
            return labels.get(name) not in values
        case "Exists":
            return name in labels
        case "DoesNotExist":
            return name not in labels
        case "Gt":
            return _difference(labels.get(name), values) > 0
        case "Lt":
            return _difference(labels.get(name), values) < 0
    return None


def _difference(label: Any, values: list[str]) -> int:
    """Return the difference of a label and a bound; 0 if one of them is not an integer."""
    numbers = [int(one) for one in (label, *values) if isinstance(one, str) and _NUMBER.fullmatch(one)]
    return numbers[0] - numbers[1] if len(numbers) == len(values) + 1 == 2 else 0
