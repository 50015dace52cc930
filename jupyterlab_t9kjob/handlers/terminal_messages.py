"""Messages of the WebSocket of a terminal: those of JupyterLab's terminals, and two of our own, `ack` and `ended`."""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from ..core.spec import Model
from ..core.translation import Text

MOST_INPUT = 128 * 1024
Size = Annotated[int, Field(ge=0, le=10_000, description="Number of characters.")]

TerminalInput: TypeAlias = (
    tuple[Literal["stdin"], Annotated[str, StringConstraints(max_length=MOST_INPUT)]]
    | tuple[Literal["set_size"], Size, Size]
    | tuple[Literal["set_size"], Size, Size, float, float]
    | tuple[Literal["ack"], Annotated[int, Field(ge=0, le=2**53 - 1)]]
)
"""Client → server: keys, the size of the terminal (rows, columns, pixels), characters of output that were shown."""
TERMINAL_INPUT: TypeAdapter[TerminalInput] = TypeAdapter(TerminalInput)


def parsed_input(message: str | bytes) -> TerminalInput:
    """Return a message of the client; a half of a surrogate pair in its keys becomes U+FFFD.

    Raises
    ------
    ValidationError
        If it is no such message.
    """
    try:
        return TERMINAL_INPUT.validate_json(message, strict=True)
    except ValidationError:
        try:
            kind, keys = json.loads(message)
        except (ValueError, TypeError, RecursionError):
            kind = keys = None
        if kind != "stdin" or not isinstance(keys, str):
            raise
        whole = keys.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return TERMINAL_INPUT.validate_json(json.dumps(["stdin", whole]), strict=True)


class TerminalEnd(Model):
    """Why a shell has ended."""

    code: str = Field(description="Identifier for programs: `Exited` if the shell ended by itself.")
    message: Text = Field(description="Sentence that says what happened.")
    hint: Text | None = Field(None, description="Sentence that says what the user can do.")
    verbatim: str | None = Field(None, description="Error message of the system or the cluster.")


TerminalOutput: TypeAlias = (
    tuple[Literal["setup"], dict[str, str]]
    | tuple[Literal["stdout"], str]
    | tuple[Literal["ended"], TerminalEnd]
    | tuple[Literal["disconnect"], int]
)
"""Server → client: the shell runs, its output, why it has ended, and the end."""
