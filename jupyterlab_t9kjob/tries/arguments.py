"""Arguments of a job that are changed for its try: outputs go to a folder of the try, and the backend is gloo."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from ..launch.options.values import with_option
from ..launch.source_file import Source


def redirected(args: list[str], source: Source, folder: Path) -> tuple[list[str], list[str]]:
    """Return arguments by which events and checkpoints go to a folder, and the options that were set for that.

    Options without a value are not set: a script that is not asked to write, does not.

    Parameters
    ----------
    args
        Arguments of the job.
    source
        The job's script or notebook.
    folder
        The folder; subfolders that the script does not make itself are made here (blocking).
    """
    options, outputs = source.script.info.options, source.script.outputs
    changed: list[str] = []
    for option in options:
        roles = {"events", "checkpoints"}.intersection(option.roles)
        value = option.value_in(args)
        if not roles or not option.flags or option.kind != "text" or not value:
            continue
        saves_file = outputs.checkpoints is not None and outputs.checkpoints.is_file
        if "events" in roles:
            own = made = folder / "events"
        elif saves_file:
            own = folder / "checkpoints" / _file_name(PurePosixPath(value).name, "model.pt")
            made = own.parent
        else:
            own = made = folder / "checkpoints" / _file_name(option.dest, "folder")
        # A folder that exists already stops scripts that make it themselves.
        needs_folder = "checkpoints" in roles and not outputs.makes_folders
        (made if needs_folder else made.parent).mkdir(parents=True, exist_ok=True)
        args = with_option(args, option, str(own), options)
        changed.append(option.flags[0])
    return args, changed


def _file_name(text: str, otherwise: str) -> str:
    """Return a text as the name of a file in its folder; a script may call its options anything."""
    name = re.sub(r"[^\w.=-]", "_", text)[:100]
    return name if name.strip(".") else otherwise
