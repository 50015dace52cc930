"""Signals between parts of the server."""

from __future__ import annotations

from collections.abc import Callable


class Signal:
    """Calls its listeners whenever it is sent; it carries no value."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[], None]] = {}

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever the signal is sent; return a function that ends this."""
        key = object()
        self._listeners[key] = listener

        def stop() -> None:
            self._listeners.pop(key, None)

        return stop

    def send(self) -> None:
        """Call all listeners."""
        for listener in list(self._listeners.values()):
            listener()
