"""Reads an archive that may come from anywhere: all names, sizes and contents are checked, and nothing is trusted.

No name in the archive becomes a path. The size of every member is known before it is unpacked, and `zipfile` never
returns more bytes than that.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from ...core.archive import DOCUMENTS, FOR_PEOPLE, HEAD, MEMBER, VERSION, ArchivedJob, ArchivedSamples, ArchiveHead
from ...core.errors import BadRequest, TooLarge
from ...core.system.files import write_all
from ...core.translation import Text, _
from ...logs.storage.index import RECORD

MOST_MEMBERS: Final = 100_000
MOST_DIRECTORY: Final = 32 * 1024 * 1024
"""Largest list of members, in bytes; `zipfile` reads it as a whole."""
MOST_JSON: Final = 32 * 1024 * 1024
"""Size of all documents together, in bytes. Parsed, they may need 20 times as much memory."""
MOST_STACKS: Final = 16 * 1024 * 1024
STACKS_READ: Final = 5
"""Number of stacks that are read, the newest ones; `stacks.store` keeps no more."""
MOST_TIME: Final = 1e11
MOST_SAMPLES: Final = 256 * 1024 * 1024
SPARE_BYTES: Final = 256 * 1024 * 1024
"""Free space that an import leaves on the disk."""
MOST_RATIO: Final = 2000
"""Deflate compresses at most by about 1030."""
_CHUNK: Final = 1024 * 1024
_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_STREAM: Final = re.compile(r"(?!\.)[\w.\-]{1,200}")
"""Ids of log streams, which are names of files in downloads."""
_TIME: Final = re.compile(r"(?:^|_)(?:at|time|since|until)$")
"""Fields that are times."""


def unpack(source: BinaryIO, folder: Path, limit: int) -> tuple[ArchivedJob, dict[str, bytes]]:
    """Unpack logs and samples of an archive into a folder, and return its documents and stacks (blocking).

    The log with number n of `ArchivedJob.streams` becomes ``logs/n.log``, with ``logs/n.log.index``; the samples of
    tier n become ``resources/n``.

    Parameters
    ----------
    source
        The archive.
    folder
        Empty folder.
    limit
        Largest size of the archive, and of its unpacked content, in bytes.

    Raises
    ------
    BadRequest
        If the file is no archive of a job, or a part of it is not what it should be.
    TooLarge
        If the archive or its content is too large.
    OSError
        If the disk is full or gone.
    """
    size = os.fstat(source.fileno()).st_size
    if size > limit:
        raise _too_large(limit)
    _demand_small_directory(source, size)
    try:
        with zipfile.ZipFile(source) as archive:
            members = _members(archive, limit)
            if shutil.disk_usage(folder).free < sum(info.file_size for info in members.values()) + SPARE_BYTES:
                raise TooLarge(
                    _("The disk has too little free space for this archive."),
                    code="NoSpace",
                    hint=_("Remove records of old jobs in Space, or free space on the disk."),
                )
            job = _documents(archive, members)
            _unpack_logs(archive, members, job, folder)
            _unpack_samples(archive, members, job.samples, folder)
            newest = sorted(name for name in members if name.startswith("stacks/"))[-STACKS_READ:]
            stacks = {
                name[len("stacks/") : -len(".json")]: _read(archive, members[name], MOST_STACKS) for name in newest
            }
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        struct.error,
        ValueError,
        OverflowError,
    ) as error:
        raise bad(_("The file is damaged, or no ZIP file."), str(error)) from error
    except OSError as error:
        if error.errno is None:
            raise bad(_("The file is damaged, or no ZIP file."), str(error)) from error
        raise
    except Exception as error:
        if type(error).__module__ in ("zlib", "lzma", "_bz2"):
            raise bad(_("The file is damaged, or no ZIP file."), str(error)) from error
        raise
    return job, stacks


# -- list of members --------------------------------------------------------------------------------------------------


def _demand_small_directory(source: BinaryIO, size: int) -> None:
    """Raise an error if the list of members is too large to be read, by the end of the file."""
    tail_size = min(size, 65536 + _END.size + _LOCATOR.size)
    source.seek(size - tail_size)
    tail = source.read(tail_size)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _END.size > len(tail):
        raise bad(_("The file is damaged, or no ZIP file."))
    end = _END.unpack_from(tail, at)
    sizes = [(end[4], end[5])]
    if at >= _LOCATOR.size:
        signature, _disk, offset, _disks = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
        if signature == b"PK\x06\x07":
            # `zipfile` reads the record before the locator; its later versions read the one at the offset first.
            before = _sizes64(source, size, size - tail_size + at - _LOCATOR.size - _END64.size)
            sizes = [*(before or sizes), *_sizes64(source, size, offset)]
    count, directory = (max(each) for each in zip(*sizes, strict=True))
    if count > MOST_MEMBERS or directory > MOST_DIRECTORY:
        raise bad(_("The archive has too many files."))
    source.seek(0)


def _sizes64(source: BinaryIO, size: int, place: int) -> list[tuple[int, int]]:
    """Return number and size of the members' entries by the ZIP64 record at a place; nothing if there is none."""
    if not 0 <= place <= size - _END64.size:
        return []
    source.seek(place)
    record = _END64.unpack(source.read(_END64.size))
    return [(record[7], record[8])] if record[0] == b"PK\x06\x06" else []


