"""Calls of libraries, with their arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..interpreter.module import Module


@dataclass(frozen=True)
class Call:
    """A call of a library's function or class.

    Attributes
    ----------
    name
        Full name of the function, such as ``fire.Fire``.
    module
        The module with the call.
    node
        The call.
    """

    name: str
    module: Module
    node: ast.Call

    @property
    def last(self) -> str:
        """Last part of the function's name."""
        return self.name.rpartition(".")[2]

    def argument(self, index: int, name: str) -> ast.expr | None:
        """Return an argument by position or keyword; None if the call does not have it.

        Parameters
        ----------
        index
            Position of the argument, from 0.
        name
            Name of the function's parameter.

        Returns
        -------
        node
            Expression of the argument; the keyword's if ``*`` precedes the position.
        """
        plain = self.node.args[: index + 1]
        if len(plain) > index and not any(isinstance(argument, ast.Starred) for argument in plain):
            return plain[index]
        return self.keyword(name)

    def keyword(self, name: str) -> ast.expr | None:
        """Return a keyword argument; None if the call does not have it."""
        return keyword_of(self.node, name)


def keyword_of(node: ast.Call, name: str) -> ast.expr | None:
    """Return a keyword argument of a call; None if the call does not have it.

    Parameters
    ----------
    node
        The call.
    name
        Name of the argument.
    """
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
