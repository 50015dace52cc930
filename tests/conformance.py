"""What every engine is held to, as points that are shown on real jobs, and the table of the documentation.

`tests/local/test_conformance.py` and `tests/kubernetes/test_conformance.py` show each point on each engine; a point
that an engine lacks by its capabilities is shown to be refused with that reason. A new kind of job object needs no
change here: it is found, and its capabilities say what it lacks. `python -m tests.conformance` writes the table, and
`tests/unit/test_conformance_page.py` fails if the table is stale.
"""

from __future__ import annotations

import asyncio
import pkgutil
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from jupyterlab_t9kjob.core.checks import Capability
from jupyterlab_t9kjob.core.engine.info import EngineFacts
from jupyterlab_t9kjob.core.errors import Conflict, FieldError, NotFound
from jupyterlab_t9kjob.core.job import Job, JobSummary
from jupyterlab_t9kjob.core.log_sources import LogFile
from jupyterlab_t9kjob.core.manifests import KINDS
from jupyterlab_t9kjob.core.spec import ConfigFile, Entrypoint, JobSpec, ReplicaSpec, RunPolicy
from jupyterlab_t9kjob.engines.kubernetes import objects
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind, SharedKind
from jupyterlab_t9kjob.engines.local.engine import LocalEngine
from jupyterlab_t9kjob.engines.local.plan.checks import CAPABILITIES
from tests.patience import PATIENCE

PAGE = Path(__file__).parents[1] / "docs" / "developer" / "conformance.md"
BEGIN, END = "<!-- made by `python -m tests.conformance` -->\n", "<!-- end -->\n"
IDLES = "trap 'exit 143' TERM; sleep 600 & wait"
RANKS = "import os\nprint('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'], flush=True)\n"


@dataclass
class Subject:
    """An engine that works, and what is heard from it.

    Attributes
    ----------
    engine
        The engine.
    namespace
        Namespace of the jobs.
    spec
        Describes a job that runs a line of shell.
    training
        Describes a job of two replicas that runs a Python program by torchrun.
    folder, place
        A folder, and its path as jobs see it.
    kind
        The kind of job object; None for jobs that are no objects of a cluster.
    create_object
        Creates an object of the kind, as kubectl does.
    """

    engine: Any
    namespace: str
    spec: Callable[..., JobSpec]
    training: Callable[[str], JobSpec]
    folder: Path
    place: str
    kind: JobKind | None = None
    create_object: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    heard: list[tuple[str, JobSummary | None]] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.engine.listen(self._hear)

    def _hear(self, ident: str, summary: JobSummary | None) -> None:
        self.heard.append((ident, summary))
        told, self._news = self._news, asyncio.Event()
        told.set()

    async def submit(self, program: str, **fields: Any) -> Job:
        """Create a job that runs a line of shell."""
        return await self.create(self.spec(program, **fields))

    async def create(self, spec: JobSpec, request_id: str | None = None) -> Job:
        request = request_id or uuid.uuid4().hex
        created: Job = await self.engine.create(spec, namespace=self.namespace, request_id=request)
        return created

    async def until(self, uid: str, reached: Callable[[Job], Any]) -> Job:
        """Wait for what is heard of a job until it is as wanted; several may wait."""
        seen: Job | None = None

        async def wait() -> Job:
            nonlocal seen
            while True:
                before = len(self.heard)
                seen = await self.engine.job(uid)
                if reached(seen):
                    return seen
                while not any(ident.endswith(uid) for ident, _summary in self.heard[before:]):
                    await self._news.wait()  # of many jobs, which are waited for at the same time

        try:
            return await asyncio.wait_for(wait(), PATIENCE)
        except asyncio.TimeoutError:
            keys = {"engine", "phase", "reason", "pending_action", "actions", "deleted", "restarts", "replicas_running"}
            told = seen.model_dump_json(indent=1, include=keys) if seen is not None else "no job"
            raise AssertionError(told) from None

    async def until_heard(self, ident: str, phase: str) -> None:
        with anyio.fail_after(PATIENCE):
            while not any(one == ident and seen is not None and seen.phase == phase for one, seen in self.heard):
                await self._news.wait()

    async def until_listed(self, uid: str) -> JobSummary:
        """Wait for a job that somebody else has made."""
        with anyio.fail_after(PATIENCE):
            while True:
                news = self._news
                for one in await self.engine.jobs():
                    if one.uid == uid:
                        return one  # type: ignore[no-any-return]
                await news.wait()

    async def running(self, job: Job) -> Job:
        """Wait until all replicas of a job run."""
        return await self.until(job.uid, lambda one: one.phase == "Running" and one.replicas_running == one.replicas)

    async def ended(self, job: Job) -> Job:
        ends = ("Succeeded", "Failed")
        return await self.until(job.uid, lambda one: one.phase in ends and one.pending_action is None)

    async def delete(self, uid: str) -> Job:
        await self.engine.act(uid, "delete")
        return await self.until(uid, lambda one: one.deleted)

    async def until_logged(self, job: Job, *words: str) -> None:
        """Wait until all of this is in the job's logs."""
        news = asyncio.Event()
        end = await self.engine.follow_logs(job.uid, lambda: news.set())
        try:
            with anyio.fail_after(PATIENCE):
                while True:
                    news = asyncio.Event()
                    sources = await self.engine.log_sources(job.uid)
                    paths = [one.path for one in sources if isinstance(one, LogFile) and one.path.exists()]
                    text = "".join([path.read_text(errors="replace") for path in paths])
                    if all(word in text for word in words):
                        return
                    await news.wait()
        finally:
            end()


