"""Amounts in words."""

from __future__ import annotations

from ..core.translation import Text, _

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB")


def number(value: float) -> str:
    """Return a number with two or three significant digits: “0.42”, “18.2”, “131”."""
    size = abs(value)
    return f"{value:.0f}" if size >= 100 or value == int(value) else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def size(value: float) -> Text:
    """Return an amount of memory: “64.1 GiB”."""
    return _scaled(value, 1024, _BINARY)


def transferred(value: float) -> Text:
    """Return an amount of data that was read, written or sent: “4.9 TB”."""
    return _scaled(value, 1000, _DECIMAL)


def _scaled(value: float, step: int, units: tuple[str, ...]) -> Text:
    index = 0
    while abs(value) >= step and index < len(units) - 1:
        value, index = value / step, index + 1
    return _("{number} {unit}", number=number(value), unit=units[index])