def _members(archive: zipfile.ZipFile, limit: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, all of which are files that an export writes."""
    members: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for info in archive.infolist():
        name = info.orig_filename
        if info.filename in members:
            raise bad(_("The archive has the file {name} twice.", name=repr(name[:200])))
        if name != info.filename or not _is_known(name):
            raise bad(_("The archive has a file that no job has: {name}.", name=repr(name[:200])))
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or info.is_dir():
            raise bad(_("{name} in the archive is a link or no file.", name=name))
        if info.flag_bits & 1:
            raise bad(_("{name} in the archive is encrypted.", name=name))
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise bad(_("{name} in the archive is compressed in an unknown way.", name=name))
        if info.file_size > MOST_RATIO * max(1, info.compress_size) + 1024:
            raise bad(_("{name} in the archive is larger than its compressed data can be.", name=name))
        total += info.file_size
        if total > limit:
            raise _too_large(limit)
        members[name] = info
    return members


def _is_known(name: str) -> bool:
    return name == HEAD or name in DOCUMENTS or name in FOR_PEOPLE or MEMBER.fullmatch(name) is not None


# -- documents --------------------------------------------------------------------------------------------------------


def _documents(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> ArchivedJob:
    if HEAD not in members:
        raise bad(_("The file is a ZIP file, but not the archive of a job."))
    if sum(members[name].file_size for name in (HEAD, *DOCUMENTS) if name in members) > MOST_JSON:
        raise bad(_("The documents in the archive are too large."))
    head = _parsed(_json(archive, members[HEAD]), HEAD)
    if isinstance(head, dict) and isinstance(head.get("version"), int) and head["version"] > VERSION:
        raise bad(_("The archive was made by a newer version of jupyterlab_t9kjob."))
    found: dict[str, Any] = {"head": _checked(ArchiveHead, head, HEAD)}
    for name in DOCUMENTS:
        if name in members:
            found[name.removesuffix(".json")] = _parsed(_json(archive, members[name]), name)
    job: ArchivedJob = _checked(ArchivedJob, found, "job.json")
    _demand_times([job.head, job.job, job.replicas, job.events, job.streams])
    names: set[str] = set()
    for archived in job.streams:
        name = archived.stream.id
        if _STREAM.fullmatch(name) is None:
            raise bad(_("The archive has a log stream that no job has: {name}.", name=repr(name[:200])))
        if name in names:
            raise bad(_("The archive has the log stream {name} twice.", name=name))
        names.add(name)
    return job


def _demand_times(value: Any) -> None:
    """Raise an error for a time that no clock shows; conversions to dates would fail on it."""
    if isinstance(value, list):
        for item in value:
            _demand_times(item)
    elif isinstance(value, BaseModel):
        for name, item in value:
            if isinstance(item, float) and _TIME.search(name) and not 0 <= item < MOST_TIME:
                raise bad(_("The archive has a wrong time: {time}.", time=f"{item:g}"))
            _demand_times(item)


def _json(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    return _read(archive, info, MOST_JSON)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    if info.file_size > most:
        raise bad(_("{name} in the archive is too large.", name=info.filename))
    with archive.open(info) as member:
        return member.read()


def _parsed(data: bytes, name: str) -> Any:
    try:
        return json.loads(data, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise bad(_("{name} in the archive is no JSON.", name=name), str(error)[:500]) from error


def _finite(text: str) -> float:
    """Return a number of the JSON text; raise an error for a number that is infinite or none."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is no finite number")
    return value


