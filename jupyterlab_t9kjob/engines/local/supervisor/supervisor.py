"""The process that runs one job: starts its replicas, watches them, ends them, keeps the record.

It is started detached by the server (`jobs/store.py`, `__main__.py`), outlives it, and is the only
writer of the job's record while it lives. It uses the standard library only, so that it starts in
tens of milliseconds under any Python.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....core.system.disk import no_room, trouble_of
from ....core.system.processes import LINUX, machine_id, process_id
from . import outcome, process_tree
from .device_claims import Claim
from .record import EndedBy, JobFiles, Outcome, Phase, Record, RunPlan
from .replica import Agent, Rendezvous

if TYPE_CHECKING:
    from .log_cap import LogCap

TICK_SECONDS = 0.1
HEARTBEAT_SECONDS = 5.0
RETRY_SECONDS = 1.0
"""Between two attempts to write what the disk does not take."""
LATECOMER_SECONDS = 10.0
"""How long the other replicas may go on when the first one has succeeded."""
TELL_SECONDS = 2.0
"""How long the others may go on when the first replica has failed under torchrun, to tell whether it was the cause."""
ECHO_SECONDS = 30.0
"""How long the first replica may go on when another one has failed under torchrun."""
LONGEST_BACKOFF_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 2.0
"""Between two looks of a job that waits for devices at whether it is its turn."""
RETRYABLE_CODES = frozenset({130, 137, 138, 143})
"""What T9k's policy `ExitCode` restarts: ended by signal, or 138 as the script's own wish."""


class Supervisor:
    """Runs one job to its end, or to a pause.

    Parameters
    ----------
    files
        The job's directory.
    plan
        How the job is run.
    record
        Its state so far; from now on this object alone changes it.
    claim
        Its accelerators.
    """

    def __init__(self, files: JobFiles, plan: RunPlan, record: Record, claim: Claim) -> None:
        self._files = files
        self._plan = plan
        self._record = record
        self._agents = [Agent(files, plan, index, replica) for index, replica in enumerate(record["replicas"])]
        self._first = self._agents[0]
        self._launched = self._first.plan["launcher"] is not None
        self._resumed = record["outcome"]["phase"] == "Paused"
        self._claim = claim
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
        self._heartbeat_at = 0.0
        self._ask_at = 0.0
        self._unsaved = False
        self._trouble: str | None = None
        self._retry_at = self._conclude_at = 0.0
        self._done = False

    def run(self) -> None:
        """Run until the job has ended or is paused."""
        wake = _wake_on_signals()
        self._begin()
        outcome.prepare()
        while not self._done:
            if wake in select.select([wake], [], [], TICK_SECONDS)[0]:
                numbers = os.read(wake, 4096)
                if signal.SIGTERM in numbers or signal.SIGINT in numbers:
                    facts = {"words": "The job's supervisor was asked to end.", "guarded": LINUX}
                    self._decide("Failed", "SupervisorLost", "platform", facts)
            self._collect()
            self._tick()

    # --- beginning ---------------------------------------------------------------------------

    def _begin(self) -> None:
        self._record["supervisor"] = process_id(os.getpid())
        self._record["machine"] = machine_id()
        with contextlib.suppress(OSError):  # the job runs without; its end is recorded when there is space
            self._files.reserve_space()
        if self._resumed:
            self._record["progress"] = None
            self._become("Resuming", "ResumedByUser", event="Resumed by you.")
        else:
            self._save()
        # Whoever finds the record knows from here on that processes may exist.
        self._start_when_free()

    def _start_when_free(self) -> None:
        facts: dict[str, Any]
        try:
            wait = self._claim.obtain()
        except OSError as error:  # a full disk: the next tick tries again
            facts = {"words": f"The queue for GPUs can't be used: {error.strerror}"}
        else:
            if wait is None:
                self._start_all()
                return
            facts = dict(wait)
            # Those far back ask seldom, or a long queue would keep the machine busy.
            self._ask_at = time.monotonic() + min(LONGEST_WAIT_SECONDS, TICK_SECONDS * wait["ahead"])
        if facts != self._record["outcome"]["facts"]:
            phase = self._record["outcome"]["phase"]
            self._become(phase, "WaitingForDevices", event=f"{facts['words']}.", facts=facts)

    def _start_all(self) -> None:
        for agent in self._agents:
            if not self._start(agent):
                return
        now = time.time()
        self._record["started_at"] = self._record["started_at"] or now
        if self._plan["deadline_seconds"] is not None:
            self._deadline = time.monotonic() + self._plan["deadline_seconds"]
        count = len(self._agents)
        words = "Running on this machine." if count == 1 else f"All {count} replicas are running."
        self._become("Running", "Started", event=words)

    def _start(self, agent: Agent) -> bool:
        try:
            agent.start(self._rendezvous, self._claim, resumed=self._resumed)
        except OSError as error:
            self._decide("Failed", "StartFailed", "itself", self._why_not_started(error))
            return False
        return True

    def _why_not_started(self, error: OSError) -> dict[str, Any]:
        facts: dict[str, Any] = {"words": str(error)}
        if not os.path.isdir(self._plan["cwd"]):  # noqa: PTH112 (its `Path` twin raises where nobody may look)
            facts["working_dir"] = self._plan["cwd"]
        elif no_room(error) or error.errno == errno.EROFS:
            facts["disk"] = trouble_of(error, self._files.path)._asdict()
        return facts

    # --- what happens ------------------------------------------------------------------------

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._heartbeat_at:
            self._heartbeat_at = now + HEARTBEAT_SECONDS
            self._beat()
            self._claim.keep()
        for agent in self._agents:
            restart = agent.watch()
            if restart is not None:
                message = f"torchrun started the ranks of {agent.name} again ({restart})."
                self._event("WorkerRestart", message, agent, warning=True)
                self._unsaved = True
        self._note_strays()
        self._keep_log_small()
        self._obey()
        self._clean()
        if self._ending is not None:
            if now >= self._conclude_at and self._ending.step():
                self._all_ended(self._ending.killed_in_words())
        elif self._deadline is not None and now >= self._deadline:
            self._decide("Failed", "DeadlineExceeded", "deadline", {"allowed": self._plan["deadline_seconds"]})
        elif self._end_at is not None and now >= self._end_at:
            self._end_all()
        elif now >= self._ask_at and self._record["outcome"]["phase"] in ("Pending", "Resuming"):
            self._start_when_free()
        else:
            self._start_due(now)
        if (self._unsaved or self._trouble) and not self._done and now >= self._retry_at:
            self._save()

    def _note_strays(self) -> None:
        """Write down processes that have shed the job's mark: now and then, and when a daemon has come to this one."""
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
        except OSError:  # the next look tries again
            return

    def _keep_log_small(self, *, at_once: bool = False) -> None:
        if self._log_cap is None:
            return
        try:
            news = self._log_cap.keep(at_once=at_once)
        except OSError as error:  # the next look tries again
            _say(f"the log could not be cut: {error.strerror}")
            return
        if news is not None:
            self._event(*news, warning=True)

    def _start_due(self, now: float) -> None:
        due = [agent for agent in self._agents if agent.start_at and now >= agent.start_at]
        if not due or (self._cleaning and not self._launched):
            return
        if self._launched:
            self._rendezvous = Rendezvous(self._plan["uid"], len(self._agents), self._port)
        for agent in due:
            if not self._start(agent):
                return
        self._save()

    def _obey(self) -> None:
        desired = self._files.read_desired()
        if desired == "pause":
            self._decide("Paused", "PausedByUser", "user")
        elif desired != "run":
            self._decide("Failed", "Stopped", "user")

    def _collect(self) -> None:
        for pid, status in process_tree.reap():
            agent = next((agent for agent in self._agents if agent.pid == pid), None)
            if agent is None:
                continue  # an orphan of the job that ended by itself
            code = agent.ended(status, self._cause())
            self._unsaved = True
            if self._ending is None:
                self._replica_ended(agent, code)

    def _cause(self) -> str | None:
        """Why a replica that ends now was ended; None if that was its own doing."""
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
            self._end_all()  # under torchrun another replica has failed for good
        elif code != 0 and agent.port_was_taken():
            self._event("PortTaken", "The port to meet on was taken; trying another one.", agent)
            self._port = 0
            self._restart(agent, delay=0)
        elif code != 0 and not succeeded:
            self._replica_failed(agent, code)
        if self._decided is not None and not any(other.pid for other in self._agents):
            self._end_all()

    def _replica_failed(self, agent: Agent, code: int) -> None:
        from . import failure  # not before: the start of a job waits for every import

        found = failure.find(self._files, agent.plan, agent.attempt, Path(self._plan["cwd"]))
        if agent.attempt["first_rank"] is None and found["rank"] is not None:
            agent.attempt["first_rank"] = found["rank"] - found["local_rank"]
        if self._decided is None or failure.is_cause(found, self._record["failure"]):
            self._record["failure"] = found
        words = failure.words(found, alone=len(self._agents) == 1)
        # What is decided stays so: then this is the echo of a failure for which there was no restart.
        allowed = self._decided is None and _restarts(agent.plan["restart_policy"], code)
        if allowed and self._record["restarts"] < self._plan["backoff_limit"]:
            self._record["restarts"] += 1
            agent.record["restarts"] += 1
            count = self._record["restarts"] if self._launched else agent.record["restarts"]
            delay = self._plan["backoff_seconds"] * 2 ** min(count - 1, 10)
            delay = min(LONGEST_BACKOFF_SECONDS, delay)
            limit = self._plan["backoff_limit"]
            message = f"{words} Restart {self._record['restarts']} of {limit} in {delay:g} s."
            self._event("Restarting", message, agent, warning=True)
            self._restart(agent, delay)
            return
        self._event("ReplicaFailed", words, agent, warning=True)
        reason = "BackoffLimitExceeded" if allowed else "ExitCode"
        if self._launched and self._decided is None and len(self._agents) > 1:
            self._note("Failed", reason, "itself")
            self._end_at = time.monotonic() + (TELL_SECONDS if agent is self._first else ECHO_SECONDS)
        elif agent is self._first:
            self._decide("Failed", reason, "itself")

    def _restart(self, failed: Agent, delay: float) -> None:
        """Begin the next attempt: under torchrun of all replicas together, else of this one."""
        self._end_at, self._decided, self._record["ending"] = None, None, None
        if self._launched:
            self._end_all()
        for agent in self._agents if self._launched else [failed]:
            agent.record["status"] = "Restarting"
            agent.start_at = time.monotonic() + delay
        self._unsaved = True

    # --- ending ------------------------------------------------------------------------------

    def _note(self, phase: Phase, code: str, by: EndedBy, facts: dict[str, Any] | None = None) -> None:
        """Write down how the job will end, before its processes do."""
        self._decided = Outcome(phase=phase, code=code, facts=facts or {}, ended_by=by)
        self._record["ending"] = self._decided
        self._save()

    def _decide(self, phase: Phase, code: str, by: EndedBy, facts: dict[str, Any] | None = None) -> None:
        """End the job now; in this way, unless it is decided already that it ends in another."""
        decided = self._decided
        if decided is None or (decided["phase"] == "Paused" and phase != "Paused"):
            self._note(phase, code, by, facts)
        self._end_all()

    def _end_all(self) -> None:
        self._end_at = None
        if self._ending is None:
            self._ending = self._end(self._everything, self._agents)

    def _clean(self) -> None:
        """Go on with ending what replicas have left behind."""
        for agent, ending in list(self._cleaning):
            if ending.step():
                self._cleaning.remove((agent, ending))
                words = ending.killed_in_words()
                if words is not None:
                    self._event("ProcessesKilled", words, agent, warning=True)

    def _end(self, find: Callable[[], set[int]], leaders: list[Agent]) -> process_tree.Ending:
        pids = [agent.pid for agent in leaders if agent.pid is not None]
        return process_tree.Ending(find, pids, self._plan["grace_seconds"])

    def _everything(self) -> set[int]:
        return process_tree.descendants(os.getpid()) | process_tree.marked(self._plan["uid"])

    def _all_ended(self, killed: str | None) -> None:
        self._collect()
        self._ending = None
        self._cleaning = []
        if self._decided is None:  # a restart: the next attempt begins when it is due
            if killed is not None:
                self._event("ProcessesKilled", killed, warning=True)
            return
        self._decided = outcome.with_killed(self._decided, killed)
        self._claim.release()
        self._keep_log_small(at_once=True)
        problem = outcome.try_to_conclude(self._files, self._record, self._decided)
        self._done = problem is None
        if problem is not None:
            self._suffer(problem)
            self._conclude_at = self._retry_at
            self._end_all()  # nothing is left to end, so this tries again

    # --- the record --------------------------------------------------------------------------

    def _become(self, phase: Phase, code: str, *, event: str, facts: dict[str, Any] | None = None) -> None:
        self._record["outcome"] = Outcome(phase=phase, code=code, facts=facts or {}, ended_by=None)
        self._event(code, event)
        self._save()

    def _event(self, code: str, message: str, agent: Agent | None = None, *, warning: bool = False) -> None:
        replica = agent.name if agent is not None else None
        try:
            self._files.add_event(code, message, replica=replica, warning=warning)
        except OSError as error:
            self._suffer(error)

    def _save(self) -> None:
        try:
            self._files.write_record(self._record)
            self._unsaved = False
            self._files.tell_events()
        except OSError as error:
            self._unsaved = True
            self._suffer(error)
            return
        if self._trouble is not None:
            self._trouble = None
            _say("the record can be written again")

    def _suffer(self, error: OSError) -> None:
        """Say once what the disk does not take; it is tried again until it does."""
        self._retry_at = time.monotonic() + RETRY_SECONDS
        if self._trouble is None:
            trouble = trouble_of(error, self._files.path)
            self._trouble = trouble.sentence
            _say(f"the record can't be written: {trouble.sentence}")
            self._event(trouble.code, f"The job's record can't be written: {trouble.sentence}.", warning=True)

    def _beat(self) -> None:
        try:
            self._files.beat()
        except (FileNotFoundError, NotADirectoryError):
            facts = {"words": "The job's directory was removed."}
            self._decide("Failed", "DirectoryRemoved", "platform", facts)
        except OSError as error:
            self._suffer(error)


def _log_cap(files: JobFiles, plan: RunPlan) -> LogCap | None:
    if plan["log_bytes"] is None:
        return None
    from .log_cap import LogCap  # only then: the start of a job waits for every import

    return LogCap(files, plan["log_bytes"])


def _restarts(policy: str, code: int) -> bool:
    return policy == "OnFailure" or (policy == "ExitCode" and code in RETRYABLE_CODES)


def _wake_on_signals() -> int:
    """Return a descriptor on which the number of each signal can be read."""
    wake, notify = os.pipe()
    for descriptor in (wake, notify):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return wake


def _say(words: str) -> None:
    """Write to `supervisor.log`; on a full disk there is nowhere to say it."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {words}\n")
        sys.stderr.flush()
