"""Config files of a job, as a user names them on the command line: `config_file`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.errors import FieldError
from ..core.spec import MAX_CONFIG_BYTES
from ..core.translation import _

_FIELD = "/spec/config_files"


def config_file(word: str) -> dict[str, Any]:
    """Return the config file that a word such as ``nccl.conf:/etc/nccl.conf`` describes, with the file's content.

    Raises
    ------
    FieldError
        If the word names no file and path, or the file can't be read or is too large.
    """
    source, _colon, path = word.rpartition(":")
    if not source or not path.startswith("/"):
        raise FieldError(
            _("“{word}” is no file and path.", word=word[:200]),
            field=_FIELD,
            hint=_("Write it as FILE:/path."),
        )
    try:
        with Path(source).open("rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
        if len(content) > MAX_CONFIG_BYTES:
            raise FieldError(
                _("The config file {file} is larger than {size} KiB.", file=source, size=MAX_CONFIG_BYTES // 1024),
                field=_FIELD,
                hint=_("Put large files on a volume of the job."),
            )
        return {"path": path, "text": content.decode()}
    except (OSError, ValueError) as error:
        raise FieldError(
            _("The config file {file} can't be read: {problem}", file=source, problem=str(error)),
            field=_FIELD,
            hint=_("Config files are small files of text (UTF-8)."),
        ) from error