@dataclass(frozen=True)
class Point:
    """Something that every engine does, or refuses with a reason.

    Attributes
    ----------
    name, claim
        For the table, and the sentence below it.
    show
        Shows it on an engine; None if the file of the engine's test does.
    capability
        The capability that it needs; None: every engine has it.
    uses
        Fields of a job that uses it, by which a lack is shown.
    """

    name: str
    claim: str
    show: Callable[[Subject], Awaitable[None]] | None
    capability: str | None = None
    uses: Mapping[str, Any] = field(default_factory=dict)


# -- the points --------------------------------------------------------------------------------------------------------


async def submits(on: Subject) -> None:
    spec, request = on.spec("true"), uuid.uuid4().hex
    job = await on.create(spec, request)
    assert (await on.create(spec, request)).uid == job.uid
    known = await on.engine.created_by(request)
    assert known is not None and known.uid == job.uid
    with pytest.raises(Conflict) as taken:
        await on.create(spec)
    assert taken.value.field == "/spec/name"
    assert (await on.ended(job)).phase == "Succeeded"


async def has_phases(on: Subject) -> None:
    name = f"go-{uuid.uuid4().hex}"
    job = await on.submit(f"until [ -e {on.place}/{name} ]; do sleep 0.2; done")
    # A job is read anew when it is asked for, which may be before its change is told.
    await on.until_heard(job.id, "Running")
    (on.folder / name).touch()
    done = await on.ended(job)
    assert (done.phase, done.ended_by) == ("Succeeded", "itself")
    assert done.started_at is not None and done.ended_at is not None and done.started_at <= done.ended_at
    await on.until_heard(job.id, "Succeeded")
    phases = ["Pending", job.phase, *(one.phase for ident, one in on.heard if ident == job.id and one is not None)]
    assert list(dict.fromkeys(phases)) == ["Pending", "Running", "Succeeded"], phases
    assert {"delete", "rerun"} <= set(done.actions)


async def has_logs(on: Subject) -> None:
    job = await on.create(on.training(RANKS))
    done = await on.ended(job)
    assert done.phase == "Succeeded", done.reason
    await on.until_logged(job, "rank 0 of 2", "rank 1 of 2")


async def restarts(on: Subject) -> None:
    mark = f"{on.place}/failed-{uuid.uuid4().hex}"
    job = await on.submit(f"[ -e {mark} ] && exit 0; touch {mark}; exit 3", **ON_FAILURE)
    done = await on.until(job.uid, lambda one: one.phase in ("Succeeded", "Failed") and one.restarts)
    assert done.phase == "Succeeded", done.reason


