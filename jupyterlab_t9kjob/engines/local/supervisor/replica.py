"""Runs one replica of a job: its main process and the logs of each attempt.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

from ....core.stacks.diagnostics import HOOK, unset, variables
from ....core.texts.wording import exit_code
from . import process_tree
from .device_claims import Claim
from .logs.log_index import LogWatch
from .records.job_files import JobFiles
from .records.record import AttemptRecord, ReplicaPlan, ReplicaRecord, RunPlan

_TAIL_BYTES = 64 * 1024
FOREIGN = re.compile(
    r"(RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|GROUP_RANK|GROUP_WORLD_SIZE|ROLE_RANK|ROLE_NAME"
    r"|ROLE_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|TORCHELASTIC_\w+|T9KJOB_\w+)"
)
"""Variables that a job must not inherit, since a launcher or a rank of another job may have set them."""


class Rendezvous:
    """Rendezvous of the torchrun agents of one attempt: its id and endpoint.

    An agent that fails closes its rendezvous, so each attempt needs a new one.

    Parameters
    ----------
    uid
        The job's uid.
    replicas
        Number of agents. torchrun chooses the port for a single agent.
    port
        Port to try; 0 for a free one.
    """

    def __init__(self, uid: str, replicas: int, port: int) -> None:
        self.id = f"{uid[:8]}-{os.urandom(4).hex()}"
        self._replicas = replicas
        self.port = 0 if replicas == 1 else port or _free_port()

    def options(self, index: int) -> list[str]:
        """Return torchrun's options for the agent with this index."""
        options = [f"--rdzv-endpoint=localhost:{self.port}", f"--rdzv-id={self.id}"]
        if self._replicas > 1:
            # Without this option, each agent on this machine would try to be the host.
            options += [f"--rdzv-conf=is_host={int(index == 0)}", "--local-addr=localhost"]
        return options


