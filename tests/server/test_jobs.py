"""Jobs over REST: list, create once, act, and what is said to bad requests."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from tornado.httpclient import HTTPClientError

from jupyterlab_t9kjob.core.errors import Conflict, FieldError
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, TensorBoardSpec
from jupyterlab_t9kjob.jobs.renaming import renamed
from tests.server.conftest import Api
from tests.server.fakes import FakeEngine

SPEC = {"name": "train-1", "entrypoint": {"kind": "script", "value": "/work/train.py"}}


def creation(**changes):
    return {"spec": SPEC, "request_id": "request-0001", **changes}


async def test_engines(engine: FakeEngine, api: Api):
    answer = await api("GET", "engines")
    assert [found["name"] for found in answer.json["engines"]] == ["local"]


async def test_list_is_newest_first_and_paged(engine: FakeEngine, api: Api):
    for number in range(5):
        engine.put(f"train-{number}", created_at=float(number))
    page = (await api("GET", "jobs", limit=2, offset=1)).json
    assert [job["name"] for job in page["jobs"]] == ["train-3", "train-2"]
    assert page["total"] == 5


async def test_list_filters(engine: FakeEngine, api: Api):
    engine.put("a", phase="Running")
    engine.put("b", phase="Failed")
    engine.put("c", phase="Failed", deleted=True)
    engine.put("d", phase="Running", deleted=True, pending_action="deleting")

    async def names(**query):
        return {job["name"] for job in (await api("GET", "jobs", **query)).json["jobs"]}

    assert await names() == {"a", "b", "d"}
    assert await names(deleted="true") == {"a", "b", "c", "d"}
    assert await names(phase="Failed") == {"b"}
    assert await names(name="a") == {"a"}
    assert await names(engine="t9k") == set()


@pytest.mark.parametrize(
    "query",
    [{"limit": "0"}, {"limit": "1001"}, {"offset": "-1"}, {"limit": "1e3"}, {"phase": "Lost"}, {"deleted": "maybe"}],
)
async def test_list_refuses_bad_queries(engine: FakeEngine, api: Api, query: dict[str, str]):
    answer = await api("GET", "jobs", **query)
    assert answer.status == 400
    assert answer.json["code"] == "BadRequest"


async def test_create_and_look(fakes: SimpleNamespace, api: Api):
    answer = await api("POST", "jobs", body=creation())
    assert answer.status == 201
    job = answer.json
    assert job["phase"] == "Pending"
    assert fakes.launch.admitted[0].name == "train-1"
    assert (await api("GET", "jobs", job["id"])).json == job
    assert (await api("GET", "jobs", job["id"], "replicas")).json["replicas"][0]["name"] == "worker-0"
    assert (await api("GET", "jobs", job["id"], "events")).json["events"][0]["reason"] == "Created"
    manifest = (await api("GET", "jobs", job["id"], "manifest")).json
    assert manifest["submitted"]["name"] == "train-1"
    assert yaml.safe_load(manifest["submitted_text"]) == manifest["submitted"]
    assert (await api("GET", "jobs", job["id"], "logs")).json == {"streams": []}
    assert (await api("GET", "jobs", job["id"], "checkpoints")).json["count"] == 0


async def test_a_clone_resumes_from_a_checkpoint(engine: FakeEngine, api: Api, jp_root_dir: Path):
    text = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--resume')\nparser.parse_args()\n"
    (jp_root_dir / "train.py").write_text(text)
    (jp_root_dir / "a.pt").write_text("weights")
    paths = {"entrypoint_path": "train.py", "working_dir_path": ""}
    job = engine.put(phase="Failed", started_at=time.time() - 60, ended_at=time.time() + 60, **paths)
    found = (await api("GET", "jobs", job.id, "checkpoints")).json
    assert (found["resume_option"], found["resume_problem"], found["newest"]["path"]) == ("--resume", None, "a.pt")
    assert found["newest"]["resume"]["changes"] == {"/spec/args": ["--resume", str(jp_root_dir / "a.pt")]}
    (jp_root_dir / "train.py").write_text("import torch")
    found = (await api("GET", "jobs", job.id, "checkpoints")).json
    assert found["newest"]["resume"] is None and "no option" in found["resume_problem"]


async def test_double_click_makes_one_job(engine: FakeEngine, api: Api):
    engine.gate.clear()
    asks = [asyncio.create_task(api("POST", "jobs", body=creation())) for _ in range(5)]
    await asyncio.wait(asks, timeout=0.5)
    engine.gate.set()
    answers = await asyncio.gather(*asks)
    later = await api("POST", "jobs", body=creation())
    assert {answer.status for answer in [*answers, later]} == {201}
    assert len({answer.json["id"] for answer in [*answers, later]}) == 1
    assert engine.created == 1


async def test_the_same_request_again_is_not_checked_again(fakes: SimpleNamespace, api: Api):
    first = await api("POST", "jobs", body=creation())
    fakes.launch.refusal = FieldError("It does not exist.", field="/spec/entrypoint/value")
    again = await api("POST", "jobs", body=creation())
    assert (again.status, again.json["id"]) == (201, first.json["id"])


async def test_same_name_conflicts(engine: FakeEngine, api: Api):
    await api("POST", "jobs", body=creation())
    answer = await api("POST", "jobs", body=creation(request_id="request-0002"))
    assert answer.status == 409
    assert answer.json["field"] == "/spec/name"


async def test_what_is_not_admitted_is_not_created(fakes: SimpleNamespace, api: Api):
    fakes.launch.refusal = FieldError("It does not exist.", field="/spec/entrypoint/value", hint="Save it first.")
    answer = await api("POST", "jobs", body=creation())
    assert (answer.status, answer.json["field"], answer.json["hint"]) == (
        422,
        "/spec/entrypoint/value",
        "Save it first.",
    )
    assert fakes.engine.created == 0


async def test_dry_run_creates_nothing(fakes: SimpleNamespace, api: Api):
    answer = await api("POST", "jobs", body=creation(dry_run=True))
    assert answer.status == 200
    assert answer.json["command"] == "torchrun"
    assert fakes.engine.created == 0


async def test_actions(engine: FakeEngine, api: Api):
    job = engine.put()
    for action, pending in [("pause", "pausing"), ("resume", "resuming"), ("stop", "stopping")]:
        answer = await api("POST", "jobs", job.id, action)
        assert (answer.status, answer.json["pending_action"]) == (200, pending)
    engine.change(job.uid, phase="Failed", pending_action=None)
    assert (await api("POST", "jobs", job.id, "stop")).status == 409
    assert (await api("POST", "jobs", job.id, "remove")).status == 204
    assert (await api("GET", "jobs", job.id)).status == 404


async def test_rerun_takes_the_next_free_number(fakes: SimpleNamespace, api: Api):
    spec = JobSpec(name="train-1", entrypoint=Entrypoint(value="/work/train.py"), paused=True)
    job = fakes.engine.put(spec=spec, phase="Failed")
    fakes.engine.put("train-2", phase="Failed")
    answer = await api("POST", "jobs", job.id, "rerun")
    assert (answer.status, answer.json["name"], answer.json["rerun_of"]) == (201, "train-3", job.id)
    assert answer.json["spec"]["paused"] is False, "it is to run"
    assert fakes.launch.admitted


async def test_a_job_that_can_not_be_read_has_no_rerun(fakes: SimpleNamespace, api: Api):
    job = fakes.engine.put(phase="Unknown", actions=["remove"])
    answer = await api("POST", "jobs", job.id, "rerun")
    assert (answer.status, len(fakes.engine.known)) == (409, 1)


async def test_delete(engine: FakeEngine, api: Api):
    job = engine.put()
    answer = await api("DELETE", "jobs", job.id)
    assert (answer.status, answer.json["pending_action"]) == (202, "deleting")
    assert job.uid in engine.known


async def test_delete_and_remove_is_the_engines_to_finish(engine: FakeEngine, api: Api):
    job, refused = engine.put(), engine.put("other")
    assert (await api("DELETE", "jobs", job.id, remove="true")).status == 202
    engine.conflict = Conflict("This job runs on another machine.")
    assert (await api("DELETE", "jobs", refused.id, remove="true")).status == 409
    assert engine.removals == [job.uid]


@pytest.mark.parametrize(
    "ident", ["", "x", "local::train-1:nothing", "t9k:ns:a:b", "local::a:b:c", "%00", "../..", "ü"]
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_unknown_ids(engine: FakeEngine, api: Api, ident: str, method: str):
    answer = await api(method, "jobs", ident)
    assert answer.status == 404
    assert answer.json["message"]


async def test_id_must_be_right_in_every_part(engine: FakeEngine, api: Api):
    job = engine.put("train-1", phase="Failed")
    assert (await api("POST", "jobs", f"local::other:{job.uid}", "remove")).status == 404
    assert job.uid in engine.known


async def test_unknown_routes_answer_json(engine: FakeEngine, api: Api):
    job = engine.put()
    for parts in [("nothing",), ("jobs", job.id, "explode"), ("jobs", job.id, "logs", "a", "b"), ("",)]:
        for method in ("GET", "POST", "DELETE"):
            assert (await api(method, *parts)).status == 404
    assert (await api("PUT", "jobs", job.id, body={})).status == 405


DEEP = b'{"spec":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
BAD_BODIES = [
    (b"", 400),
    (b"no json", 400),
    (b"[]", 400),
    (b"\xff\xfe", 400),
    (DEEP, 400),
    (b'{"spec": NaN}', 400),
    (b'{"spec": {"name": "a", "extra": {"x": -Infinity}}}', 400),
    (b'{"request_id": "' + b"9" * 2_000_000 + b'"}', 413),
]


@pytest.mark.parametrize(("body", "status"), BAD_BODIES, ids=range(len(BAD_BODIES)))
@pytest.mark.parametrize("route", [("jobs",), ("launch", "prefill"), ("launch", "preview")])
async def test_bad_bodies(engine: FakeEngine, api: Api, route: tuple[str, ...], body: bytes, status: int):
    answer = await api("POST", *route, raw=body)
    assert answer.status == status
    assert answer.json["message"]


async def test_a_body_of_50_mb_is_refused_and_not_kept(engine: FakeEngine, api: Api):
    answer = await api("POST", "jobs", raw=b" " * 50_000_000)
    assert answer.status == 413
    assert "50000000" in answer.json["message"]


WRONG = [
    ({"spec": {}}, "/spec/name", "missing"),
    ({"spec": {**SPEC, "name": "Train!"}}, "/spec/name", "small letters"),
    ({"spec": {**SPEC, "nam": 1}}, "/spec/nam", "no field"),
    ({"spec": {**SPEC, "args": [1]}}, "/spec/args/0", "text"),
    ({"spec": {**SPEC, "args": ["a", "b\0"]}}, "/spec/args/1", "NUL"),
    ({"spec": {**SPEC, "env": [{"name": "A=B", "value": "x"}]}}, "/spec/env/0/name", "letters"),
    ({"spec": {**SPEC, "torchrun": {"proc_per_node": 0}}}, "/spec/torchrun/proc_per_node", "1 or more"),
    ({"spec": {**SPEC, "torchrun": {"proc_per_node": "cpu"}}}, "/spec/torchrun/proc_per_node", ""),
    ({"spec": {**SPEC, "entrypoint": {"kind": "binary", "value": "x"}}}, "/spec/entrypoint/kind", "script"),
    ({"spec": {**SPEC, "labels": {"a/b~": 1}}}, "/spec/labels/a~1b~0", "text"),
    ({"spec": {**SPEC, "replica_specs": []}}, "/spec/replica_specs", "1"),
    (
        {"spec": {**SPEC, "run_policy": {"active_deadline_seconds": 10**400}}},
        "/spec/run_policy/active_deadline_seconds",
        "or less",
    ),
    ({"request_id": "x"}, "/request_id", "8 to 64"),
    ({"engine": "cloud"}, "/engine", "no engine cloud"),
    ({"engine": "a:b"}, "/engine", "lower-case letters"),
    ({"extra": 1}, "/extra", "no field"),
]


@pytest.mark.parametrize(("change", "field", "words"), WRONG, ids=[case[1] + case[2] for case in WRONG])
async def test_a_wrong_field_is_named(engine: FakeEngine, api: Api, change: dict, field: str, words: str):
    answer = await api("POST", "jobs", body=creation(**change))
    assert answer.status == 422
    assert answer.json["field"] == field
    assert words in answer.json["message"]
    assert engine.created == 0


async def test_engine_that_is_not_here(engine: FakeEngine, api: Api):
    answer = await api("POST", "jobs", body=creation(engine="t9k"))
    assert (answer.status, answer.json["field"]) == (422, "/engine")


async def test_infinity_by_size_does_not_break_later_answers(engine: FakeEngine, api: Api):
    body = json.dumps(creation()).replace('"entrypoint"', '"extra": {"x": 1e999}, "entrypoint"').encode()
    answer = await api("POST", "jobs", raw=body)
    assert answer.status in (201, 400, 422)
    json.loads((await api("GET", "jobs")).body, parse_constant=lambda text: pytest.fail(text))


async def test_our_own_failure_tells_nothing_of_its_inside(engine: FakeEngine, api: Api, jp_fetch):
    job = engine.put()
    engine.refusal = RuntimeError("password=hunter2")
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("t9kjob", "jobs", job.id)
    body = caught.value.response.body.decode()
    assert caught.value.code == 500
    assert "hunter2" not in body and json.loads(body)["message"]


def test_renamed_moves_what_is_the_jobs_own():
    spec = JobSpec(
        name="train-1",
        entrypoint=Entrypoint(value="/w/train.py"),
        working_dir="/w",
        args=[
            *("--log_dir", "runs/train-1", "--save=runs/train-1/model.pt", "/w/runs/train-1/x"),
            *("runs/train-10", "train-1", "/other/runs/train-1", "see runs/train-1"),
        ],
        tensorboard=TensorBoardSpec(log_dirs=["/w/runs/train-1", "/w/shared"]),
    )
    new = renamed(spec, "train-2")
    assert new.name == "train-2"
    assert new.args == [
        *("--log_dir", "runs/train-2", "--save=runs/train-2/model.pt", "/w/runs/train-2/x"),
        *("runs/train-10", "train-1", "/other/runs/train-1", "see runs/train-1"),
    ]
    assert new.tensorboard.log_dirs == ["/w/runs/train-2", "/w/shared"]
    assert spec.args[1] == "runs/train-1"


async def test_an_action_on_many_jobs_leaves_active_ones_alone(engine: FakeEngine, api: Api):
    ids = {name: engine.put(name, phase=phase).id for name, phase in (("a", "Running"), ("b", "Failed"))}
    body = {"action": "delete", "ids": [ids["a"], ids["b"], ids["b"], "local::none:none"]}
    answer = (await api("POST", "job-actions", body=body)).json
    assert answer["done"] == [ids["b"]]
    assert [problem["code"] for problem in answer["problems"]] == ["Active", "NotFound"]
    assert answer["problems"][0]["message"] == "a has not ended, so it was left alone."
    stopped = (await api("POST", "job-actions", body={"action": "stop", "ids": [ids["a"]]})).json
    assert stopped == {"done": [ids["a"]], "problems": []}
    for bad in (
        {"action": "rerun", "ids": ["x"]},
        {"action": "stop", "ids": []},
        {"action": "stop", "ids": ["x"] * 1001},
    ):
        assert (await api("POST", "job-actions", body=bad)).status == 422


async def test_a_clone_names_its_original(engine: FakeEngine, api: Api):
    original = engine.put("original")
    answer = await api("POST", "jobs", body=creation(cloned_from=original.id))
    assert answer.json["rerun_of"] == original.id
    assert (await api("POST", "jobs", body=creation(cloned_from="x" * 1001))).status in (400, 422)


async def test_curves_are_those_of_the_log_and_losses_come_first(engine: FakeEngine, api: Api):
    job = engine.put()
    assert (await api("GET", "jobs", job.id, "curves")).json == {"of": "report", "curves": []}
    lines = [f"step {step}/1000, accuracy: {step / 1000}, loss: {1 / step}\n" for step in range(1, 1001)]
    engine.stream(job, "worker-0.1.rank-0.out", rank=0).write("".join(lines).encode(), 100.0)
    found = (await api("GET", "jobs", job.id, "curves")).json
    assert [curve["name"] for curve in found["curves"]] == ["loss", "accuracy"]
    loss = found["curves"][0]
    assert len(loss["x"]) == len(loss["values"]) == 240
    assert (loss["x"][0], loss["x"][-1], loss["values"][0]) == (1, 1000, 1.0)
