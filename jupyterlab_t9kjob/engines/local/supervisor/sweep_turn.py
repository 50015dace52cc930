"""The turn of a job in its sweep: at most `at_a_time` jobs of a sweep have a slot, in the order of their numbers.

The jobs of a sweep share a directory on this machine. A job that waits has locked its ticket, and a job that has its
turn has locked a slot. The system releases both locks when the supervisor ends, so the next job starts without any
server. Locks are taken only while the directory's queue is locked. A slot's file names the job that has it, so that the
next job learns that a supervisor died. The server writes the ticket, so that a job whose supervisor starts slowly keeps
its place.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from ....core.system.locks import lock, machine_directory, unlock
from .device_claims import exclusive, open_file
from .records.record import Outcome, RunPlan, SweepPlan

_FAILED = "failed.json"
_WORSE = "worse-"
_NOTE_BYTES = 4096
_START_SECONDS = 60.0
"""Age up to which a ticket without a supervisor keeps its place."""
_STARTED = b"1"
"""Content of a ticket whose supervisor has started."""


class SweepWait(TypedDict):
    """Reason for which a job waits for its turn: the size of the sweep's share, and the number of jobs before it."""

    at_a_time: int
    ahead: int


class SweepTurn:
    """The slot of one job in its sweep. A job without a sweep has its turn at once.

    Parameters
    ----------
    plan
        The job's plan.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._name, self._uid = plan["name"], plan["uid"]
        self._sweep: SweepPlan | None = plan.get("sweep")
        self._ticket: tuple[Path, int] | None = None
        self._slot: int | None = None

    def enter(self) -> None:
        """Keep a place in the queue for a job whose supervisor is about to start (the server calls this)."""
        if self._sweep is not None:
            with contextlib.suppress(OSError):  # Then the job has its place when its supervisor has started.
                os.close(open_file(self._own_ticket(self._sweep)))

    def obtain(self) -> SweepWait | None:
        """Take a slot; return None when the job has one, else why it waits.

        Raises
        ------
        OSError
            If the sweep's directory can't be used, for example because its disk is full.
        """
        sweep = self._sweep
        if sweep is None or self._slot is not None:
            return None
        directory = self._directory(sweep)
        with exclusive(directory):
            if self._ticket is None:
                path = self._own_ticket(sweep)
                self._ticket = path, open_file(path)
                lock(self._ticket[1])
                os.pwrite(self._ticket[1], _STARTED, 0)
            ahead = _ahead(self._ticket[0])
            slots = [open_file(directory / f"slot-{number}") for number in range(sweep["at_a_time"])]
            free = [slot for slot in slots if lock(slot)]
            for slot in free:
                self._note_lost(slot)
            # A job that fails writes its note before it frees its slot.
            if len(free) > ahead and self.end() is None:
                self._slot = free[0]
                _write(self._slot, self._own_note())
            for slot in slots:
                if slot is not self._slot:
                    os.close(slot)
            if self._slot is None:
                return SweepWait(at_a_time=sweep["at_a_time"], ahead=ahead)
            self._drop_ticket()
        return None

    def end(self) -> tuple[str, dict[str, Any]] | None:
        """Return code and facts of the end that the sweep demands of the job; None if it goes on.

        After a failure, a job that waits for its turn ends under both policies, a job that has its turn only under
        `stop_others`. A server demands the end of a job that is worse than the others, see `demand_end`.
        """
        sweep = self._sweep
        if sweep is None:
            return None
        directory = self._directory(sweep)
        worse = _read(directory / f"{_WORSE}{self._uid}")
        if worse is not None:
            return "SweepPruned", worse
        if sweep["on_failure"] == "continue" or (sweep["on_failure"] == "start_no_more" and self._slot is not None):
            return None
        failed = _read(directory / _FAILED) or {}
        name = failed.get("name")
        return ("SweepStopped", {"job": name}) if isinstance(name, str) and failed.get("uid") != self._uid else None

    def note_end(self, outcome: Outcome) -> None:
        """Let the sweep's other jobs know if this job failed by itself or at its deadline, or lost its supervisor."""
        failed = outcome["ended_by"] in ("itself", "deadline") or outcome["code"] == "SupervisorLost"
        if self._sweep is not None and outcome["phase"] == "Failed" and failed:
            self._note_failed(self._own_note())

    def demand_end(self, facts: Mapping[str, Any]) -> None:
        """End the job, since it is worse than the others (another process calls this).

        Parameters
        ----------
        facts
            Facts of the end, see `core.sweep.Verdict`.

        Raises
        ------
        OSError
            If the demand can't be written.
        """
        if self._sweep is not None:
            self._replace(f"{_WORSE}{self._uid}", facts)

    def _own_note(self) -> dict[str, Any]:
        return {"name": self._name, "uid": self._uid}

    def _note_failed(self, job: Mapping[str, Any]) -> None:
        if self._sweep is not None and self._sweep["on_failure"] != "continue":
            with contextlib.suppress(OSError):  # The others go on, as without the note.
                self._replace(_FAILED, job)

    def _note_lost(self, slot: int) -> None:
        """Note the failure of the job whose supervisor died while it had a slot that is free now."""
        holder = _parsed(os.pread(slot, _NOTE_BYTES, 0))
        if holder is not None and holder.get("uid") != self._uid:
            self._note_failed(holder)
        _write(slot, None)

    def _replace(self, name: str, content: Mapping[str, Any]) -> None:
        assert self._sweep is not None  # noqa: S101
        directory = self._directory(self._sweep)
        draft = directory / f"draft-{os.getpid()}-{self._uid}"
        draft.write_text(json.dumps(content))
        draft.replace(directory / name)

    def keep(self) -> None:
        """Touch the locked files, so that cleaners of temporary directories keep them."""
        files = [self._ticket[1]] if self._ticket is not None else []
        for file in [*files, *([self._slot] if self._slot is not None else [])]:
            with contextlib.suppress(OSError):
                os.utime(file)

    def release(self) -> None:
        """Give the slot, or the place in the queue, to the next job."""
        if self._slot is not None:
            _write(self._slot, None)
            unlock(self._slot)
            os.close(self._slot)
            self._slot = None
        self._drop_ticket()

    def _drop_ticket(self) -> None:
        if self._ticket is not None:
            path, file = self._ticket
            self._ticket = None
            os.close(file)
            with contextlib.suppress(OSError):  # Otherwise the next job in the queue removes it.
                path.unlink()

    def _own_ticket(self, sweep: SweepPlan) -> Path:
        return self._directory(sweep) / "tickets" / f"{sweep['number']:06d}-{self._uid}"

    def _directory(self, sweep: SweepPlan) -> Path:
        directory = machine_directory() / "sweeps" / sweep["queue"]
        (directory / "tickets").mkdir(mode=0o700, parents=True, exist_ok=True)
        return directory


def _ahead(own: Path) -> int:
    """Return the number of waiting jobs with smaller numbers; remove tickets of jobs that ended."""
    count = 0
    for path in sorted(own.parent.iterdir()):
        if path.name >= own.name:
            break
        file = open_file(path)
        if lock(file) and not _starts(file):
            path.unlink(missing_ok=True)
        else:
            count += 1
        os.close(file)
    return count


def _starts(ticket: int) -> bool:
    """Return True if the supervisor of an unlocked ticket may still be starting."""
    status = os.fstat(ticket)
    return status.st_size == 0 and time.time() - status.st_mtime < _START_SECONDS


def _write(slot: int, content: Mapping[str, Any] | None) -> None:
    """Write the holder of a slot into its file; None for no holder."""
    with contextlib.suppress(OSError):  # On a full disk, only the death of this supervisor stays unknown.
        os.ftruncate(slot, 0)
        if content is not None:
            os.pwrite(slot, json.dumps(content).encode(), 0)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return _parsed(path.read_bytes())
    except OSError:  # There is no such note.
        return None


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(data)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None
