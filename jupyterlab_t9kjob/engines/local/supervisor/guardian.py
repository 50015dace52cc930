"""Starts a job's supervisor, and ends and records the job if the supervisor is killed.

The guardian is the supervisor's parent process. It needs only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from ....core.system.locks import held, lock_path
from ....core.system.processes import LINUX, machine_id, same_boot
from . import process_tree
from .device_claims import Claim
from .outcome import prepare, settle, settle_lost
from .records.job_files import JobFiles
from .records.record import Record, RunPlan
from .supervisor import Supervisor
from .sweep_turn import SweepTurn


def main(directory: Path) -> None:
    """Start or resume a job, or finish what a killed supervisor left undone.

    Return at once if another process holds the job's lock, which means that it does the same.
    """
    files = JobFiles(directory)
    plan = files.read_plan()
    # This process and its child hold the lock: it is free when both have ended.
    with held(lock_path(plan["lock"])) as free:
        if not free:
            return
        record = files.read_record()
        if record["supervisor"] is not None:
            _clean_up(files, plan, grace=0, guarded=False)
        elif not settle(files, record) and _should_run(files, record):
            _yield_to_others(plan.get("niceness", 0))
            _guard(files, plan, record)


def _yield_to_others(niceness: int) -> None:
    """Lower the priority of this process and its children, and let them be killed first when memory is short."""
    if niceness > 0:
        os.nice(niceness)
        with contextlib.suppress(OSError):  # Only Linux has the file.
            Path("/proc/self/oom_score_adj").write_text("500")


def _should_run(files: JobFiles, record: Record) -> bool:
    return files.read_desired() == "run" and record["outcome"]["phase"] in ("Pending", "Paused")


def _guard(files: JobFiles, plan: RunPlan, record: Record) -> None:
    process_tree.adopt_orphans()
    claim = Claim(plan)  # Made before the fork, so that both processes hold it.
    supervisor = os.fork()
    if supervisor == 0:
        os._exit(_supervise(files, plan, record, claim))
    prepare()
    _, status = os.waitpid(supervisor, 0)
    if status != 0:
        _clean_up(files, plan, plan["grace_seconds"], guarded=LINUX)


def _supervise(files: JobFiles, plan: RunPlan, record: Record, claim: Claim) -> int:
    try:
        process_tree.adopt_orphans()
        Supervisor(files, plan, record, claim).run()
    except BaseException:  # The process ends here, and the guardian ends and records the job.
        import traceback  # Imported late: the start of a job waits for every import.

        traceback.print_exc()
        sys.stderr.flush()
        return 1
    return 0


def _clean_up(files: JobFiles, plan: RunPlan, grace: float, *, guarded: bool) -> None:
    """End the processes that a dead supervisor left behind, then record how the job ended.

    Parameters
    ----------
    files
        The job's directory.
    plan
        The job's plan.
    grace
        Seconds between SIGTERM and SIGKILL.
    guarded
        True if this process adopted every orphan of the job, so that no process was missed.
    """
    record = files.read_record()
    strays = files.read_strays() if same_boot(record["machine"], machine_id()) else []
    ending = process_tree.Ending(process_tree.Leftovers(plan["uid"], strays).find, [], grace)
    ending.finish()
    record = files.read_record()
    if record["supervisor"] is not None:
        settle_lost(files, record, ending.killed, guarded=guarded)
        SweepTurn(plan).note_end(record["outcome"])
