"""Starts a job's supervisor and stands in for it should it be killed. Standard library only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ....core.system.locks import held, lock_path
from ....core.system.processes import LINUX, machine_id, same_boot
from . import process_tree
from .device_claims import Claim
from .outcome import prepare, settle, settle_lost
from .record import JobFiles, Record, RunPlan
from .supervisor import Supervisor


def main(directory: Path) -> None:
    """Do for a job what it needs now: start it, resume it, or finish what was cut short.

    Returns at once if another process does so already; the lock says that.
    """
    files = JobFiles(directory)
    plan = files.read_plan()
    # Held by this process and its child: the last of them to end lets it go.
    with held(lock_path(plan["lock"])) as free:
        if not free:
            return
        record = files.read_record()
        if record["supervisor"] is not None:
            _clean_up(files, plan, grace=0, guarded=False)
        elif not settle(files, record) and _is_to_run(files, record):
            _guard(files, plan, record)


def _is_to_run(files: JobFiles, record: Record) -> bool:
    return files.read_desired() == "run" and record["outcome"]["phase"] in ("Pending", "Paused")


def _guard(files: JobFiles, plan: RunPlan, record: Record) -> None:
    process_tree.adopt_orphans()
    claim = Claim(plan)  # before the fork, so that it is held as long as either lives
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
    except BaseException:  # the process ends here, and the guardian takes over
        import traceback  # not before: the start of a job waits for every import

        traceback.print_exc()
        sys.stderr.flush()
        return 1
    return 0


def _clean_up(files: JobFiles, plan: RunPlan, grace: float, *, guarded: bool) -> None:
    """End what a dead supervisor left behind, then record how the job ended.

    Parameters
    ----------
    files, plan
        The job.
    grace
        Seconds until SIGKILL.
    guarded
        Whether all orphans of the job have come to this process, so that none can have been missed.
    """
    record = files.read_record()
    strays = files.read_strays() if same_boot(record["machine"], machine_id()) else []
    ending = process_tree.Ending(process_tree.Leftovers(plan["uid"], strays).find, [], grace)
    ending.finish()
    record = files.read_record()
    if record["supervisor"] is not None:
        settle_lost(files, record, ending.killed_in_words(), guarded=guarded)
