"""Records of imported jobs on disk: one folder for each job, with ``record.json``, ``logs`` and ``resources``."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import time
from pathlib import Path
from typing import Final
from uuid import uuid4

from ...core.archive import ArchivedJob
from ...core.errors import BadRequest
from ...core.evictions.model import Continuation
from ...core.job import ACTIVE_PHASES, Job, Reason, job_id
from ...core.system.files import open_regular, write_atomically
from ...core.translation import STORED, _
from .unpack import MOST_JSON, bad, unpack

log = logging.getLogger(__name__)

ENGINE: Final = "imported"
RECORD_FILE: Final = "record.json"
MOST_RECORD: Final = 4 * MOST_JSON
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_STAGING: Final = ".staging-"
_STALE_SECONDS: Final = 86400.0


class Records:
    """The folders of imported jobs. All methods block.

    Parameters
    ----------
    folder
        Folder of all imported jobs; created when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> dict[str, Job]:
        """Return the jobs by uid, and remove what imports have left that were cut short."""
        found: dict[str, Job] = {}
        try:
            folders = sorted(self.folder.iterdir())
        except OSError:
            return found
        for each in folders:
            if each.name.startswith(_STAGING):
                with contextlib.suppress(OSError):
                    if time.time() - each.stat().st_mtime > _STALE_SECONDS:
                        shutil.rmtree(each, ignore_errors=True)
                continue
            record = self.read(each.name)
            if record is not None:
                found[each.name] = record.job
        return found

    def read(self, uid: str) -> ArchivedJob | None:
        """Return the record of a job; None if there is none."""
        try:
            with open_regular(self.folder / uid / RECORD_FILE, follow=False) as file:
                size = os.fstat(file.fileno()).st_size
                if size > MOST_RECORD:
                    raise ValueError("the record is too large")
                return ArchivedJob.model_validate_json(file.read(size))
        except (OSError, ValueError):
            log.warning("The record of the imported job %s can't be read", uid, exc_info=True)
            return None

    def add(self, archive: Path, limit: int) -> tuple[Job, dict[str, bytes]]:
        """Import an archive; return the job, and its stacks by id.

        Parameters
        ----------
        archive
            The archive.
        limit
            Largest size of the archive and of its content, in bytes.

        Raises
        ------
        BadRequest
            If the file is no archive of a job.
        TooLarge
            If the archive or its content is too large.
        OSError
            If the archive can't be read, or the disk is full.
        """
        uid = uuid4().hex
        staging = self.folder / f"{_STAGING}{uid}"
        staging.mkdir(mode=0o700, parents=True)
        try:
            with open_regular(archive) as source:
                record, stacks = unpack(source, staging, limit)
            record.job = _shown(record, uid)
            for replica in record.replicas:
                replica.reason = _plain(replica.reason)
            write_atomically(staging / RECORD_FILE, _encoded(record))
            staging.rename(self.folder / uid)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        return record.job, stacks

    def remove(self, uid: str) -> None:
        """Remove the folder of a job."""
        shutil.rmtree(self.folder / uid, ignore_errors=True)


def _encoded(record: ArchivedJob) -> bytes:
    """Return a record as JSON that `Records.read` can read.

    Values of any type in the archive may be nested too deeply for that, or have characters that UTF-8 lacks.
    """
    try:
        data = record.model_dump_json(context=STORED).encode()
        if len(data) > MOST_RECORD:
            raise ValueError("the record is too large")
        ArchivedJob.model_validate_json(data)
    except (ValueError, RecursionError) as error:
        raise bad(_("The archive has a value that can't be kept."), str(error)[:500]) from error
    return data


def _plain(reason: Reason | None) -> Reason | None:
    """Return a reason without the links that lead out of the archive, and without a change of fields."""
    if reason is None:
        return None
    return reason.model_copy(update={"fix": None, "links": [link for link in reason.links if link.kind == "log"]})


def _shown(record: ArchivedJob, uid: str) -> Job:
    """Return an archived job as this lab shows it: with its own id, without paths of the other lab, read-only."""
    job = record.job
    if _NAME.fullmatch(job.name) is None:
        raise BadRequest(
            _("The job in the archive has a name that no job can have: {name}.", name=repr(job.name[:100])),
            code="BadArchive",
        )
    ended = job.phase not in ACTIVE_PHASES and job.phase != "Unknown"
    reason = _plain(job.reason)
    if not ended:
        reason = Reason(
            code="ExportedWhileActive",
            sentence=_("The job had not ended when it was exported. Its end is not known here."),
        )
    problem = job.continuation.problem if job.continuation is not None else None
    failure = job.failure
    if failure is not None:
        frames = [frame.model_copy(update={"path": None}) for frame in failure.frames]
        # Only the place in the log is in the archive; other targets are the exporter's, or an attacker's.
        link = failure.link if failure.link is not None and failure.link.kind == "log" else None
        failure = failure.model_copy(update={"frames": frames, "link": link})
    return job.model_copy(
        update={
            "id": job_id(ENGINE, "", job.name, uid),
            "engine": ENGINE,
            "namespace": "",
            "uid": uid,
            "phase": job.phase if ended else "Unknown",
            "reason": reason,
            "failure": failure,
            "running_since": None,
            "ended_at": job.ended_at if ended else (job.ended_at or record.head.exported_at),
            "replicas_running": 0,
            "devices_held": None,
            "pending_action": None,
            "stalled": None,
            "mine": True,
            "read_only": _("The job was imported from an archive. It can be read and removed, not changed."),
            "deleted": False,
            "actions": ["remove"],
            "refused": {},
            "entrypoint_path": None,
            "log_dirs": [],
            "log_dir_paths": [],
            "working_dir_path": None,
            "log_location": None,
            "limited": [],
            "tensorboard_url": None,
            "rerun_of": None,
            "continues": None,
            # Ids of other jobs are the exporter's; here they may be those of unrelated jobs.
            "continuation": Continuation(problem=problem) if problem is not None else None,
            "sweep": None,
            "request_id": None,
            "imported_manifest": record.manifest is not None,
        }
    )
