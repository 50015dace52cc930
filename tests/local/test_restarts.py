"""Restart policies against the ways in which a job's processes end, with torchrun off and on.

``T9KJOB_ALL_CODES=1`` tries every code under torchrun as well, which takes minutes.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import FieldError
from tests.local.harness import Bench, carrying, kill

pytestmark = pytest.mark.asyncio

CODES = [1, 2, 130, 137, 138, 139, 143, 255]
SIGNALS = [1, 2, 6, 9, 11, 15]
ENDS = CODES + [-number for number in SIGNALS]
"""Exit codes, and signals as negative numbers."""
RETRYABLE = {130, 137, 138, 143}
POLICIES = ["Never", "OnFailure", "ExitCode"]
SOME_UNDER_TORCHRUN = [("OnFailure", 138), ("ExitCode", -9)]
ALL_UNDER_TORCHRUN = [(policy, end) for policy in POLICIES for end in ENDS]


def script(end: int) -> str:
    if end >= 0:
        return f"import sys\nsys.exit({end})\n"
    # who runs the tests may ignore a signal (`nohup`), and a process inherits that; SIGKILL has no handler to set
    default = "" if end == -9 else f"signal.signal({-end}, signal.SIG_DFL)\n"
    return f"import os, signal\n{default}os.kill(os.getpid(), {-end})\n"


def code_of(end: int) -> int:
    return end if end >= 0 else 128 - end


def group(**fields: Any) -> list[dict[str, Any]]:
    return [fields]


async def how_it_went(bench: Bench, uid: str) -> tuple[str | None, list[int | None], int, int]:
    done = await bench.ended(uid)
    (replica,) = await bench.engine.replicas(uid)
    restarting = (await bench.codes(uid)).count("Restarting")
    assert done.restarts == restarting == done.attempt - 1
    codes = [attempt.exit_code for attempt in replica.attempts]
    assert done.failure
    return done.reason and done.reason.code, codes, done.restarts, done.failure.exit_code


async def test_policies(bench: Bench) -> None:
    """All at once; a script's own code and its death by a signal are the same."""
    jobs = {}
    for policy in POLICIES:
        for end in ENDS:
            jobs[policy, end] = await bench.submit(
                script(end), replica_specs=group(restart_policy=policy), run_policy={"backoff_limit": 2}
            )
    found = {case: await how_it_went(bench, job.uid) for case, job in jobs.items()}
    expected = {}
    for policy, end in jobs:
        code = code_of(end)
        again = policy == "OnFailure" or (policy == "ExitCode" and code in RETRYABLE)
        reason = "BackoffLimitExceeded" if again else "ExitCode"
        expected[policy, end] = (reason, [code] * (3 if again else 1), 2 if again else 0, code)
    assert found == expected
    streams = [file.stream.id for file in await bench.engine.log_sources(jobs["OnFailure", 1].uid)]
    assert streams == [f"worker-0.{number}.container.out" for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("policy", "end"), ALL_UNDER_TORCHRUN if os.environ.get("T9KJOB_ALL_CODES") else SOME_UNDER_TORCHRUN
)
async def test_policies_under_torchrun(bench: Bench, policy: str, end: int) -> None:
    """The replica's code is torchrun's own 1, as in a pod, which `ExitCode` does not restart; the rank's is told."""
    job = await bench.submit(
        script(end),
        torchrun={"proc_per_node": 1},
        replica_specs=group(restart_policy=policy),
        run_policy={"backoff_limit": 1},
    )
    again = policy == "OnFailure"
    reason = "BackoffLimitExceeded" if again else "ExitCode"
    assert await how_it_went(bench, job.uid) == (reason, [1] * (1 + again), int(again), code_of(end))


async def test_a_torchrun_that_is_killed_is_started_again_under_exit_code(bench: Bench) -> None:
    job = await bench.submit(
        """
        import os, pathlib, sys, time
        first = pathlib.Path("first")
        if first.exists():
            sys.exit(0)
        first.write_text("x")
        time.sleep(600)
        """,
        torchrun={"proc_per_node": 1},
        replica_specs=group(restart_policy="ExitCode"),
    )
    await bench.written(bench.root / "first")
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.pid
    kill(replica.pid)
    done = await bench.ended(job.uid)
    (replica,) = await bench.engine.replicas(job.uid)
    assert (done.phase, done.restarts, done.failure) == ("Succeeded", 1, None)
    assert [attempt.exit_code for attempt in replica.attempts] == [137, 0]
    assert [attempt.restart for attempt in replica.attempts] == [None, 1]


