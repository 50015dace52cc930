"""The archive of a job: exported as a stream, imported again, and refused where it is not what it should be."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.core.evictions.model import Continuation, Continues
from jupyterlab_t9kjob.core.job import Event, Failure, Frame
from jupyterlab_t9kjob.core.manifests.names import SPEC
from jupyterlab_t9kjob.core.manifests.own_fields import LAST_APPLIED
from jupyterlab_t9kjob.core.resources import Column, ResourceSource, Samples, Segment
from jupyterlab_t9kjob.core.spec import Entrypoint, EnvVar, JobSpec
from jupyterlab_t9kjob.core.system.disk_threads import DiskSilent
from jupyterlab_t9kjob.engines.imported import unpack
from jupyterlab_t9kjob.engines.imported.engine import ImportedEngine
from jupyterlab_t9kjob.engines.kubernetes.jobs import records
from jupyterlab_t9kjob.jobs.archives import without_secrets
from jupyterlab_t9kjob.stacks.model import StackDump, StackFrame, StackGroup, StackThread
from jupyterlab_t9kjob.stacks.store import MOST_DUMPS
from tests.server.conftest import Api
from tests.server.fakes import FakeEngine

OUT, ERR = "worker-0.1.rank-0.out", "worker-0.1.rank-1.out"
TOKEN = "hf_" + "x" * 34
LIMIT = 5_000_000
ANOTHER = Continuation(job="local::zz:9", problem="Its quota is used up.")  # type: ignore[arg-type]


@pytest.fixture
def fakes(fakes: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Adds the engine of imported jobs."""
    make = T9kJobApp._make_services

    def with_imported(app: T9kJobApp) -> Any:
        services = make(app)
        services.jobs.engines._engines["imported"] = ImportedEngine(tmp_path / "imported", LIMIT)
        return services

    monkeypatch.setattr(T9kJobApp, "_make_services", with_imported)
    return fakes


def samples() -> Samples:
    segment = Segment([Column("worker-0", "rank", 0, "cpu")], 1, {})
    for number in range(5):
        segment.times.append(1000.0 + number)
        segment.seconds.append(1.0)
        segment.values.append(number / 4)
    return Samples(ResourceSource("processes", "every 1 s", 1.0), tiers=[(0.0, [segment])])  # type: ignore[arg-type]


async def exported(engine: FakeEngine, api: Api, app: T9kJobApp, monkeypatch: pytest.MonkeyPatch) -> tuple[str, bytes]:
    """Return id and archive of a job with everything that a job can have."""
    spec = JobSpec(
        name="train-1",
        entrypoint=Entrypoint(value="/work/train.py"),
        args=["--api-key", "geheim-geheim", "--lr", "0.1"],
        env=[EnvVar(name="HF_TOKEN", value=TOKEN), EnvVar(name="MODE", value="fast")],
    )
    failure = Failure(
        replica="worker-0",
        attempt=1,
        exit_code=1,
        error="ValueError: bad",
        frames=[Frame(file="/work/train.py", path="train.py", line=1, function="main")],
    )
    others = {"continues": Continues(job="local::a:1", checkpoint="/c", number=1), "continuation": ANOTHER}
    job = engine.put(spec=spec, phase="Failed", ended_at=time.time(), failure=failure, mine=True, owner="lin", **others)
    log = engine.stream(job, OUT)
    log.write(b"first\n", 100.0).write(b"ValueError: bad\n", 101.0).write(b"last\n", 102.0)
    cut = engine.stream(job, ERR)
    cut.write(b"a" * 99 + b"\n", 100.0).write(b"b" * 99 + b"\n", 101.0).write(b"after the hole\n", 102.0).cut(100, 200)

    async def events(_uid: str) -> list[Event]:
        return [Event(time=100.0, reason="Started", message="It runs.")]  # type: ignore[arg-type]

    async def taken(_uid: str, _span: object) -> Samples:
        return samples()

    async def version(_uid: str) -> str:
        return "1"

    monkeypatch.setattr(engine, "events", events, raising=False)
    monkeypatch.setattr(engine, "samples", taken, raising=False)
    monkeypatch.setattr(engine, "samples_version", version, raising=False)
    stacks = (await app.services()).stacks
    frames = [StackFrame(function="main", file="/work/train.py", path="train.py", line=1)]
    group = StackGroup(members=[], title="1 rank", frames=frames, threads=[StackThread(name="t", frames=frames)])  # type: ignore[arg-type]
    dump = StackDump(id="2026-1", time=100.0, seconds=1.0, method="py-spy", ranks=1, groups=[group])
    stacks._store.put(job.id, dump)
    answer = await api("GET", "jobs", job.id, "archive")
    assert answer.status == 200
    assert 'filename="train-1.t9kjob.zip"' in answer.headers["Content-Disposition"]
    return job.id, answer.body