async def knows_codes(on: Subject) -> None:
    mark = f"{on.place}/failed-{uuid.uuid4().hex}"
    job = await on.submit(f"[ -e {mark} ] && exit 1; touch {mark}; exit 138", **BY_CODE)
    done = await on.until(job.uid, lambda one: one.phase in ("Succeeded", "Failed") and one.restarts)
    assert done.phase == "Failed" and done.reason is not None
    await on.until(job.uid, lambda one: one.reason is not None and "exit code 1" in one.reason.sentence)


async def pauses(on: Subject) -> None:
    job = await on.running(await on.submit(IDLES))
    assert "pause" in job.actions
    asked = await on.engine.act(job.uid, "pause")
    assert asked.pending_action == "pausing" or asked.phase == "Paused"
    paused = await on.until(job.uid, lambda one: one.phase == "Paused" and one.pending_action is None)
    assert "resume" in paused.actions
    # The job's object may say that it is suspended before its pods are gone.
    await on.until(job.uid, lambda one: one.replicas_running == 0 and one.running_since is None)
    with pytest.raises(Conflict):
        await on.engine.act(job.uid, "pause")
    await on.engine.act(job.uid, "resume")
    await on.running(job)
    first, second = (await on.engine.replicas(job.uid))[0].attempts
    again = await on.engine.job(job.uid)
    assert (again.attempt, again.restarts) == (2, 0)
    assert first.ended_at is not None and second.started_at is not None
    assert int(first.ended_at) <= second.started_at  # a cluster tells whole seconds
    assert first.started_at is not None
    assert again.ran_seconds == pytest.approx(first.ended_at - first.started_at)
    assert again.running_since == second.started_at
    await on.delete(job.uid)


async def stops(on: Subject) -> None:
    job = await on.running(await on.submit(IDLES))
    await on.engine.act(job.uid, "stop")
    stopped = await on.ended(job)
    assert (stopped.phase, stopped.ended_by) == ("Failed", "user")
    assert stopped.reason is not None and stopped.reason.code == "Stopped"
    assert stopped.reason.sentence.startswith("Stopped by you") and stopped.ended_at is not None
    assert {"delete", "rerun"} <= set(stopped.actions) and "pause" not in stopped.actions
    if on.kind is not None:
        # A stop of an object is a pause that is noted; a clone of it must not wait to be resumed.
        assert "resume" in stopped.actions and not stopped.spec.paused
        await on.engine.act(job.uid, "resume")
        again = await on.running(job)
        assert again.ended_at is None and again.ended_by is None
        await on.delete(job.uid)


async def deletes(on: Subject) -> None:
    job = await on.running(await on.submit(IDLES))
    asked = await on.engine.act(job.uid, "delete")
    assert asked.deleted or asked.pending_action == "deleting"
    gone = await on.until(job.uid, lambda one: one.deleted and "remove" in one.actions)
    assert gone.phase == "Failed" and set(gone.actions) == {"rerun", "remove"}
    await on.engine.remove(job.uid)
    with pytest.raises(NotFound):
        await on.engine.job(job.uid)


async def has_deadlines(on: Subject) -> None:
    job = await on.submit(IDLES, **DEADLINE)
    ended = await on.ended(job)
    assert ended.reason is not None
    assert (ended.phase, ended.reason.code, ended.ended_by) == ("Failed", "DeadlineExceeded", "deadline")
    assert ended.reason.sentence == "Ended at its deadline of 12 s"


async def has_config_files(on: Subject) -> None:
    path = FILES["config_files"][0].path
    done = await on.ended(await on.submit(f'[ "$(cat {path})" = "NCCL_DEBUG=ä" ]', **FILES))
    assert done.phase == "Succeeded", done.reason
    assert done.spec.config_files == FILES["config_files"]


