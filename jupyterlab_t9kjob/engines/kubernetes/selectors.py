"""Label selectors, as the API server reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fields import part, parts, text, texts
from .transport import Json


def selects(selector: Json, labels: Mapping[str, Any]) -> bool:
    """Whether a selector (``matchLabels`` and ``matchExpressions``) selects what has these labels; an empty one does.

    Of an operator that is not known it is taken to be true.
    """
    return all(labels.get(name) == wanted for name, wanted in part(selector, "matchLabels").items()) and all(
        _holds(requirement, labels) for requirement in parts(selector, "matchExpressions")
    )


def _holds(requirement: Json, labels: Mapping[str, Any]) -> bool:
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
    return True
