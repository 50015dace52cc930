"""Base of the callbacks of Lightning, Hugging Face and Keras. It imports no framework."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Mapping

from .run import Run

_PREFIXES = {"train": "train", "val": "val", "valid": "val", "eval": "test", "test": "test"}


def base_class(*names: str) -> Any:
    """Return the base class of a framework's callbacks, or a class whose hooks do nothing.

    Parameters
    ----------
    names
        Possible places, as `module:class`. A framework that is imported already is preferred.
    """
    for name in sorted(names, key=lambda name: name.partition(".")[0].partition(":")[0] not in sys.modules):
        module, _, found = name.partition(":")
        try:
            return getattr(importlib.import_module(module), found)
        except (ImportError, AttributeError):
            continue
    return _Base


class _Base:
    """Base class without a framework."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)


def numbers(values: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the values that are numbers, also scalars of numpy, torch and TensorFlow."""
    found = {}
    for name, value in (values or {}).items():
        if isinstance(value, (bool, str)) or value is None:
            continue
        try:
            found[str(name)] = float(value)
        except (TypeError, ValueError):
            continue
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: other objects become texts."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    try:
        return value.item()
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return str(value)


def log_by_prefix(run: Run, values: Mapping[str, Any] | None, default: str, step: int, epoch: Any) -> None:
    """Log metrics whose names begin with their type: `val_loss` is `loss` of type `val`.

    Parameters
    ----------
    run
        The run.
    values
        Metrics; what is no number is left out.
    default
        Type of metrics without a prefix.
    step, epoch
        Position in the training.
    """
    by_type: dict[str, dict[str, float]] = {}
    for name, value in numbers(values).items():
        for separator in ("_", "/"):
            prefix, _, rest = name.partition(separator)
            if rest and prefix in _PREFIXES:
                by_type.setdefault(_PREFIXES[prefix], {})[rest] = value
                break
        else:
            by_type.setdefault(default, {})[name] = value
    for kind, found in by_type.items():
        run.log(kind, found, step=step, epoch=epoch)