async def shows_foreign_jobs(on: Subject) -> None:
    """One that was made with kubectl; of a kind that other programs use too, only with the label."""
    assert on.kind is not None and on.create_object is not None
    manifest = yaml.safe_load((await on.engine.preview(on.spec("true"), on.namespace)).manifest)
    metadata: dict[str, Any] = {"name": f"theirs-{uuid.uuid4().hex[:6]}"}
    if isinstance(on.kind, SharedKind):
        bare = {**manifest, "metadata": {"name": f"{metadata['name']}-bare"}}
        unlisted = await asyncio.to_thread(on.create_object, bare)
        metadata["labels"] = {on.kind.label_name: on.kind.label_value}
    made = await asyncio.to_thread(on.create_object, {**manifest, "metadata": metadata})
    uid = made["metadata"]["uid"]
    theirs = await on.until_listed(uid)
    assert not theirs.mine
    assert (await on.until(uid, lambda one: one.phase == "Succeeded")).owner is None
    if isinstance(on.kind, SharedKind):
        assert unlisted["metadata"]["uid"] not in {one.uid for one in await on.engine.jobs()}
    await on.delete(uid)


async def has_words(on: Subject) -> None:
    if on.kind is None:
        spec = on.spec("true", entrypoint=Entrypoint(value=f"{on.place}/none-such.py"), args=[])
        with pytest.raises(FieldError, match="none-such") as refused:
            await on.create(spec)
        assert refused.value.field == "/spec/entrypoint/value"
        return
    image = "test.local/none-such:1"
    spec = on.spec("true")
    job = await on.create(spec.model_copy(update={"runtime": spec.runtime.model_copy(update={"image": image})}))
    await on.until(job.uid, lambda one: one.reason is not None and image in one.reason.sentence and one.reason.hint)
    await on.delete(job.uid)


ON_FAILURE = {"replica_specs": [ReplicaSpec(restart_policy="OnFailure")], "run_policy": RunPolicy(backoff_limit=3)}
BY_CODE = {"replica_specs": [ReplicaSpec(restart_policy="ExitCode")], "run_policy": RunPolicy(backoff_limit=3)}
FILES = {"config_files": [ConfigFile(path="/etc/t9kjob/nccl.conf", text="NCCL_DEBUG=ä\n")]}
DEADLINE = {"run_policy": RunPolicy(active_deadline_seconds=12)}

FOREIGN, RIGHTS = "Foreign jobs", "Rights"
POINTS = (
    Point("Submit", "One request makes one job, also if it is sent again; a name that is taken is refused.", submits),
    Point("Phases", "Pending, Running, Succeeded, each announced, with the times and who ended the job.", has_phases),
    Point("Logs of every rank", "Two replicas under torchrun; the lines of both ranks are in the logs.", has_logs),
    Point("Restart policies", "OnFailure starts a replica again after exit code 3.", restarts, "restarts", ON_FAILURE),
    Point(
        "Exit codes", "ExitCode starts it again after 138 and ends the job after 1.", knows_codes, "restarts", BY_CODE
    ),
    Point("Pause", "No process is left; resumed, the job has a new attempt and no restart.", pauses, "pause"),
    Point("Stop", "The job fails with “Stopped by you”; in a cluster it can be resumed.", stops),
    Point("Delete", "The job ends, its record stays until it is removed.", deletes),
    Point("Deadline", "A job ends 12 s after its start, and its reason says so.", has_deadlines, "deadline", DEADLINE),
    Point("Config files", "The pods find a text at its path.", has_config_files, "config_files", FILES),
    Point(FOREIGN, "A job that was made with kubectl is shown and can be deleted.", shows_foreign_jobs),
    Point(RIGHTS, "Without a permission nothing is created, and a sentence names the permission.", None),
    Point("Errors in words", "An image or a script that is not there is named, with what to do.", has_words),
)

# -- the engines -------------------------------------------------------------------------------------------------------

LIMITS = {("trainer", "Deadline"): "since Kubeflow Trainer 2.2; earlier versions refuse it"}
"""What depends on the version of a kind, by engine and point."""
OF_MACHINE = {
    FOREIGN: "Jobs on this machine are started by this package only.",
    RIGHTS: "Jobs on this machine are processes of the user, who needs no permission for them.",
}


