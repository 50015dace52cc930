"""Which jobs of a sweep start or stop next in a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import JobSummary, Reason
from jupyterlab_t9kjob.core.sweep import OnFailure, SweepMember
from jupyterlab_t9kjob.jobs.sweeps.runner import next_steps


def job(number: int, state: str) -> JobSummary:
    """Return a job: waiting, resumed (in its turn or by a user), paused by a user, running, failed, stopped, done."""
    fields: dict[str, Any] = {
        "waits": {"phase": "Paused", "actions": ["resume", "stop"]},
        "resumed": {"phase": "Paused", "pending_action": "resuming"},
        "paused": {"phase": "Paused", "actions": ["resume"], "reason": Reason(code="PausedByUser", sentence="")},
        "runs": {"phase": "Running", "started_at": 2.0, "actions": ["stop"]},
        "failed": {"phase": "Failed", "ended_by": "itself"},
        "stopped": {"phase": "Failed", "ended_by": "user"},
        "done": {"phase": "Succeeded"},
    }[state]
    place = {"engine": "kubeflow", "namespace": "n", "name": str(number), "uid": str(number)}
    return JobSummary(id=str(number), created_at=1.0, **place, **fields)


@pytest.mark.parametrize(
    ("states", "on_failure", "stopped", "resumed"),
    [
        ("runs waits waits waits", "continue", "", "2"),
        ("runs runs waits", "continue", "", ""),
        ("done waits waits waits", "continue", "", "2 3"),
        # A job that a user resumed has a place, whether it is running already or not.
        ("runs waits waits resumed", "continue", "", ""),
        ("done runs waits waits runs runs", "continue", "", ""),
        ("done paused waits", "continue", "", "3"),
        ("failed stopped waits runs", "continue", "", "3"),
        ("failed waits runs", "start_no_more", "2", ""),
        ("failed waits runs", "stop_others", "2 3", ""),
        ("stopped waits runs", "stop_others", "", "2"),
    ],
)
def test_two_at_a_time(states: str, on_failure: OnFailure, stopped: str, resumed: str) -> None:
    jobs = [job(number, state) for number, state in enumerate(states.split(), 1)]
    member = SweepMember(id="s", name="s", number=1, at_a_time=2, on_failure=on_failure)
    stop, resume = next_steps(jobs, member)
    assert (" ".join(each.name for each in stop), " ".join(each.name for each in resume)) == (stopped, resumed)
