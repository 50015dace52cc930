"""A run in full."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot, printable
from ..core.translation import Text, _
from .facts import Facts
from .joined import gaps_of
from .library.known import Known
from .library.library import Library
from .model import Association, FileEntry, Parameter, RunDetail, RunRow
from .places import Places, artifact_id, place_of

MOST_FILES: Final = 1000


def detail_of(
    known: Known, row: RunRow, same_job: Sequence[Known], root: ContentsRoot, places: Places, library: Library
) -> RunDetail:
    """Return a run in full (blocking).

    Parameters
    ----------
    known
        The run, which was read.
    row
        Its row.
    same_job
        All runs of its job.
    root
        The contents root.
    places
        Finds artifacts.
    library
        The library that the run is of.
    """
    facts = known.facts
    assert facts is not None  # noqa: S101
    oldest_first = sorted(same_job, key=lambda each: (each.facts.started or 0.0) if each.facts else 0.0)
    return RunDetail(
        run=row,
        parameters=[Parameter(name=name, value=value) for name, value in facts.parameters.items()],
        description=facts.description,
        environment=facts.environment,
        packages=facts.packages,
        git=facts.git,
        metrics=list(known.names),
        files=[file for folder in _folders(known) for file in files_of(folder, root)][:MOST_FILES],
        inputs=[association_of(entry, known.folder, root, places) for entry in facts.associations.get("input", ())],
        outputs=[association_of(entry, known.folder, root, places) for entry in facts.associations.get("output", ())],
        sources=_sources(known),
        problems=_problems(known, facts, library),
        attempts=[each.id for each in oldest_first],
    )


def _folders(known: Known) -> list[Path]:
    return [known.folder] if known.has_files else [part.folder for part in known.parts]


def files_of(folder: Path, root: ContentsRoot, most: int = MOST_FILES) -> list[FileEntry]:
    """Return the files in a folder; links are left out.

    Parameters
    ----------
    folder
        The folder.
    root
        The contents root.
    most
        Greatest number of files.
    """
    found: list[FileEntry] = []
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = Path(path, name)
            api = root.api(file)
            try:
                status = file.lstat()
            except OSError:
                continue
            if api is not None and not file.is_symlink():
                found.append(FileEntry(path=printable(api), size=status.st_size, modified_at=status.st_mtime))
            if len(found) >= most:
                return found
    return found


def association_of(entry: dict[str, str], run: Path, root: ContentsRoot, places: Places) -> Association:
    """Return an input or output of a run.

    Parameters
    ----------
    entry
        Entry of the run's file.
    run
        The run's folder.
    root
        The contents root.
    places
        Finds artifacts.
    """
    kind = entry.get("kind", "")
    if kind != "Artifact":
        return Association(kind=kind, name=entry.get("path") or entry.get("id", ""), found=False)
    folder = places.find(run, entry)
    path = root.api(folder) if folder is not None else None
    return Association(
        id=artifact_id(folder, path) if folder is not None else None,
        kind=kind,
        name=entry.get("name", ""),
        path=printable(path) if path is not None else None,
        place=place_of(folder, path, entry),
        found=folder is not None,
    )


def _sources(known: Known) -> dict[str, Text]:
    if known.source.origin == "recorder":
        recorded = _("Recorded by the script")
        found = {"parameters": recorded, "metrics": recorded, "environment": recorded}
    elif known.source.origin == "job":
        job = _("From the job")
        events = _("From TensorBoard event files") if known.parts else _("From the log")
        found = {"parameters": job, "metrics": events, "environment": job}
        if known.facts is not None and known.facts.packages:
            found["packages"] = _("Installed in the kernel's environment now")
        else:
            found["packages"] = _("Not recorded. The recorder lists the packages of the image.")
        if known.facts is None or not known.facts.git:
            found["git"] = _("Not recorded. The recorder and snapshots of a git repository record the commit.")
    else:
        files = {
            "mlflow": _("From the files of MLflow"),
            "wandb": _("From the files of W&B"),
        }.get(known.source.origin, _("From TensorBoard event files"))
        found = {"parameters": files, "metrics": files, "environment": files}
    return found


def _problems(known: Known, facts: Facts, library: Library) -> list[Text]:
    """Return what could not be read of a run."""
    found = [_("The file can't be read: {problem}.", problem=problem) for problem in facts.problems]
    with known.lock:
        library.load(known)
        found += gaps_of(known)
    library.unload(known)
    return found
