"""The text of a script: decoding, parsing, and errors that only the compiler finds."""

from __future__ import annotations

import ast
import io
import tokenize
from types import CodeType

from ...core.errors import FieldError
from ...core.system.files import open_regular
from ...core.translation import Text, _

MAX_BYTES = 4 * 1024 * 1024
FIELD = "/spec/entrypoint/value"


class SourceError(FieldError):
    """A script or notebook that is not valid Python; `line`, `column` and a notebook's `cell` count from 1."""

    code = "SyntaxError"

    def __init__(
        self, message: Text, *, line: int | None = None, column: int | None = None, cell: int | None = None
    ) -> None:
        hint = _("Correct the script and save it.") if cell is None else _("Correct the cell and save it.")
        super().__init__(message, field=FIELD, hint=hint)
        self.line = line
        self.column = column
        self.cell = cell


def read_start(path: str, most: int) -> bytes:
    """Return the first `most` bytes of the file `path`; nothing if it can't be read (blocking)."""
    try:
        with open_regular(path) as file:
            return file.read(most)
    except OSError:
        return b""


def decode(data: bytes, name: str) -> str:
    """Return the text of a script, decoded as Python does: byte order mark, PEP 263 declaration, or else UTF-8.

    Parameters
    ----------
    data
        Content of the file.
    name
        Name of the file, for messages.

    Raises
    ------
    SourceError
        If the file is too large, is not text, or has an unknown encoding.
    """
    if len(data) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1024**2} MiB"
        raise SourceError(_("{file} is larger than {size}: not a script.", file=name, size=limit))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        message = _("{file} has a NUL byte in line {line}: not a script.", file=name, line=line)
        raise SourceError(message, line=line)
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = _(
            "{file} has bytes in line {line} that are not {encoding}.", file=name, line=line, encoding=error.encoding
        )
        raise SourceError(message, line=line) from error
    except (SyntaxError, LookupError) as error:
        message = _("{file} can't be decoded: {error}.", file=name, error=str(error))
        raise SourceError(message, line=1) from error
    return io.IncrementalNewlineDecoder(None, translate=True).decode(text, final=True)


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if "encoding declaration" not in str(error):
            raise
        return "utf-8"  # The first lines are not valid UTF-8; decoding then reports the line.


def parse(source: str, name: str) -> ast.Module | None:
    """Return the syntax tree of a script; None if it is too deeply nested for this Python's parser.

    Parameters
    ----------
    source
        Text of the script.
    name
        Name of the file, for messages.

    Raises
    ------
    SourceError
        If the script has a syntax error.
    """
    try:
        return ast.parse(source, filename=name)  # Python's warnings contain the name.
    except SyntaxError as error:
        raise _syntax_error(error, name) from error
    except (RecursionError, MemoryError):
        return None
    except ValueError as error:
        raise SourceError(_("{file} can't be read: {error}.", file=name, error=str(error))) from error


def check_code(tree: ast.Module, name: str, *, flags: int = 0) -> int:
    """Check a script for errors that only the compiler finds, such as ``return`` outside a function.

    Parameters
    ----------
    tree
        Syntax tree of the script.
    name
        Name of the file, for messages.
    flags
        Compiler flags.

    Returns
    -------
    int
        Flags of the compiled code, which is not run.

    Raises
    ------
    SourceError
        If the compiler finds an error.
    """
    try:
        code: CodeType = compile(tree, name, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        raise _syntax_error(error, name) from error
    except (RecursionError, MemoryError, ValueError):
        return 0  # The script is too deeply nested for this Python; the job's Python may accept it.
    return code.co_flags


def _syntax_error(error: SyntaxError, name: str) -> SourceError:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    message = _(
        "{file} has a syntax error in line {line}, column {column}: {error}.",
        file=name,
        line=line,
        column=column,
        error=error.msg,
    )
    return SourceError(message, line=line, column=column)
