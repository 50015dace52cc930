"""One replica of a running job: its main process, attempt by attempt.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

from ....core.wording import exit_code
from . import process_tree
from .device_claims import Claim
from .log_index import LogWatch
from .record import AttemptRecord, JobFiles, ReplicaPlan, ReplicaRecord, RunPlan

_TAIL_BYTES = 64 * 1024
# What a launcher or a rank of another job may have left behind in the environment.
_FOREIGN = re.compile(
    r"(RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|GROUP_RANK|GROUP_WORLD_SIZE|ROLE_RANK|ROLE_NAME"
    r"|ROLE_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|TORCHELASTIC_\w+|T9KJOB_\w+)"
)


class Rendezvous:
    """Where and under which id the agents of one attempt meet.

    A failed agent closes its rendezvous for good, so each attempt needs its own.

    Parameters
    ----------
    uid
        The job's.
    replicas
        Number of agents. A lone one lets torchrun choose the port.
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
            # Left to guess, each agent on this machine would try to be the host.
            options += [f"--rdzv-conf=is_host={int(index == 0)}", "--local-addr=localhost"]
        return options


class Agent:
    """A replica as the supervisor sees it.

    Parameters
    ----------
    files
        The job's directory.
    plan
        The whole job's plan.
    index
        Which replica this is; 0 is the master.
    record
        Its part of the job's record, kept up to date here.
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

    def start(self, rendezvous: Rendezvous, claim: Claim, *, resumed: bool) -> None:
        """Begin the next attempt.

        Parameters
        ----------
        rendezvous
            Where this attempt's agents meet.
        claim
            What the job may use of the machine's accelerators.
        resumed
            Whether the job was paused before.

        Raises
        ------
        OSError
            If the program can't be started; its words say why.
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
                pass_fds=claim.files_of(devices or ()),  # what uses a device claims it
                # Safe: this process has one thread, and the function only makes a system call.
                preexec_fn=process_tree.end_with_parent(),
            )
        finally:
            os.close(output)
        child.returncode = 0  # the supervisor collects all children itself
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
        """Index what was written; return the number of a worker restart that was seen."""
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
        """Note that the main process has ended, and why if it was ended; return its exit code.

        Parameters
        ----------
        status
            The exit code, -n where signal n ended it.
        cause
            Why it was ended from outside, see `AttemptRecord`.
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
        """Return whether this agent failed because another program has the rendezvous port."""
        if self.index != 0 or self.plan["launcher"] is None or self.logs is None:
            return False
        words = tail(self.logs.main, _TAIL_BYTES)
        return not self.logs.ranks_started and (b"EADDRINUSE" in words or b"address already in use" in words.lower())

    def _command(self, rendezvous: Rendezvous, directory: Path, resumed: bool) -> list[str]:
        program = self.plan["resumed_program"] if resumed else self.plan["program"]
        launcher = self.plan["launcher"]
        if launcher is None:
            return program
        kept = ["--redirects=3", f"--log-dir={directory / 'ranks'}"]
        return [*launcher, *rendezvous.options(self.index), *kept, *program]

    def _environment(self, devices: list[str] | None) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if not _FOREIGN.fullmatch(k)}
        own = {process_tree.MARK: self._job["uid"], process_tree.REPLICA_MARK: self.name}
        if devices is not None:
            own["CUDA_VISIBLE_DEVICES"] = ",".join(devices)
            own["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # else CUDA may count in another way than the driver
        return {**inherited, **self.plan["env"], **own}


def tail(path: Path, size: int) -> bytes:
    """Return the last `size` bytes of a file; nothing if it isn't there."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - size))
            return file.read()
    except OSError:
        return b""


def _free_port() -> int:
    import socket  # seldom needed, and the start of a job waits for every import

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
