"""A new job continues an evicted one from its newest checkpoint, if the form's box is set."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Unavailable
from jupyterlab_t9kjob.core.evictions.model import Continuation
from jupyterlab_t9kjob.core.job import Job, Reason
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.core.sweep import SweepMember
from jupyterlab_t9kjob.core.translation import _
from jupyterlab_t9kjob.resuming import evictions
from tests.patience import PATIENCE
from tests.server.cluster.conftest import SCRIPT, Place
from tests.server.conftest import Api

RESUMES = f"{SCRIPT}parser.add_argument('--resume')\n"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evictions, "SETTLE_SECONDS", 0.0)
    for name in ("RETRY_SECONDS", "LONGEST_PAUSE_SECONDS", "PAUSE_SECONDS"):
        monkeypatch.setattr(evictions, name, 0.05)


async def submitted(place: Place, request_id: str = "request-0001", **policy: Any) -> Job:
    """Submit the form of work/train.py with the box set; return the job after its start."""
    spec = (await place.form())["spec"]
    spec["run_policy"] = {**spec["run_policy"], "resume_evicted": True, **policy}
    spec["runtime"]["image"] = "i"
    answer = await place.create(spec=spec, request_id=request_id)
    assert answer.status == 201, answer.json
    return started(place, answer.json["uid"])


def started(place: Place, uid: str) -> Job:
    """Let a job run, as the lab sees it."""
    name = place.t9k.known[uid].name
    return place.t9k.change(
        uid,
        phase="Running",
        started_at=time.time() - 60,
        entrypoint_path="work/train.py",
        log_dir_paths=[f"work/runs/{name}"],
    )


def end(place: Place, job: Job, code: str = "Evicted", ago: float = 0.0, **fields: Any) -> None:
    reason = Reason(code=code, sentence=_("It ended."))
    place.t9k.change(job.uid, phase="Failed", reason=reason, ended_at=time.time() - ago, **fields)


async def decided(place: Place) -> tuple[str, Continuation]:
    """Wait until it is noted what follows a job; return the job's id, and the note."""
    job, continuation = await asyncio.wait_for(place.t9k.noted.get(), PATIENCE)
    return job.id, continuation


async def noted(place: Place, job: Job) -> Continuation:
    """Return what follows a job, which is the next one of which that is noted."""
    ident, continuation = await decided(place)
    assert ident == job.id
    return continuation


async def test_it_is_continued_three_times_and_no_more(cluster: Place) -> None:
    cluster.write("work/train.py", RESUMES)
    assert (await cluster.form())["script"]["resume_option"] == "--resume"
    job = first = await submitted(cluster)
    cluster.write("work/runs/train-1/a.pt", "")
    for number in (1, 2, 3):
        end(cluster, job)
        continuation = await noted(cluster, job)
        assert continuation.job is not None
        new = (await cluster.api("GET", "jobs", continuation.job)).json
        old = (await cluster.api("GET", "jobs", job.id)).json
        assert old["continuation"] == {"job": new["id"], "problem": None}
        assert (new["name"], new["rerun_of"]) == (f"train-{number + 1}", job.id)
        # Before it has written a checkpoint of its own, it is continued from the one with which it began.
        checkpoint = "/t9k/mnt/runs/train-3/b.pt" if number == 3 else "/t9k/mnt/runs/train-1/a.pt"
        assert new["continues"] == {"job": job.id, "checkpoint": checkpoint, "number": number}
        # Its own outputs go to its own folder, and the checkpoint stays where it was written.
        assert new["spec"]["args"] == ["--log_dir", f"runs/train-{number + 1}", "--resume", checkpoint]
        job = started(cluster, new["uid"])
        if number == 2:
            cluster.write("work/runs/train-3/b.pt", "")
    end(cluster, job)
    assert (await noted(cluster, job)).problem == "It was continued 3 times already, which is the limit."
    assert len(cluster.t9k.submitted) == 4 and cluster.t9k.known[first.uid].continuation is not None