async def imported(api: Api, root: Path, data: bytes) -> Any:
    (root / "job.zip").write_bytes(data)
    return await api("POST", "imported-jobs", body={"path": "job.zip"})


async def test_an_imported_job_shows_what_the_exported_one_had(
    engine: FakeEngine,
    api: Api,
    app: T9kJobApp,
    jp_root_dir: Path,
    tmp_path: Path,
    open_page: Any,
    monkeypatch: pytest.MonkeyPatch,
):
    old, data = await exported(engine, api, app, monkeypatch)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        words = b"".join(archive.read(name) for name in archive.namelist())
        assert TOKEN.encode() not in words and b"geheim-geheim" not in words and b"MODE" in words
    answer = await imported(api, jp_root_dir, data)
    assert answer.status == 201, answer.json
    job = answer.json
    assert (job["engine"], job["name"], job["phase"]) == ("imported", "train-1", "Failed")
    assert job["actions"] == ["remove"] and "imported" in job["read_only"]
    assert job["failure"]["frames"][0]["path"] is None
    assert job["continues"] is None and job["continuation"] == {"job": None, "problem": "Its quota is used up."}
    assert {each["id"] for each in (await api("GET", "jobs")).json["jobs"]} == {old, job["id"]}
    assert (await api("GET", "jobs", job["id"], "events")).json["events"][0]["reason"] == "Started"
    assert (await api("GET", "jobs", job["id"], "replicas")).status == 200
    assert (await api("GET", "jobs", job["id"], "manifest")).status == 200
    text = (await api("GET", "jobs", job["id"], "log-text", streams=OUT)).body
    assert text == b"first\nValueError: bad\nlast\n"
    page = await open_page("jobs", job["id"], "logs")
    await page.until(type="streams")
    await page.send(type="read", request=1, anchor="start", lines=100)
    lines = (await page.until(type="page"))["lines"]
    assert [line["time"] for line in lines if line["stream"] == OUT] == [100.0, 101.0, 102.0]
    hole = [(line["time"], line["text"]) for line in lines if line["stream"] == ERR]
    assert hole[0] == (100.0, "a" * 99) and hole[2] == (102.0, "after the hole")
    assert "bytes were removed here" in hole[1][1]
    view = (await api("GET", "jobs", job["id"], "resources", contract=False)).json
    assert view["times"] == [1000.0, 1001.0, 1002.0, 1003.0, 1004.0]
    dumps = (await api("GET", "jobs", job["id"], "stacks")).json["dumps"]
    assert [dump["id"] for dump in dumps] == ["2026-1"]
    (group,) = dumps[0]["groups"]
    shown = [*group["frames"], *group["threads"][0]["frames"]]
    assert [(frame["file"], frame["path"]) for frame in shown] == [("/work/train.py", None)] * 2
    assert (await api("POST", "jobs", job["id"], "stop")).status == 409
    assert (await api("POST", "jobs", job["id"], "rerun")).status == 409
    space = (await api("GET", "space")).json["jobs"]
    assert [(each["id"], each["removable"]) for each in space if each["engine"] == "imported"] == [(job["id"], True)]
    again = ImportedEngine(tmp_path / "imported", LIMIT)
    await again.start()
    assert [each.id for each in await again.jobs()] == [job["id"]]

    assert (await api("POST", "jobs", job["id"], "remove")).status == 204
    assert (await api("GET", "jobs", job["id"])).status == 404
    assert list((tmp_path / "imported").iterdir()) == []
    assert (await api("GET", "jobs", old)).status == 200


