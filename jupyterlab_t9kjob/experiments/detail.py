"""A run in full."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.translation import Text, _
from .library import Known, run_id
from .model import Association, FileEntry, Parameter, RunDetail, RunRow

MOST_FILES: Final = 1000


def detail_of(known: Known, row: RunRow, same_job: Sequence[Known], root: ContentsRoot) -> RunDetail:
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
        metrics=list(known.log.series),
        files=files_of(known.folder, root),
        inputs=[association_of(entry, known.folder, root) for entry in facts.associations.get("input", ())],
        outputs=[association_of(entry, known.folder, root) for entry in facts.associations.get("output", ())],
        sources=_sources(known),
        attempts=[each.id for each in oldest_first],
    )


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
                shown = api.encode("utf-8", "replace").decode()
                found.append(FileEntry(path=shown, size=status.st_size, modified_at=status.st_mtime))
            if len(found) >= most:
                return found
    return found


def association_of(entry: dict[str, str], run: Path, root: ContentsRoot) -> Association:
    """Return an input or output of a run.

    Parameters
    ----------
    entry
        What the run's file says.
    run
        The run's folder.
    root
        The contents root.
    """
    kind = entry.get("kind", "")
    if kind != "Artifact":
        return Association(kind=kind, name=entry.get("path") or entry.get("id", ""), found=False)
    folder = artifact_folder(entry, run, root)
    path = root.api(folder) if folder is not None else None
    name = entry.get("name", "")
    return Association(id=run_id(path) if path else None, kind=kind, name=name, path=path, found=path is not None)


def artifact_folder(entry: dict[str, str], run: Path, root: ContentsRoot) -> Path | None:
    """Return the folder of an artifact of a run (t9k.md §3.3, rule 2); None if it is not found in the root.

    `localDir` is relative to the working directory of the training, or absolute as the job's pod saw it. So the folder
    is looked up relative to the folder that has `.em`, then as `artifacts/<name>` beside the folder `runs`, then by the
    end of the path below the root.

    Parameters
    ----------
    entry
        The association: name and localDir.
    run
        The run's folder.
    root
        The contents root.
    """
    name, local = entry.get("name", ""), entry.get("localDir", "")
    candidates = []
    if local and "\0" not in local:
        candidates.append(Path(os.path.normpath(run.parent.parent.parent / local)))
    if name and "/" not in name and "\0" not in name:
        candidates.append(run.parent.parent / "artifacts" / name)
    parts = Path(local).parts if "\0" not in local else ()
    candidates += [root.folder.joinpath(*parts[at:]) for at in range(1, min(len(parts), 20))]
    for candidate in candidates:
        normal = Path(os.path.normpath(candidate))
        if root.contains(normal) and _is_artifact(normal, root):
            return normal
    return None


def _is_artifact(folder: Path, root: ContentsRoot) -> bool:
    try:
        if not (folder / "metadata.yaml").is_file():
            return False
        return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root.folder))
    except (OSError, ValueError):
        return False


def _sources(known: Known) -> dict[str, Text]:
    if known.source.origin != "recorder":
        return {}
    recorded = _("Recorded by the script")
    found = {"parameters": recorded, "metrics": recorded, "environment": recorded}
    for problem in known.facts.problems if known.facts else ():
        found[problem.partition(":")[0]] = _("The file can't be read: {problem}.", problem=problem)
    return found