class Agent:
    """Starts the attempts of one replica and keeps its part of the job's record.

    Parameters
    ----------
    files
        The job's directory.
    plan
        The job's plan.
    index
        Index of the replica; 0 is the master.
    record
        The replica's part of the job's record, which this object changes.
    """

    def __init__(self, files: JobFiles, plan: RunPlan, index: int, record: ReplicaRecord) -> None:
        self.index = index
        self.plan: ReplicaPlan = plan["replicas"][index]
        self.record = record
        self.pid: int | None = None
        self.start_at: float | None = None
        self.logs: LogWatch | None = None
        self._files = files
        self._job = plan

    @property
    def name(self) -> str:
        """The replica's name, ``worker-0``."""
        return self.plan["name"]

    @property
    def attempt(self) -> AttemptRecord:
        """The newest attempt."""
        return self.record["attempts"][-1]

    @property
    def first_rank(self) -> int | None:
        """The global rank of its first process in the newest attempt; None while it is unknown."""
        return self.attempt["first_rank"] if self.record["attempts"] else None

    def start(self, rendezvous: Rendezvous, claim: Claim, *, resumed: bool) -> None:
        """Start the next attempt.

        Parameters
        ----------
        rendezvous
            Rendezvous of this attempt's agents.
        claim
            The job's accelerators.
        resumed
            True if the job was paused before.

        Raises
        ------
        OSError
            If the program can't be started.
        """
        number = len(self.record["attempts"]) + 1
        devices = claim.devices_of(self.index)
        directory = self._files.attempt_logs(self.name, number)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        launched = self.plan["launcher"] is not None
        log = directory / ("launcher.log" if launched else "container.log")
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.start_at = None
        try:
            child = subprocess.Popen(
                self._command(rendezvous, directory, resumed),
                cwd=self._job["cwd"],
                env=self._environment(devices),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=claim.files_of(devices or ()),  # The process holds the claims of its devices.
                # Safe: this process has one thread, and the function only makes a system call.
                preexec_fn=process_tree.end_with_parent(),
            )
        finally:
            os.close(output)
        child.returncode = 0  # The supervisor collects all children itself.
        self.pid = child.pid
        self.record["pid"] = child.pid
        self.record["status"] = "Running"
        self.record["devices"] = devices or []
        self.record["attempts"].append(
            AttemptRecord(
                number=number,
                started_at=time.time(),
                clock=time.monotonic(),
                ended_at=None,
                exit_code=None,
                cause=None,
                worker_restarts=0,
                first_rank=0 if launched and len(self._job["replicas"]) == 1 else None,
            )
        )
        self.logs = LogWatch(log, directory / "ranks" if launched else None)

    def watch(self) -> int | None:
        """Index the logs; return the number of torchrun's newest restart of the ranks if it is new, else None."""
        if self.logs is None:
            return None
        self.logs.poll()
        if self.pid is None:
            return None
        if self.attempt["first_rank"] is None and self.logs.ranks_started:
            self.attempt["first_rank"] = process_tree.first_rank(self.pid)
        if self.logs.worker_restarts > self.attempt["worker_restarts"]:
            self.attempt["worker_restarts"] = self.logs.worker_restarts
            return self.logs.worker_restarts
        return None

    def ended(self, status: int, cause: str | None) -> int:
        """Record the end of the main process; return its exit code, 128 + n after signal n.

        Parameters
        ----------
        status
            The process's status: its exit code, or -n after signal n.
        cause
            Why it was ended from outside, see `AttemptRecord`; None if it ended by itself.
        """
        code = exit_code(status)
        self.pid = None
        self.record["pid"] = None
        self.record["status"] = "Completed" if code == 0 else "Terminated" if cause else "Error"
        self.attempt["ended_at"] = time.time()
        self.attempt["ran_seconds"] = time.monotonic() - self.attempt["clock"]
        self.attempt["exit_code"] = code
        self.attempt["signaled"] = status < 0
        self.attempt["cause"] = cause
        if self.logs is not None:
            self.logs.close()
        return code

    def port_was_taken(self) -> bool:
        """Return True if this agent failed because another program has the rendezvous port."""
        if self.index != 0 or self.plan["launcher"] is None or self.logs is None:
            return False
        output = tail(self.logs.main, _TAIL_BYTES)
        return not self.logs.ranks_started and (b"EADDRINUSE" in output or b"address already in use" in output.lower())

    def _command(self, rendezvous: Rendezvous, directory: Path, resumed: bool) -> list[str]:
        program = self.plan["resumed_program"] if resumed else self.plan["program"]
        launcher = self.plan["launcher"]
        if launcher is None:
            return program
        kept = ["--redirects=3", f"--log-dir={directory / 'ranks'}"]
        return [*launcher, *rendezvous.options(self.index), *kept, *program]

    def _environment(self, devices: list[str] | None) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if not FOREIGN.fullmatch(k)}
        own = {process_tree.MARK: self._job["uid"], process_tree.REPLICA_MARK: self.name}
        if devices is not None:
            own["CUDA_VISIBLE_DEVICES"] = ",".join(devices)
            own["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # Otherwise CUDA may number GPUs differently from the driver.
        environment = {**inherited, **self.plan["env"], **own}
        if chosen := self._job.get("diagnostics"):
            folder = str(self._files.diagnostics)
            added = variables(stacks=chosen["stacks"], collectives=chosen["collectives"], talk=folder, dumps=folder)
            path = f"{HOOK}:{environment['PYTHONPATH']}" if environment.get("PYTHONPATH") else str(HOOK)
            environment = {**unset(added, environment), **environment, "PYTHONPATH": path}
        return environment


def tail(path: Path, size: int) -> bytes:
    """Return the end of a file; no bytes if it can't be read.

    Parameters
    ----------
    path
        The file.
    size
        Number of bytes to read; a shorter file is read as a whole.
    """
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - size))
            return file.read()
    except OSError:
        return b""


def _free_port() -> int:
    import socket  # Imported late: seldom needed, and the start of a job waits for every import.

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
