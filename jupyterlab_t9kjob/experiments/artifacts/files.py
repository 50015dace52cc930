"""Lists and opens the files of an artifact. All functions block."""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final

from ...contents_paths import printable
from ...core.errors import NotFound
from ...core.system.files import open_regular
from ...core.system.zip_stream import Sink, zip_time
from ...core.translation import Text, _, translated
from ..places import METADATA, REFERENCES, Places
from ..sources.yaml_files import NotReadable, read_mapping, seconds, text
from .flow import split_name
from .model import MOST_FILES, MOST_REFERENCES, ArtifactFile, Checksum, Reference
from .previews import kind_of

MOST_WALKED: Final = 100_000
"""Files of an artifact that are counted and sent."""
MOST_NAMED: Final = 1000
"""Files that a ZIP file names as left out."""
LEFT_OUT: Final = "left-out.txt"
"""Name, after that of the artifact's folder, of the file in a ZIP file that names what was left out."""
_LONGEST_TEXT: Final = 20_000
_CHUNK: Final = 4 * 1024 * 1024
_PIECE: Final = 256 * 1024
MOST_COUNTED: Final = 1000
"""Files that are counted for a node of the graph."""
MOST_ZIPPED: Final = 20 * 10**9
"""Bytes of an artifact that is sent as a ZIP file."""
_OWN: Final = frozenset([METADATA, REFERENCES])


@dataclass
class ArtifactFacts:
    """Facts of an artifact, read from its folder.

    Attributes
    ----------
    name, suffix, labels, description, created_at
        Metadata.
    problem
        Why the metadata can't be read; None if they can.
    files
        The first files in the order of their paths.
    file_count, size
        Number of all files, and their bytes.
    more_files
        True if there are more than `MOST_WALKED` files, of which only the first are counted.
    references
        Objects that are stored elsewhere.
    """

    name: str
    suffix: str
    labels: list[str]
    description: str
    created_at: float | None
    problem: Text | None
    files: list[ArtifactFile]
    file_count: int
    size: int
    more_files: bool
    references: list[Reference]


def read_artifact(folder: Path, places: Places) -> ArtifactFacts:
    """Return the facts of an artifact, read from its folder.

    Parameters
    ----------
    folder
        The folder.
    places
        The lab's root.
    """
    problem = None
    metadata: dict[str, Any] = {}
    references: dict[str, Any] = {}
    try:
        metadata = read_mapping(folder / METADATA)
        references = read_mapping(folder / REFERENCES)
    except NotReadable as error:
        problem = _("The metadata of the artifact can't be read: {reason}", reason=str(error)[:500])
    except OSError as error:
        problem = _("The metadata of the artifact can't be read: {reason}", reason=str(error.strerror))
    name, suffix = split_name(folder.name)
    labels = metadata.get("labels")
    walk = _Walk(folder, places)
    files = sorted(walk, key=lambda file: PurePosixPath(file.path).parts)
    return ArtifactFacts(
        name=text(metadata.get("name") or name),
        suffix=suffix,
        labels=[text(label, _LONGEST_TEXT) for label in (labels if isinstance(labels, list) else [])[:1000]],
        description=text(metadata.get("description") or "", _LONGEST_TEXT),
        created_at=seconds(metadata.get("createdTimestamp")),
        problem=problem,
        files=files[:MOST_FILES],
        file_count=len(files),
        size=sum(file.size for file in files),
        more_files=walk.more,
        references=[
            Reference(path=text(path, _LONGEST_TEXT), uri=text(uri, _LONGEST_TEXT))
            for path, uri in list(references.items())[:MOST_REFERENCES]
        ],
    )


def counted(folder: Path, places: Places) -> tuple[int, int] | None:
    """Return number and bytes of the files of an artifact; None if there are more than `MOST_COUNTED`.

    Parameters
    ----------
    folder
        The folder.
    places
        Folders of artifacts.
    """
    count = size = 0
    for file in _Walk(folder, places):
        count, size = count + 1, size + file.size
        if count > MOST_COUNTED:
            return None
    return count, size


def zipped(folder: Path, places: Places) -> Generator[bytes, None, None]:
    """Yield the chunks of a ZIP file with the files of an artifact, and its metadata.

    Links out of the lab's folders and files that can't be read are left out; a text file names them. Files are stored
    as they are, since checkpoints and images can't be made smaller.

    Parameters
    ----------
    folder
        The folder.
    places
        Folders of artifacts.
    """
    sink = Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        own = [path for path in sorted(_OWN) if (folder / path).is_file()]
        walk = _Walk(folder, places)
        found = list(walk)
        left_out = [*walk.unreadable, *(file.path for file in found if not file.readable)]
        name = printable(folder.name)
        for path in [*own, *(file.path for file in found if file.readable)]:
            try:
                file = open_file(folder, path, places)
            except NotFound:
                left_out.append(path)
                continue
            with file:
                info = zipfile.ZipInfo(f"{name}/{path}", zip_time(os.fstat(file.fileno()).st_mtime))
                info.external_attr = 0o600 << 16
                with archive.open(info, "w", force_zip64=True) as member:
                    left = MOST_ZIPPED  # A file may grow while it is sent.
                    while left > 0 and (data := file.read(min(_PIECE, left))):
                        left -= len(data)
                        member.write(data)
                        yield sink.take()
            yield sink.take()
        if left_out or walk.more:
            archive.writestr(f"{name}.{LEFT_OUT}", _said(left_out, more=walk.more))
    yield sink.take()


