"""Runs one job: starts its replicas, watches them, ends them and keeps the job's record.

The server starts the supervisor as a detached process (`jobs/store.py`, `__main__.py`), which goes on when the server
ends. While it runs, no other process writes the job's record. It needs only the standard library, so it starts within
tens of milliseconds under any Python. Records and events have codes and facts; the server makes texts from them.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....core.system.processes import LINUX, machine_id, process_id
from . import outcome, process_tree
from .code_clone import CloneFailed, CodeClone
from .device_claims import Claim
from .records.job_files import JobFiles
from .records.record import EndedBy, Outcome, Phase, Record, RunPlan
from .records.record_keeper import RecordKeeper, log
from .replica import Agent, Rendezvous
from .sampling import Sampling
from .stack_taker import StackTaker
from .sweep_turn import SweepTurn

if TYPE_CHECKING:
    from .logs.log_cap import LogCap

TICK_SECONDS = 0.1
HEARTBEAT_SECONDS = 5.0
LATECOMER_SECONDS = 10.0
"""Time for which the other replicas may run after the first one has succeeded."""
CAUSE_SECONDS = 2.0
"""Time for which the others may run after the first replica failed under torchrun, so that an earlier failure shows."""
ECHO_SECONDS = 30.0
"""Time for which the first replica may run after another one failed under torchrun."""
LONGEST_BACKOFF_SECONDS = 60.0
QUEUE_POLL_SECONDS = 2.0
"""Longest interval at which a job that waits for devices checks its place in the queue."""
SWEEP_POLL_SECONDS = 1.0
"""Interval at which a job of a sweep checks whether the sweep demands its end."""


class Supervisor:
    """Runs one job to its end, or to a pause.

    Parameters
    ----------
    files
        The job's directory.
    plan
        The job's plan.
    record
        The job's state, which only this object changes from now on.
    claim
        The job's accelerators.
    """

    def __init__(self, files: JobFiles, plan: RunPlan, record: Record, claim: Claim) -> None:
        self._files = files
        self._plan = plan
        self._record = record
        self._keeper = RecordKeeper(files, record)
        self._agents = [Agent(files, plan, index, replica) for index, replica in enumerate(record["replicas"])]
        self._first = self._agents[0]
        self._launched = self._first.plan["launcher"] is not None
        self._resumed = record["outcome"]["phase"] == "Paused"
        self._claim = claim
        self._turn = SweepTurn(plan)
        self._clone = CodeClone(files, plan)
        self._stacks = StackTaker(files, plan["uid"])
        self._sampling = Sampling(files, plan)
        self._daemons: set[int] = set()
        self._strays: set[int] = set()
        self._strays_at = time.monotonic() + HEARTBEAT_SECONDS
        self._log_cap = _log_cap(files, plan)
        self._port = plan["rendezvous_port"]
        self._rendezvous = Rendezvous(plan["uid"], len(self._agents), self._port)
        self._ending: process_tree.Ending | None = None
        self._cleaning: list[tuple[Agent, process_tree.Ending]] = []
        self._decided: Outcome | None = record["ending"]
        self._end_at: float | None = None
        self._deadline: float | None = None
        self._heartbeat_at = self._ask_at = self._sweep_at = self._conclude_at = 0.0
        self._done = False

    def run(self) -> None:
        """Run until the job has ended or is paused."""
        wake = process_tree.wake_on_signals()
        self._begin()
        outcome.prepare()
        while not self._done:
            if wake in select.select([wake], [], [], TICK_SECONDS)[0]:
                numbers = os.read(wake, 4096)
                if signal.SIGTERM in numbers or signal.SIGINT in numbers:
                    self._decide("Failed", "SupervisorLost", "platform", {"asked": True, "guarded": LINUX})
            self._collect()
            self._tick()

    # --- beginning ---------------------------------------------------------------------------

    def _begin(self) -> None:
        self._record["supervisor"] = process_id(os.getpid())
        self._record["machine"] = machine_id()
        with contextlib.suppress(OSError):  # Without the reserve, the end is recorded when the disk has space.
            self._files.reserve_space()
        if self._resumed:
            self._record["progress"] = None
            self._keeper.become("Resuming", "ResumedByUser")
        else:
            self._keeper.save()
        # From here on the record says that processes of the job may exist.
        self._start_when_free()

    def _start_when_free(self) -> None:
        code, facts = "WaitingForDevices", dict[str, Any]()
        try:
            clone = self._clone.obtain()
            turn = self._turn.obtain() if clone is None else None
            wait = self._claim.obtain() if clone is None and turn is None else None
        except CloneFailed as error:
            self._decide("Failed", "CodeNotCloned", "itself", error.facts)
            return
        except OSError as error:  # A full disk, for example: the next tick tries again.
            facts = {"error": error.strerror or type(error).__name__}
        else:
            if clone is not None:
                code, facts, ahead = "CloningCode", clone, 1
            elif turn is not None:
                code, facts, ahead = "WaitingForSweep", dict(turn), turn["ahead"]
            elif wait is not None:
                facts, ahead = dict(wait), len(wait["behind"])
            else:
                self._start_all()
                return
            # Jobs far back in the queue check seldom, or a long queue would keep the machine busy.
            self._ask_at = time.monotonic() + min(QUEUE_POLL_SECONDS, TICK_SECONDS * ahead)
        if facts != self._record["outcome"]["facts"]:
            self._keeper.become(self._record["outcome"]["phase"], code, facts)

    def _start_all(self) -> None:
        for agent in self._agents:
            if not self._start(agent):
                return
        now = time.time()
        self._record["started_at"] = self._record["started_at"] or now
        if self._plan["deadline_seconds"] is not None:
            self._deadline = time.monotonic() + self._plan["deadline_seconds"]
        self._keeper.become("Running", "Started", {"replicas": len(self._agents)})

    def _start(self, agent: Agent) -> bool:
        try:
            agent.start(self._rendezvous, self._claim, resumed=self._resumed)
        except OSError as error:
            facts = outcome.start_failure(error, self._plan["cwd"], self._files.path)
            self._decide("Failed", "StartFailed", "itself", facts)
            return False
        return True

    # --- what happens ------------------------------------------------------------------------

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._heartbeat_at:
            self._heartbeat_at = now + HEARTBEAT_SECONDS
            self._beat()
            self._claim.keep()
            self._turn.keep()
            self._sampling.keep(running=any(agent.pid for agent in self._agents))
        for agent in self._agents:
            known = agent.first_rank
            restart = agent.watch()
            self._keeper.unsaved |= agent.first_rank != known
            if restart is not None:
                self._keeper.add_event("WorkerRestart", {"number": restart}, replica=agent.name, warning=True)
                self._keeper.unsaved = True
        self._note_strays()
        self._keep_log_small()
        self._obey()
        self._stacks.obey()
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_POLL_SECONDS
            self._follow_sweep()
        self._clean()
        if self._ending is not None:
            if now >= self._conclude_at and self._ending.step():
                self._all_ended(self._ending.killed)
        elif self._deadline is not None and now >= self._deadline:
            self._decide("Failed", "DeadlineExceeded", "deadline", {"allowed": self._plan["deadline_seconds"]})
        elif self._end_at is not None and now >= self._end_at:
            self._end_all()
        elif now >= self._ask_at and self._record["outcome"]["phase"] in ("Pending", "Resuming"):
            self._start_when_free()
        else:
            self._start_due(now)
        if not self._done:
            self._keeper.save_if_due()

    def _note_strays(self) -> None:
        """Record processes without the job's mark: at each heartbeat, and when this process has adopted a daemon."""
        daemons = process_tree.children(os.getpid()) - {agent.pid for agent in self._agents}
        if daemons == self._daemons and time.monotonic() < self._strays_at:
            return
        self._daemons, self._strays_at = daemons, time.monotonic() + HEARTBEAT_SECONDS
        found = process_tree.unmarked(self._plan["uid"], os.getpid())
        if found == self._strays:
            return
        try:
            self._files.write_strays([process_id(pid) for pid in sorted(found)])
            self._strays = found
        except OSError:  # The next call tries again.
            return

    def _keep_log_small(self, *, at_once: bool = False) -> None:
        if self._log_cap is None:
            return
        try:
            event = self._log_cap.keep(at_once=at_once)
        except OSError as error:  # The next call tries again.
            log(f"the log could not be cut: {error}")
            return
        if event is not None:
            self._keeper.add_event(*event, warning=True)

    def _start_due(self, now: float) -> None:
        due = [agent for agent in self._agents if agent.start_at and now >= agent.start_at]
        if not due or (self._cleaning and not self._launched):
            return
        if self._launched:
            self._rendezvous = Rendezvous(self._plan["uid"], len(self._agents), self._port)
        for agent in due:
            if not self._start(agent):
                return
        self._keeper.save()

    def _obey(self) -> None:
        desired = self._files.read_desired()
        if desired == "pause":
            self._decide("Paused", "PausedByUser", "user")
        elif desired != "run":
            self._decide("Failed", "Stopped", "user")

    def _follow_sweep(self) -> None:
        """End the job if its sweep demands that."""
        end = self._turn.end()
        if end is not None:
            self._decide("Failed", end[0], "platform", end[1])

    def _collect(self) -> None:
        for pid, status in process_tree.reap():
            agent = next((agent for agent in self._agents if agent.pid == pid), None)
            if agent is None:
                for helper in (self._clone, self._stacks, self._sampling):
                    helper.collect(pid)
                continue  # An adopted process of the job that ended by itself.
            code = agent.ended(status, self._cause())
            self._keeper.unsaved = True
            if self._ending is None:
                self._replica_ended(agent, code)

    def _cause(self) -> str | None:
        """Return why a replica that ends now was ended from outside; None if it ends by itself."""
        if self._ending is None:
            return None
        return "Restarting" if self._decided is None else self._decided["code"]

    def _replica_ended(self, agent: Agent, code: int) -> None:
        uid, name = self._plan["uid"], agent.name
        self._cleaning.append((agent, self._end(lambda: process_tree.marked(uid, name), [])))
        succeeded = self._decided is not None and self._decided["phase"] == "Succeeded"
        if code == 0 and agent is self._first and self._decided is None:
            self._note("Succeeded", "Succeeded", "itself")
            self._end_at = time.monotonic() + LATECOMER_SECONDS
        elif code == 0 and agent is self._first:
            self._end_all()  # Under torchrun another replica has failed, and there is no restart left.
        elif code != 0 and agent.port_was_taken():
            self._keeper.add_event("PortTaken", replica=agent.name)
            self._port = 0
            self._restart(agent, delay=0)
        elif code != 0 and not succeeded:
            self._replica_failed(agent, code)
        if self._decided is not None and not any(other.pid for other in self._agents):
            self._end_all()

    def _replica_failed(self, agent: Agent, code: int) -> None:
        from . import failure  # Imported late: the start of a job waits for every import.

        found = failure.find(self._files, agent.plan, agent.attempt, Path(self._plan["cwd"]))
        if agent.attempt["first_rank"] is None and found["rank"] is not None:
            agent.attempt["first_rank"] = found["rank"] - found["local_rank"]
        if self._decided is None or failure.is_cause(found, self._record["failure"]):
            self._record["failure"] = found
        facts: dict[str, Any] = {"failure": failure.facts_of(found)}
        # If the outcome is decided, this failure follows from one that allowed no restart.
        allowed = self._decided is None and outcome.restarts(agent.plan["restart_policy"], code)
        if allowed and self._record["restarts"] < self._plan["backoff_limit"]:
            self._record["restarts"] += 1
            agent.record["restarts"] += 1
            count = self._record["restarts"] if self._launched else agent.record["restarts"]
            delay = self._plan["backoff_seconds"] * 2 ** min(count - 1, 10)
            delay = min(LONGEST_BACKOFF_SECONDS, delay)
            facts |= {"restart": self._record["restarts"], "limit": self._plan["backoff_limit"], "delay": delay}
            self._keeper.add_event("Restarting", facts, replica=agent.name, warning=True)
            self._restart(agent, delay)
            return
        self._keeper.add_event("ReplicaFailed", facts, replica=agent.name, warning=True)
        reason = "BackoffLimitExceeded" if allowed else "ExitCode"
        if self._launched and self._decided is None and len(self._agents) > 1:
            self._note("Failed", reason, "itself")
            self._end_at = time.monotonic() + (CAUSE_SECONDS if agent is self._first else ECHO_SECONDS)
        elif agent is self._first:
            self._decide("Failed", reason, "itself")

    def _restart(self, failed: Agent, delay: float) -> None:
        """Begin the next attempt: under torchrun of all replicas, otherwise of the replica that failed."""
        self._end_at, self._decided, self._record["ending"] = None, None, None
        if self._launched:
            self._end_all()
        for agent in self._agents if self._launched else [failed]:
            agent.record["status"] = "Restarting"
            agent.start_at = time.monotonic() + delay
        self._keeper.unsaved = True

    # --- ending ------------------------------------------------------------------------------

    def _note(self, phase: Phase, code: str, by: EndedBy, facts: dict[str, Any] | None = None) -> None:
        """Record how the job will end, before its processes have ended."""
        self._decided = Outcome(phase=phase, code=code, facts=facts or {}, ended_by=by)
        self._record["ending"] = self._decided
        self._keeper.save()

    def _decide(self, phase: Phase, code: str, by: EndedBy, facts: dict[str, Any] | None = None) -> None:
        """End the job now. An outcome that was decided before stays, except that a pause gives way to an end."""
        decided = self._decided
        if decided is None or (decided["phase"] == "Paused" and phase != "Paused"):
            self._note(phase, code, by, facts)
        self._end_all()

    def _end_all(self) -> None:
        self._end_at = None
        if self._ending is None:
            self._ending = self._end(self._everything, self._agents)

    def _clean(self) -> None:
        """Go on with ending the processes that ended replicas have left behind."""
        for agent, ending in list(self._cleaning):
            if ending.step():
                self._cleaning.remove((agent, ending))
                if ending.killed is not None:
                    self._keeper.add_event("ProcessesKilled", ending.killed, replica=agent.name, warning=True)

    def _end(self, find: Callable[[], set[int]], leaders: list[Agent]) -> process_tree.Ending:
        pids = [agent.pid for agent in leaders if agent.pid is not None]
        return process_tree.Ending(find, pids, self._plan["grace_seconds"])

    def _everything(self) -> set[int]:
        return (process_tree.descendants(os.getpid()) | process_tree.marked(self._plan["uid"])) - self._sampling.pids

    def _all_ended(self, killed: process_tree.Killed | None) -> None:
        self._collect()
        self._ending = None
        self._cleaning = []
        if self._decided is None:  # A restart: the next attempt begins when it is due.
            if killed is not None:
                self._keeper.add_event("ProcessesKilled", killed, warning=True)
            return
        self._decided = outcome.with_killed(self._decided, killed)
        self._sampling.end()
        self._claim.release()
        self._turn.note_end(self._decided)
        self._turn.release()
        self._keep_log_small(at_once=True)
        problem = outcome.try_to_conclude(self._files, self._record, self._decided)
        self._done = problem is None
        if problem is not None:
            self._keeper.report(problem)
            self._conclude_at = self._keeper.retry_at
            self._end_all()  # No process is left, so this only tries to record the end again.

    def _beat(self) -> None:
        try:
            self._files.beat()
        except (FileNotFoundError, NotADirectoryError):
            self._decide("Failed", "DirectoryRemoved", "platform")
        except OSError as error:
            self._keeper.report(error)


def _log_cap(files: JobFiles, plan: RunPlan) -> LogCap | None:
    if plan["log_bytes"] is None:
        return None
    from .logs.log_cap import LogCap  # Imported late: the start of a job waits for every import.

    return LogCap(files, plan["log_bytes"])