async def test_a_job_that_ran_is_imported_as_one_whose_end_is_unknown(engine: FakeEngine, api: Api, jp_root_dir: Path):
    job = engine.put(phase="Running", started_at=time.time(), running_since=time.time())
    data = (await api("GET", "jobs", job.id, "archive")).body
    shown = (await imported(api, jp_root_dir, data)).json
    assert shown["phase"] == "Unknown"
    assert "had not ended" in shown["reason"]["sentence"]
    assert shown["running_since"] is None
    assert (await api("DELETE", "jobs", shown["id"])).status == 409
    assert (await api("DELETE", "jobs", shown["id"], remove="true")).status == 202
    assert (await api("GET", "jobs", shown["id"])).status == 404


MANIFEST = {
    "kind": "PyTorchJob",
    "metadata": {
        "annotations": {
            LAST_APPLIED: '{"env":[{"name":"API_KEY","value":"geheim-geheim"}]}',
            SPEC: '{"/env":[{"name":"API_KEY","value":"geheim-geheim"}]}',
            "tool": '{"env":[{"name":"API_KEY","value":"geheim-geheim"}]}',
            "other": "kept",
        }
    },
}


def test_copies_of_a_job_in_annotations_have_no_secrets() -> None:
    exported = without_secrets(MANIFEST)
    assert "geheim" not in str(exported)
    assert exported["metadata"]["annotations"]["tool"] == '{"env": [{"name": "API_KEY", "value": "***"}]}'
    kept = records.without_secrets(MANIFEST)["metadata"]["annotations"]
    assert set(kept) == {"tool", "other"}
    harmless = {"metadata": {"annotations": {SPEC: '{"/working_dir":null}'}}}
    assert without_secrets(harmless) == records.without_secrets(harmless) == harmless
    one = {"metadata": {"annotations": {SPEC: '{"/args/1":"geheim-geheim"}'}}}
    assert without_secrets(one)["metadata"]["annotations"] == {}
    assert unpack.STACKS_READ == MOST_DUMPS