async def test_the_continuation_of_a_sweeps_job_takes_its_place_and_waits_for_its_turn(cluster: Place) -> None:
    cluster.write("work/train.py", RESUMES)
    places = [
        SweepMember(id="s1", name="lr", number=number, round=1, at_a_time=1, values={"--lr": f"{number}"})
        for number in (1, 2)
    ]
    jobs = [await submitted(cluster, f"request-000{place.number}") for place in places]
    for job, place in zip(jobs, places, strict=True):
        cluster.t9k.change(job.uid, sweep=place)
        cluster.write(f"work/runs/{job.name}/a.pt", "")
    # While the second job runs, that of the first one waits. Then nothing runs, so that of the second one starts.
    for job, place, phase in zip(jobs, places, ("Paused", "Pending"), strict=True):
        end(cluster, job)
        continuation = await noted(cluster, job)
        assert continuation.job is not None
        new = (await cluster.api("GET", "jobs", continuation.job)).json
        assert (new["sweep"], new["phase"]) == (place.model_dump(mode="json"), phase)
    # The continuations count instead of the evicted jobs.
    assert (await cluster.api("POST", "sweeps", "s1", "retry")).json["code"] == "NothingFailed"
    cluster.t9k.change(new["uid"], actions=["stop"])
    stopped = await cluster.api("POST", "sweeps", "s1", "stop")
    assert [job["id"] for job in stopped.json["jobs"]] == [new["id"]]


