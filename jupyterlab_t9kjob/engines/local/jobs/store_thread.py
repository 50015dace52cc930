"""Thread in which an engine uses its store, one call at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from ....core.errors import Unavailable
from ....core.system.disk import trouble_of
from ....core.system.disk_threads import Lane
from ....core.translation import Text
from .store import Store

P = ParamSpec("P")
T = TypeVar("T")


class StoreThread:
    """Calls functions of a store one at a time, so that the store needs no locks.

    Parameters
    ----------
    store
        The store.
    """

    def __init__(self, store: Store) -> None:
        self._home = store.home
        self._lane = Lane(str(store.home), width=1)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function in the thread, and return its result; errors of the disk are raised as they are.

        Parameters
        ----------
        function
            Function to call.
        *args, **kwargs
            Arguments of the function.
        """
        return await self._lane.run(partial(function, *args, **kwargs))

    async def demand(self, message: Text, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function for a request.

        Parameters
        ----------
        message
            Message of the error, with the parameter ``problem``.
        function
            Function to call.
        *args, **kwargs
            Arguments of the function.

        Raises
        ------
        Unavailable
            If the disk has an error.
        """
        try:
            return await self.call(function, *args, **kwargs)
        except OSError as error:
            raise self.unusable(message, error) from error

    def unusable(self, message: Text, error: OSError) -> Unavailable:
        """Return the answer to a request that failed because of the disk.

        Parameters
        ----------
        message
            Message of the answer, with the parameter ``problem``.
        error
            Error of the disk.
        """
        trouble = trouble_of(error, self._home)
        message = message.with_params(problem=trouble.sentence)
        return Unavailable(message, code=trouble.code, hint=trouble.hint, verbatim=str(error))
