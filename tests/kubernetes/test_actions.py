"""Actions on a job in a cluster: delete, rerun; and the record that remains. `tests.conformance` has all actions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, NotAllowed, NotFound
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.jobs.admission import Admission
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.service import JobService
from tests.kubernetes.between import Between
from tests.kubernetes.engines import PLURALS, WAIT, Bench, serving
from tests.kubernetes.fakeapi import Call, Request, refuse
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]
both = pytest.mark.parametrize("engine", ["t9k", "kubeflow"])

WAITS = "trap 'exit 143' TERM; echo begun; sleep 1000 & wait"


async def running(bench: Bench, engine: str, **fields: object) -> Job:
    job = await bench.submit(engine, bench.spec(WAITS, **fields))
    return await bench.until(job, lambda seen: seen.phase == "Running" and seen.replicas_running == seen.replicas)


def trainingjob(name: str, image: str, replicas: int = 1) -> dict[str, Any]:
    """Return a job such as somebody makes with kubectl."""
    template = {"spec": {"containers": [{"name": "python", "image": image, "command": ["sleep", "1000"]}]}}
    return {
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "PyTorchTrainingJob",
        "metadata": {"name": name},
        "spec": {"replicaSpecs": [{"type": "node", "replicas": replicas, "template": template}]},
    }


def records(home: Path) -> list[str]:
    """Return the uids of the jobs of which anything is kept."""
    return [path.name for path in (home / "cluster").glob("*/*/*")]


@both
async def test_a_deleted_job_stays_in_our_records(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await running(bench, engine)
        asked = await bench.engines[engine].act(job.uid, "delete")
        assert asked.deleted or asked.pending_action == "deleting"
        gone = await bench.until(job, lambda seen: seen.deleted)
        assert gone.phase == "Failed"
        assert gone.actions == ["rerun", "remove"]
        await asyncio.to_thread(kube.until, PLURALS[engine], job.name, lambda found: found is None)
        assert (await bench.engines[engine].manifest(job.uid)).current is None
    async with serving(kube, image, tmp_path) as bench:
        known = {each.uid: each for each in await bench.engines[engine].jobs()}
        assert known[job.uid].deleted
        assert known[job.uid].mine
        assert (await bench.engines[engine].replicas(job.uid))[0].attempts[0].started_at is not None
        assert any(event.reason for event in await bench.engines[engine].events(job.uid))
        assert (await bench.engines[engine].manifest(job.uid)).submitted["metadata"]["name"] == job.name
        await bench.engines[engine].remove(job.uid)
        with pytest.raises(NotFound):
            await bench.engines[engine].job(job.uid)
    assert job.uid not in records(tmp_path)


@pytest.mark.parametrize(("program", "phase"), [(WAITS, "Running"), ("exit 3", "Failed")])
async def test_delete_with_its_record(program: str, phase: str, kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.until_phase(await bench.submit("t9k", bench.spec(program)), phase)
        await bench.engines["t9k"].act(job.uid, "delete", remove=True)
        await bench.until_heard(lambda ident, summary: ident == job.id and summary is None)
        with pytest.raises(NotFound):
            await bench.engines["t9k"].job(job.uid)
        # nobody follows its logs any more, which would be written anew
        while following := [task for task in asyncio.all_tasks() if job.uid in task.get_name()]:
            await asyncio.wait(following, timeout=WAIT)
    assert job.uid not in records(tmp_path)


async def test_a_delete_that_is_refused_takes_no_record_with_it_later(kube: Kube, image: str, tmp_path: Path) -> None:
    def rule(request: Request) -> Any:
        return forbid if request.method == "DELETE" else None

    async def forbid(_between: Between, call: Call) -> None:
        await refuse(403, "Forbidden", "pytorchtrainingjobs is forbidden")(call)

    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        job = await bench.submit("t9k", bench.spec("true"))
        await bench.ended(job)
        with pytest.raises(NotAllowed):
            await bench.engines["t9k"].act(job.uid, "delete", remove=True)
        await asyncio.to_thread(kube.delete, PLURALS["t9k"], job.name)
        await bench.until(job, lambda seen: seen.deleted)
    assert job.uid in records(tmp_path)


async def test_an_answer_that_is_late_brings_no_job_back(kube: Kube, image: str, tmp_path: Path) -> None:
    """The object that a delete returns, because something holds it, is read after the watch has told of its end."""
    gone = asyncio.Event()

    def rule(request: Request) -> Any:
        return late if request.method == "DELETE" else None

    async def late(between: Between, call: Call) -> None:
        async with between.ask(call.request) as answer:
            content = await answer.aread()
        await asyncio.to_thread(kube.patch, PLURALS["t9k"], job.name, {"metadata": {"finalizers": None}})
        await gone.wait()
        await call.answer(answer.status_code, content)

    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        job = await bench.ended(await bench.submit("t9k", bench.spec("true")))
        await asyncio.to_thread(kube.patch, PLURALS["t9k"], job.name, {"metadata": {"finalizers": ["example.org/us"]}})
        deleting = asyncio.create_task(bench.engines["t9k"].act(job.uid, "delete"))
        await bench.until(job, lambda seen: seen.deleted)
        gone.set()
        assert (await deleting).deleted
        assert (await bench.engines["t9k"].job(job.uid)).deleted


async def test_deleted_while_no_server_ran(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.submit("t9k", bench.spec("true"))
        await bench.ended(job)
    await asyncio.to_thread(kube.delete, PLURALS["t9k"], job.name)
    async with serving(kube, image, tmp_path) as bench:
        seen = await bench.until(job, lambda seen: seen.deleted)
        assert seen.phase == "Succeeded"


async def test_a_job_is_not_taken_for_deleted_before_the_list_can_have_it(
    kube: Kube, image: str, tmp_path: Path
) -> None:
    """The first list is on its way while the job is created; another job tells that it was read."""
    asked, created, done = asyncio.Event(), asyncio.Event(), asyncio.Event()
    theirs = await asyncio.to_thread(kube.create, PLURALS["t9k"], trainingjob("theirs", image))

    def rule(request: Request) -> Any:
        if request.method != "GET" or not request.path.endswith(PLURALS["t9k"]):
            return None
        return late_watch if request.query.get("watch") == "true" else late_list

    async def late_list(between: Between, call: Call) -> None:
        async with between.ask(call.request) as answer:
            content = await answer.aread()
        asked.set()
        await created.wait()
        await call.answer(answer.status_code, content)

    async def late_watch(between: Between, call: Call) -> None:
        await done.wait()
        await between.forward(call)

    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        await asked.wait()
        engine = bench.engines["t9k"]
        creating = asyncio.create_task(bench.submit("t9k", bench.spec("true")))
        await bench.until_heard(lambda ident, summary: summary is not None and summary.mine)
        created.set()
        await bench.until_heard(lambda ident, summary: theirs["metadata"]["uid"] in ident)
        job = await creating
        assert not (await engine.job(job.uid)).deleted
        # and one that has come and gone meanwhile is not waited for
        short = await bench.submit("t9k", bench.spec("sleep 1000"))
        await asyncio.to_thread(kube.delete, PLURALS["t9k"], short.name)
        done.set()
        await bench.until(short, lambda seen: seen.deleted)
        assert (await bench.ended(job)).phase == "Succeeded"
        await engine.act(theirs["metadata"]["uid"], "delete")


async def test_a_record_stays_while_nobody_knows_whether_its_job_is_gone(
    kube: Kube, image: str, tmp_path: Path
) -> None:
    async with (
        Between(kube=kube) as between,
    ):
        kubeconfig = between.kubeconfig(tmp_path)
        async with serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench:
            job = await bench.submit("t9k", bench.spec("sleep 1000"))
            await bench.until_phase(job, "Running")
        await between.stop()
        async with serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench:
            engine = bench.engines["t9k"]
            seen = await engine.job(job.uid)
            assert "has not yet reported" in (seen.read_only or "")
            assert "remove" not in seen.actions
            with pytest.raises(Conflict, match="has not yet reported"):
                await engine.remove(job.uid)
            await between.start()
            await engine.refresh()
            await bench.until_phase(job, "Running")
            await engine.act(job.uid, "delete")
            await bench.until(job, lambda seen: "remove" in seen.actions)


async def test_run_again(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.submit("kubeflow", bench.spec("true", name="again-1"))

        async def admit(spec: JobSpec, *_: object):
            return Admission(spec)

        service = JobService(Engines(bench.engines))
        second = await service.rerun(job.id, admit=admit)
        assert second.name == "again-2"
        assert second.rerun_of == job.id
        assert second.spec.model_copy(update={"name": job.name}) == job.spec
        assert (await bench.ended(second)).phase == "Succeeded"


async def test_nothing_is_kept_of_jobs_of_others_that_end(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path, owner="me") as bench:
        job = trainingjob("brief", image)
        job["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]["command"] = ["echo", "done"]
        theirs = await asyncio.to_thread(kube.create, PLURALS["t9k"], job)
        uid = theirs["metadata"]["uid"]
        await bench.until_heard(lambda ident, summary: uid in ident and summary and summary.phase == "Succeeded")
        mine = await bench.ended(await bench.submit("t9k", bench.spec("true")))
    assert records(tmp_path) == [mine.uid]


async def test_jobs_of_others(kube: Kube, image: str, tmp_path: Path) -> None:
    """Jobs created with kubectl are listed and take actions like the lab's own; an opened one gets a record."""
    async with serving(kube, image, tmp_path, owner="somebody") as bench:
        made = await asyncio.to_thread(kube.create, PLURALS["t9k"], trainingjob("others", image, replicas=2))
        uid = made["metadata"]["uid"]
        await bench.until_heard(lambda ident, summary: uid in ident and summary and summary.phase == "Running")
        row = next(job for job in await bench.engines["t9k"].jobs() if job.uid == uid)
        assert not row.mine
        assert row.phase == "Running"
        assert records(tmp_path) == []
        seen = await bench.engines["t9k"].job(uid)
        assert seen.command == ["sleep", "1000"]
        await bench.engines["t9k"].act(uid, "delete")
        assert (await bench.until(seen, lambda job: job.deleted)).phase == "Failed"