async def test_replicas_under_torchrun_share_one_count(bench: Bench) -> None:
    """Both agents fail each time, and one restart is counted."""
    job = await bench.submit(
        "raise ValueError('again')",
        torchrun={"proc_per_node": 1},
        replica_specs=group(replicas=2, restart_policy="OnFailure"),
        run_policy={"backoff_limit": 1},
    )
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "BackoffLimitExceeded"
    assert done.reason.sentence.endswith("failed with exit code 1: ValueError: again")
    assert done.reason.hint and done.reason.hint.startswith("Its one restart is used up. Read the traceback,")
    assert (done.restarts, (await bench.codes(job.uid)).count("Restarting")) == (1, 1)
    assert [len(replica.attempts) for replica in await bench.engine.replicas(job.uid)] == [2, 2]
    assert carrying(job.uid) == []


async def test_a_used_up_count_ends_the_job_with_its_first_replica_only(bench: Bench) -> None:
    """Torchrun off: the count is shared, and another replica that has used it up leaves the first one alone."""
    job = await bench.submit(
        """
        import os, pathlib, sys, time
        if os.environ["T9KJOB_REPLICA"] == "worker-1":
            sys.exit(7)
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        sys.exit(9)
        """,
        replica_specs=group(replicas=2, restart_policy="OnFailure"),
        run_policy={"backoff_limit": 2},
    )
    alone = "1 of 2 replicas is running"  # and the other one does not start again
    job = await bench.until(job.uid, lambda job: job.reason is not None and job.reason.sentence == alone)
    assert (job.phase, job.restarts, (await bench.codes(job.uid))[-1]) == ("Running", 2, "ReplicaFailed")
    (bench.root / "go").touch()
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "BackoffLimitExceeded"
    assert done.failure and (done.failure.replica, done.failure.exit_code, done.restarts) == ("worker-0", 9, 2)
    assert [len(replica.attempts) for replica in await bench.engine.replicas(job.uid)] == [1, 3]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"replica_specs": group(restart_policy="Always")},
            "A local job that always restarts would never end; choose OnFailure.",
        ),
        (
            {"elastic": {"min": 1, "max": 2}, "torchrun": {}},
            "Elastic jobs need several nodes that come and go; this machine is one.",
        ),
    ],
)
async def test_what_this_machine_has_not_is_refused_with_the_reason(
    bench: Bench, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(FieldError) as refused:
        await bench.submit("pass", **changes)
    assert refused.value.message == message
    assert list((bench.home / "jobs").iterdir()) == []


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("import sys; sys.exit(255)", "The script ended with exit code 255"),
        ("import sys; sys.exit(138)", "The script ended with exit code 138"),
        ("import sys; sys.exit('no data')", "The script failed with exit code 1: no data"),
        ("import os; os.kill(os.getpid(), 2)", "The script was interrupted (130)"),
        ("import os; os.kill(os.getpid(), 15)", "The script was asked to end (143)"),
        ("import os; os.abort()", "The script aborted (134)"),
    ],
)
async def test_how_it_ended_is_said_in_words(bench: Bench, script: str, sentence: str) -> None:
    job = await bench.submit(script)
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.sentence == sentence


@pytest.mark.parametrize("settings", [{"backoff_seconds": 600.0}])
async def test_that_it_will_start_again_is_said_meanwhile(bench: Bench, settings: dict[str, Any]) -> None:
    job = await bench.submit("raise SystemExit(138)", replica_specs=group(restart_policy="ExitCode"))
    words = "Its processes will start again"
    between = await bench.until(job.uid, lambda job: job.reason is not None and job.reason.sentence == words)
    assert (between.phase, between.restarts) == ("Running", 1)


async def test_a_restart_that_helps(bench: Bench) -> None:
    job = await bench.submit(
        """
        import pathlib, sys
        mark = pathlib.Path("tried")
        if not mark.exists():
            mark.touch()
            sys.exit(138)
        print("second")
        """,
        replica_specs=group(restart_policy="ExitCode"),
    )
    done = await bench.ended(job.uid)
    assert (done.phase, done.restarts, done.failure) == ("Succeeded", 1, None)