async def test_a_sweep_that_is_stopped_is_not_continued(cluster: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.write("work/train.py", RESUMES)
    monkeypatch.setattr(evictions, "SETTLE_SECONDS", PATIENCE)
    job = await submitted(cluster)
    cluster.write(f"work/runs/{job.name}/a.pt", "")
    cluster.t9k.change(job.uid, sweep=SweepMember(id="s1", name="lr", number=1, round=1, at_a_time=1, values={}))
    end(cluster, job)
    answer = await cluster.api("POST", "sweeps", "s1", "stop")
    assert (answer.json["jobs"], answer.json["problems"]) == ([], [])
    assert (await noted(cluster, job)).problem == "Its sweep was stopped."
    assert (await cluster.api("GET", "jobs", job.id)).json["continuation"]["job"] is None


async def test_a_sweep_that_is_stopped_while_its_job_is_continued(cluster: Place) -> None:
    cluster.write("work/train.py", RESUMES)
    job = await submitted(cluster)
    cluster.t9k.change(job.uid, sweep=SweepMember(id="s1", name="lr", number=1, round=1, at_a_time=1, values={}))
    cluster.write(f"work/runs/{job.name}/a.pt", "")
    creating, stopped, ending = asyncio.Event(), asyncio.Event(), asyncio.Event()
    cluster.t9k.listen(lambda _id, seen: ending.set() if seen and seen.pending_action == "stopping" else None)
    create = cluster.t9k.create

    async def slowly(*args: Any, **more: Any) -> Job:
        creating.set()
        await stopped.wait()
        return await create(*args, **more)

    cluster.t9k.create = slowly  # type: ignore[method-assign]
    end(cluster, job)
    await asyncio.wait_for(creating.wait(), PATIENCE)
    assert (await cluster.api("POST", "sweeps", "s1", "stop")).json["problems"] == []
    stopped.set()
    await asyncio.wait_for(ending.wait(), PATIENCE)
    assert [seen.name for seen in cluster.t9k.known.values() if seen.pending_action == "stopping"] == ["train-2"]
    assert (await noted(cluster, job)).problem == "Its sweep was stopped."
    assert cluster.t9k.noted.empty()


async def test_only_evictions_of_own_jobs_whose_box_is_set_are_continued(cluster: Place) -> None:
    cluster.write("work/train.py", RESUMES)
    cluster.write("work/runs/train-1/a.pt", "")
    ends: list[dict[str, Any]] = [
        *({"code": code} for code in ("ExitCode", "OOMKilled", "Stopped", "PodDeleted", "StorageLimit", "Failed")),
        {"ago": 25 * 3600.0},
        {"mine": False},
        {"deleted": True},
    ]
    jobs = [await submitted(cluster, f"request-{number:04}") for number in range(len(ends) + 3)]
    off, idle, evicted = jobs[-3:]
    policy = off.spec.run_policy.model_copy(update={"resume_evicted": False})
    end(cluster, off, spec=off.spec.model_copy(update={"run_policy": policy}))
    end(cluster, idle, spec=idle.spec.model_copy(update={"debug": {}}))
    for job, how in zip(jobs, ends, strict=False):
        end(cluster, job, **how)
    cluster.write(f"work/runs/{evicted.name}/a.pt", "")
    end(cluster, evicted)
    assert (await noted(cluster, evicted)).job is not None
    assert len(cluster.t9k.submitted) == len(jobs) + 1


async def test_jobs_that_were_evicted_while_no_lab_ran(place: Place, api: Api) -> None:
    place.api = api
    place.write("work/train.py", RESUMES)
    jobs = []
    for number, code in enumerate(["NodeShutdown", "Preempted", "NodeLost", "Drained", "Tainted"]):
        spec = JobSpec.model_validate(
            {
                "name": f"train-{number + 1}",
                "entrypoint": {"value": "/t9k/mnt/train.py"},
                "runtime": {"image": "i"},
                "mounts": [{"claim": "work", "mount_path": "/t9k/mnt"}],
                "run_policy": {"resume_evicted": True},
            }
        )
        job = started(place, place.t9k.put(spec=spec, engine="t9k", namespace="team").uid)
        end(place, job, code, ago=(25 if number == 0 else 23) * 3600.0, started_at=time.time() - 30 * 3600.0)
        jobs.append(job)
        # A later job has written this one.
        place.write(f"work/runs/{job.name}/late.pt", "")
    assert (await api("GET", "jobs")).status == 200  # The services start with the first request.
    found = dict([await decided(place) for _job in jobs[1:]])
    problem = "It has written no checkpoint that was found in its folders."
    assert found == {job.id: Continuation(problem=_(problem)) for job in jobs[1:]}
    assert place.t9k.known[jobs[0].uid].continuation is None and not place.t9k.submitted


async def test_why_no_job_continues_it(cluster: Place) -> None:
    """Each reason is noted on the job, and no job is created."""

    async def problem(request_id: str, **fields: Any) -> str:
        job = await submitted(cluster, request_id)
        cluster.write(f"work/runs/{job.name}/a.pt", "")
        before = len(cluster.t9k.submitted)
        end(cluster, job, **fields)
        continuation = await noted(cluster, job)
        assert continuation.job is None and len(cluster.t9k.submitted) == before
        return str(continuation.problem)

    cluster.write("work/train.py")
    form = await cluster.form()
    assert form["script"]["resume_option"] is None
    form["spec"]["run_policy"]["resume_evicted"] = True
    warning = (await cluster.checks(form["spec"], "warning"))["CannotResume"]
    assert warning["field"] == "/spec/run_policy/resume_evicted"
    expected = "train.py has no option that is known to take a checkpoint."
    assert warning["message"] == expected == await problem("request-0001")
    cluster.write("work/train.py", RESUMES)
    assert "CannotResume" not in await cluster.checks(form["spec"])
    assert "does not see the folders" in await problem("request-0002", log_dir_paths=[None])
    assert "has written no checkpoint" in await problem("request-0003", log_dir_paths=["work/elsewhere"])
    beside = await submitted(cluster, "request-0005")
    cluster.t9k.change(beside.uid, log_dir_paths=["work/runs"])
    assert "Other jobs may have written" in await problem("request-0006", log_dir_paths=["work/runs"])
    end(cluster, beside, code="ExitCode")
    job = await submitted(cluster, "request-0004")
    cluster.write(f"work/runs/{job.name}/a.pt", "")
    cluster.t9k.claims.clear()
    end(cluster, job)
    refused = "The new job was refused: There is no namespace team."
    assert (await noted(cluster, job)).problem == refused
    shown = (await cluster.api("GET", "jobs", job.id)).json["continuation"]
    assert shown == {"job": None, "problem": refused}


async def test_one_lab_continues_it_once(cluster: Place) -> None:
    cluster.write("work/train.py", RESUMES)
    job = await submitted(cluster)
    cluster.write("work/runs/train-1/a.pt", "")
    cluster.t9k.leases[job.uid] = "another lab"
    asked = asyncio.Event()
    lease = cluster.t9k.lease_continuation

    async def leased(*given: Any) -> bool:
        answer = await lease(*given)
        if not answer:
            asked.set()
        return answer

    cluster.t9k.lease_continuation = leased  # type: ignore[method-assign]
    end(cluster, job)
    await asyncio.wait_for(asked.wait(), PATIENCE)
    assert len(cluster.t9k.submitted) == 1
    # The lease expires. The cluster does not answer after the job was created, and then it does.
    cluster.t9k.note_refusals = [Unavailable(_("It does not answer."))]
    del cluster.t9k.leases[job.uid]
    assert (await noted(cluster, job)).job is not None
    assert len(cluster.t9k.submitted) == 2 and not cluster.t9k.note_refusals