@cache
def kinds() -> dict[str, Callable[[], JobKind]]:
    """Return the kinds of job objects by the names of their engines, in the engines' order."""
    found: dict[str, Any] = {}
    for module in pkgutil.walk_packages(objects.__path__, f"{objects.__name__}."):
        for one in vars(import_module(module.name)).values():
            if isinstance(one, type) and isinstance(getattr(one, "facts", None), EngineFacts):
                found[one.engine] = one  # type: ignore[attr-defined]
    return dict(sorted(found.items(), key=lambda item: item[1].order))


def capabilities_of(engine: str) -> Mapping[str, Capability]:
    return CAPABILITIES if engine == LocalEngine.name else KINDS[kinds()[engine]().manifests].capabilities


def lack(engine: str, point: Point) -> str | None:
    """Return why an engine lacks a point; None if it has it."""
    if engine == LocalEngine.name and point.name in OF_MACHINE:
        return OF_MACHINE[point.name]
    capability = capabilities_of(engine).get(point.capability or "")
    return str(capability.reason) if capability is not None and not capability.supported else None


async def judge(point: Point, on: Subject) -> None:
    """Show a point on an engine, or that it is refused with the reason of the table."""
    engine = on.engine.name
    reason = lack(engine, point)
    if reason is None and (engine, point.name) in LIMITS:
        preview = await on.engine.preview(on.spec("true", **point.uses), on.namespace)
        reason = next((str(check.message) for check in preview.checks if check.level == "error"), None)
    if reason is None:
        assert point.show is not None
        await point.show(on)
    elif point.uses:
        spec = on.spec("true", **point.uses)
        with pytest.raises(FieldError) as refused:
            await on.create(spec)
        assert str(refused.value.message) == reason and refused.value.hint
        assert spec.name not in {job.name for job in await on.engine.jobs()}


async def hold(on: Subject) -> None:
    """Show all points on an engine at the same time, and name those that fail."""
    points = [point for point in POINTS if point.show is not None]
    results = await asyncio.gather(*(judge(point, on) for point in points), return_exceptions=True)
    failed = {
        point.name: error for point, error in zip(points, results, strict=True) if isinstance(error, BaseException)
    }
    for error in failed.values():
        raise AssertionError({name: repr(one) for name, one in failed.items()}) from error


# -- the table ---------------------------------------------------------------------------------------------------------


def table() -> str:
    """Return the table as Markdown, with the reasons and claims below it."""
    labels = {LocalEngine.name: str(LocalEngine.label), **{name: str(kind.label) for name, kind in kinds().items()}}
    notes: list[str] = []
    lines = ["| | " + " | ".join(labels.values()) + " |", "| --- |" + " --- |" * len(labels)]
    for point in POINTS:
        cells = [_cell(engine, point, notes) for engine in labels]
        lines.append(f"| {point.name} | " + " | ".join(cells) + " |")
    lines += ["", *(f"{number}. {note}" for number, note in enumerate(notes, 1))]
    lines += ["", "| Point | Shown |", "| --- | --- |", *(f"| {point.name} | {point.claim} |" for point in POINTS)]
    return "\n".join(lines) + "\n"


def _cell(engine: str, point: Point, notes: list[str]) -> str:
    reason = lack(engine, point)
    word, note = ("yes", LIMITS.get((engine, point.name))) if reason is None else ("no", reason)
    kind = kinds().get(engine)
    if note is None and point.name == FOREIGN and kind is not None and isinstance(one := kind(), SharedKind):
        note = f"Only objects with the label `{one.label_name}: {one.label_value}`, since other programs use them too."
    if note is None:
        return word
    note = f"{note[0].upper()}{note[1:]}" + ("" if note.endswith(".") else ".")
    if note not in notes:
        notes.append(note)
    return f"{word} ({notes.index(note) + 1})"


def page(text: str) -> str:
    """Return the page with the present table."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