def _said(left_out: list[str], *, more: bool) -> str:
    """Return the text that names the files that a ZIP file does not have."""
    lines = []
    if more:
        lines.append(translated(_("The artifact has more files. The first {most} were sent.", most=MOST_WALKED)))
    if left_out:
        reason = _("These files can't be read, or are links to folders or out of the folder that JupyterLab shows:")
        lines.append(translated(reason))
        # A name can't look like another line.
        lines += ["".join(sign if sign.isprintable() else "\ufffd" for sign in path) for path in left_out[:MOST_NAMED]]
    if len(left_out) > MOST_NAMED:
        lines.append(translated(_("and {count} more", count=len(left_out) - MOST_NAMED)))
    return "\n".join([*lines, ""])


@dataclass
class _Walk:
    """The files of an artifact, at most `MOST_WALKED`. Links to folders are not followed.

    Attributes
    ----------
    more
        True if there are more files, once the first were returned.
    unreadable
        Folders that can't be listed, and files whose facts can't be read.
    """

    folder: Path
    places: Places
    more: bool = False
    unreadable: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[ArtifactFile]:
        count = 0
        for top, folders, names in os.walk(self.folder, onerror=self._note):
            links = [name for name in folders if os.path.islink(os.path.join(top, name))]  # noqa: PTH114, PTH118
            for name in sorted([*names, *links]):
                full = Path(top) / name
                path = full.relative_to(self.folder).as_posix()
                if path in _OWN:
                    continue
                count += 1
                if count > MOST_WALKED:
                    self.more = True
                    return
                file = _file(full, path, self.places)
                if file is not None:
                    yield file
                else:
                    self.unreadable.append(printable(path))

    def _note(self, problem: OSError) -> None:
        path = Path(os.fsdecode(problem.filename or self.folder)).relative_to(self.folder)
        self.unreadable.append(f"{printable(path.as_posix())}/")


def _file(full: Path, path: str, places: Places) -> ArtifactFile | None:
    try:
        facts = full.lstat()
        is_link = stat.S_ISLNK(facts.st_mode)
        readable = stat.S_ISREG(facts.st_mode)
        if is_link and places.contains(full):
            facts = full.stat()
            readable = stat.S_ISREG(facts.st_mode)
    except (OSError, ValueError):
        return None  # The file was removed, or is a link to a removed file.
    printable = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    readable = readable and printable == path
    return ArtifactFile(
        path=printable,
        size=facts.st_size if readable else 0,
        modified_at=facts.st_mtime,
        kind=kind_of(path) if readable else "none",
        link=is_link,
        readable=readable,
    )


def open_file(folder: Path, path: str, places: Places) -> BinaryIO:
    """Open a file of an artifact.

    Parameters
    ----------
    folder
        Folder of the artifact.
    path
        Path in the artifact.
    places
        The lab's root.

    Raises
    ------
    NotFound
        If there is no such file, or if it lies outside the artifact or is a link out of the lab's root.
    """
    target = Path(os.path.normpath(folder / path)) if "\0" not in path else folder
    try:
        if target != folder and target.is_relative_to(folder) and places.contains(target):
            return open_regular(os.path.realpath(target), follow=False)
    except (OSError, ValueError):
        pass  # The same answer, so that it does not tell what is outside the artifact.
    raise NotFound(
        _("The artifact has no file {path} that can be read.", path=repr(path[:500])),
        code="NoSuchFile",
        hint=_("It may have been deleted, or it is a link out of the folder that JupyterLab shows."),
    )


def checksum(file: BinaryIO, path: str) -> Generator[None, None, Checksum]:
    """Compute the checksums of a file. The generator yields after each chunk and returns the result.

    Parameters
    ----------
    file
        The open file.
    path
        Its path in the artifact.
    """
    md5, sha256 = hashlib.new("md5", usedforsecurity=False), hashlib.sha256()
    size = 0
    while chunk := file.read(_CHUNK):
        md5.update(chunk)
        sha256.update(chunk)
        size += len(chunk)
        yield
    return Checksum(path=path, size=size, md5=md5.hexdigest(), sha256=sha256.hexdigest())