def _checked(kind: Any, value: Any, name: str) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except (ValidationError, RecursionError, ValueError) as error:
        first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
        words = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first is not None else str(error)
        raise bad(_("{name} in the archive is not as an export writes it.", name=name), words[:500]) from error


# -- logs and samples -------------------------------------------------------------------------------------------------


def _unpack_logs(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], job: ArchivedJob, folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir(mode=0o700)
    used: set[str] = set()
    for number, stream in enumerate(job.streams):
        for name in filter(None, (stream.log, stream.index)):
            if name in used:
                raise bad(_("Two log streams of the archive have the same file {name}.", name=repr(name[:200])))
            used.add(name)
        log = members.get(stream.log or "")
        path = logs / f"{number}.log"
        size = _copy(archive, log, path) if log is not None else 0
        stream.stream.size = size
        index = members.get(stream.index or "")
        if index is not None and log is not None:
            _copy_index(archive, index, logs / f"{number}.log.index", size)


def _copy(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> int:
    size = 0
    with archive.open(info) as source, path.open("xb") as target:
        while data := source.read(_CHUNK):
            target.write(data)
            size += len(data)
    return size


def _copy_index(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, size: int) -> None:
    """Copy a time index whose times and offsets never decrease and lie within the log."""
    before = (0.0, 0)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with archive.open(info) as source:
            while data := source.read(RECORD.size * 4096):
                if len(data) % RECORD.size:
                    raise bad(_("{name} in the archive is not the index of a log.", name=info.filename))
                records = []
                for when, offset in RECORD.iter_unpack(data):
                    if not math.isfinite(when) or not 0 <= when < MOST_TIME:
                        raise bad(_("{name} in the archive is not the index of a log.", name=info.filename))
                    before = (max(before[0], when), max(before[1], min(offset, size)))
                    records.append(RECORD.pack(*before))
                write_all(descriptor, b"".join(records))
    finally:
        os.close(descriptor)


def _unpack_samples(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], samples: ArchivedSamples | None, folder: Path
) -> None:
    target = folder / "resources"
    target.mkdir(mode=0o700)
    for number in range(len(samples.tiers) if samples is not None else 0):
        info = members.get(f"samples/{number}")
        if info is not None and info.file_size > MOST_SAMPLES:
            raise bad(_("{name} in the archive is too large.", name=info.filename))
        if info is not None:
            _copy(archive, info, target / str(number))


def bad(message: Text, verbatim: str | None = None) -> BadRequest:
    """Return the error of an archive that is not what it should be.

    Parameters
    ----------
    message
        What is wrong.
    verbatim
        Words of a library about it.
    """
    return BadRequest(
        message,
        code="BadArchive",
        hint=_("Export the job again in the lab that has it. Nothing was imported."),
        verbatim=verbatim,
    )


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        _("The archive or its content has more than {limit} MB.", limit=f"{limit / 1e6:,.0f}"),
        hint=_("An administrator can raise the limit: T9kJobApp.archive_bytes."),
    )