async def test_a_manifest_is_kept_links_are_not_and_stacks_may_fail(
    engine: FakeEngine,
    api: Api,
    app: T9kJobApp,
    jp_root_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    _old, data = await exported(engine, api, app, monkeypatch)

    def change(members: dict[str, bytes]) -> None:
        job = json.loads(members["job.json"])
        job["failure"]["link"] = {"kind": "url", "label": "Open", "url": "javascript:alert(1)"}
        members["job.json"] = json.dumps(job).encode()
        members["manifest.json"] = json.dumps({"submitted": MANIFEST}).encode()
        members.update({f"stacks/{number}.json": members["stacks/2026-1.json"] for number in range(1000, 1020)})

    services = await app.services()
    offered: list[list[str]] = []

    async def adopt(_ident: str, stacks: dict[str, bytes]) -> None:
        offered.append(list(stacks))
        raise DiskSilent("The disk does not answer.", "/x", code="DiskSilent", hint="Wait.")  # type: ignore[arg-type]

    monkeypatch.setattr(services.stacks, "adopt", adopt)
    answer = await imported(api, jp_root_dir, changed(data, change))
    assert answer.status == 201, answer.json
    assert "could not be kept" in caplog.text
    assert offered == [["1016", "1017", "1018", "1019", "2026-1"]]
    job = answer.json
    assert job["failure"]["link"] is None
    assert job["imported_manifest"]
    assert job["id"] not in services.notifications._jobs
    shown = (await api("GET", "jobs", job["id"], "manifest")).json
    assert shown["submitted"] == MANIFEST
    with zipfile.ZipFile(io.BytesIO((await api("GET", "jobs", job["id"], "archive")).body)) as archive:
        assert json.loads(archive.read("manifest.json"))["submitted"]["kind"] == "PyTorchJob"
        again = archive.fp.getvalue()  # type: ignore[union-attr]
    second = await imported(api, jp_root_dir, again)
    assert (second.status, second.json["imported_manifest"]) == (201, True)


def changed(data: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """Return an archive with other members."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def with_link(data: bytes) -> bytes:
    info = zipfile.ZipInfo("stacks/a.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return with_member(data, info, b"/etc/passwd")


def with_member(data: bytes, name: str | zipfile.ZipInfo, content: bytes) -> bytes:
    out = io.BytesIO(data)
    with zipfile.ZipFile(out, "a") as archive, pytest.warns() if name == "job.json" else open(os.devnull):  # noqa: PTH123
        archive.writestr(name, content)
    return out.getvalue()


def with_count(data: bytes, count: int) -> bytes:
    at = data.rindex(b"PK\x05\x06")
    return data[: at + 8] + struct.pack("<HH", count, count) + struct.pack("<L", 2**31) + data[at + 16 :]


def edited(member: str, **changes: Any) -> Callable[[bytes], bytes]:
    def change(members: dict[str, bytes]) -> None:
        value = json.loads(members[member])
        (value[0] if isinstance(value, list) else value).update(changes)
        members[member] = json.dumps(value).encode()

    return lambda data: changed(data, change)


def replaced(name: str, content: bytes) -> Callable[[bytes], bytes]:
    return lambda data: changed(data, lambda members: members.update({name: content}))


def bomb(members: dict[str, bytes]) -> None:
    name = next(name for name in members if name.endswith(".log"))
    members[name] = b"\0" * (LIMIT + 1)


def with_zip64(data: bytes) -> bytes:
    """Return an archive with a ZIP64 record of a huge list of members, while the usual record has a small one."""
    at = data.rindex(b"PK\x05\x06")
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 2**40, 0)
    return data[:at] + record + struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1) + data[at:]


def with_wrong_offset(data: bytes) -> bytes:
    """Return an archive whose first member begins, by its ZIP64 header, at an offset that no file has."""
    at, end = data.index(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    after_name = at + 46 + int.from_bytes(data[at + 28 : at + 30], "little")
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 1)
    header = data[at : at + 30] + struct.pack("<H", len(extra)) + data[at + 32 : at + 42] + b"\xff" * 4
    size = int.from_bytes(data[end + 12 : end + 16], "little") + len(extra)
    directory = header + data[at + 46 : after_name] + extra + data[after_name:end]
    return data[:at] + directory + data[end : end + 12] + struct.pack("<L", size) + data[end + 16 :]


def nested(depth: int) -> bytes:
    return b'{"submitted": {"a": ' + b"[" * depth + b"]" * depth + b"}}"


def large(size: int) -> dict[str, bytes]:
    """Return two documents that are only together larger than `size`."""
    return dict.fromkeys(("events.json", "replicas.json"), b"[]" + b" " * (size * 2 // 3))


def of_stream(**changes: Any) -> Callable[[bytes], bytes]:
    def change(members: dict[str, bytes]) -> None:
        value = json.loads(members["streams.json"])
        value[0]["stream"].update(changes)
        members["streams.json"] = json.dumps(value).encode()

    return lambda data: changed(data, change)


def event(**message: Any) -> Callable[[bytes], bytes]:
    return replaced("events.json", json.dumps([{"time": 1, "reason": "A", "message": message}]).encode())


MISSING = {"sentence": "gone", "offset": 0, "since": 1e300}
INDEX = f"logs/0000-{OUT}.index"
HOSTILE: dict[str, tuple[Callable[[bytes], bytes], int, str]] = {
    "no ZIP": (lambda data: b"#!/bin/sh\n" * 100, 400, "no ZIP file"),
    "empty": (lambda data: b"", 400, "no ZIP file"),
    "cut": (lambda data: data[: len(data) // 2], 400, "no ZIP file"),
    "other ZIP": (lambda data: changed(data, lambda members: members.pop("archive.json")), 400, "not the archive"),
    "path": (lambda data: with_member(data, "../../evil.json", b""), 400, "no job has"),
    "absolute path": (lambda data: with_member(data, "/etc/evil", b""), 400, "no job has"),
    "back slashes": (lambda data: with_member(data, "logs\\..\\evil.log", b""), 400, "no job has"),
    "link": (with_link, 400, "is a link"),
    "twice": (lambda data: with_member(data, "job.json", b"{}"), 400, "twice"),
    "bomb": (lambda data: changed(data, bomb), 413, "more than 5 MB"),
    "many members": (lambda data: with_count(data, 0xFFFE), 400, "too many files"),
    "damaged": (lambda data: data.replace(b"PK\x03\x04", b"PK\x03\x05"), 400, "damaged"),
    "newer": (edited("archive.json", version=2), 400, "newer version"),
    "no JSON": (replaced("events.json", b"[[[{"), 400, "events.json in the archive is no JSON"),
    "deep JSON": (replaced("events.json", b"[" * 200_000), 400, "events.json"),
    "no number": (replaced("events.json", b'[{"time": NaN}]'), 400, "events.json in the archive is no JSON"),
    "endless number": (replaced("events.json", b'[{"time": 1e999}]'), 400, "events.json in the archive is no JSON"),
    "wrong JSON": (replaced("events.json", b'[{"a": 1}]'), 400, "not as an export writes it"),
    "name as path": (edited("job.json", name="../../x"), 400, "name that no job can have"),
    "name with colons": (edited("job.json", name="a:b"), 400, "name that no job can have"),
    "wrong index": (replaced(INDEX, b"abc"), 400, "not the index of a log"),
    "index without times": (replaced(INDEX, struct.pack("<dQ", float("nan"), 1)), 400, "not the index of a log"),
    "placeholder with an attribute": (event(message="{a.__class__}", params={"a": "x"}), 400, "not as an export"),
    "placeholder with a width": (event(message="{a:>60000000}", params={"a": "x"}), 400, "not as an export"),
    "ZIP64 record": (with_zip64, 400, "too many files"),
    "wrong offset": (with_wrong_offset, 400, "damaged"),
    "stream as path": (of_stream(id="../../../x"), 400, "log stream that no job has"),
    "stream twice": (of_stream(id=ERR), 400, "twice"),
    "endless time": (of_stream(missing=[MISSING]), 400, "wrong time"),
    "nested": (replaced("manifest.json", nested(220)), 400, "can't be kept"),
    "nested deeper": (replaced("manifest.json", nested(400)), 400, "can't be kept"),
    "surrogate": (replaced("manifest.json", b'{"submitted": {"a": "\\ud800"}}'), 400, "can't be kept"),
    "same log twice": (edited("streams.json", log=f"logs/0001-{ERR}.log"), 400, "same file"),
}


async def test_a_hostile_archive_is_refused_in_words_and_leaves_nothing(
    engine: FakeEngine,
    api: Api,
    app: T9kJobApp,
    jp_root_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    _old, data = await exported(engine, api, app, monkeypatch)
    for what, (change, status, words) in HOSTILE.items():
        answer = await imported(api, jp_root_dir, change(data))
        assert (answer.status, words in answer.json["message"]) == (status, True), (what, answer.json)
        assert not (tmp_path / "imported").exists() or list((tmp_path / "imported").iterdir()) == [], what
    with monkeypatch.context() as patch:
        patch.setattr(unpack, "MOST_JSON", len(data))
        answer = await imported(api, jp_root_dir, changed(data, lambda members: members.update(large(len(data)))))
        assert (answer.status, "documents" in answer.json["message"]) == (400, True)
    for missing in ("missing.zip", "0" * 300):
        assert (await api("POST", "imported-jobs", body={"path": missing})).status == 404
    assert (await api("POST", "imported-jobs", body={"path": "../../etc/passwd"})).status == 422
    (jp_root_dir / "folder").mkdir()
    assert (await api("POST", "imported-jobs", body={"path": "folder"})).status == 503
    assert [job["engine"] for job in (await api("GET", "jobs")).json["jobs"]] == ["local"]
