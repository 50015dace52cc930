"""A signal: several listeners are called whenever it is sent."""

from __future__ import annotations

from collections.abc import Callable


class Signal:
    """A signal without a value."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[], None]] = {}

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever the signal is sent; return how to end that."""
        key = object()
        self._listeners[key] = listener

        def stop() -> None:
            self._listeners.pop(key, None)

        return stop

    def send(self) -> None:
        """Call all listeners."""
        for listener in list(self._listeners.values()):
            listener()
