"""Jobs that can't run are refused with a sentence at the field, and leave no files."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.patience import PATIENCE
from tests.server.local.conftest import Place, listing

ENTRYPOINT = "/spec/entrypoint/value"
KERNEL = "/spec/runtime/kernel"


def script_of(place: Place, name: str, kind: str = "script") -> dict[str, Any]:
    return {"kind": kind, "value": str(place.root / name)}


# -- scripts ----------------------------------------------------------------------------------------------------------


def make_odd_files(root: Path) -> None:
    (root / "folder.py").mkdir()
    os.mkfifo(root / "pipe.py")
    (root / "broken.py").symlink_to(root / "nothing.py")
    (root / "loop.py").symlink_to(root / "loop.py")
    (root / "device.py").symlink_to("/dev/zero")
    (root / "data.csv").write_text("1")
    (root / "syntax.py").write_text("import os\n\nif True:\n    x = (1,\n")
    (root / "nul.py").write_bytes(b"print(1)\n\0")
    (root / "latin.py").write_bytes(b"# a comment\nx = '\xe4'\n")
    (root / "cookie.py").write_bytes(b"# -*- coding: klingon -*-\nx = 1\n")
    with (root / "huge.py").open("wb") as file:
        file.truncate(100 * 1024**2)
    server = socket.socket(socket.AF_UNIX)
    os.chdir(root)  # a socket's path must be short
    server.bind("socket.py")
    server.close()


ODD_FILES = [
    ("gone.py", "does not exist"),
    ("folder.py", "is a folder"),
    ("pipe.py", "can't be read"),
    ("device.py", "can't be read"),
    ("socket.py", "can't be read"),
    ("broken.py", "does not exist"),
    ("loop.py", "can't be read"),
    ("data.csv", "neither a Python script nor a notebook"),
    ("syntax.py", "line 4, column 9"),
    ("nul.py", "NUL byte in line 2"),
    ("latin.py", "in line 2 that are not utf-8"),
    ("cookie.py", "klingon"),
    ("huge.py", "larger than 4 MiB"),
    ("a" * 300 + ".py", "can't be read"),
]
OPENS = {"syntax.py", "nul.py", "latin.py", "cookie.py", "huge.py"}


@pytest.mark.parametrize(("name", "words"), ODD_FILES, ids=[name[:20] for name, _ in ODD_FILES])
async def test_odd_scripts(place: Place, monkeypatch: pytest.MonkeyPatch, name: str, words: str):
    spec = await place.form()
    monkeypatch.chdir(place.root)
    make_odd_files(place.root)
    answer = await place.refused({**spec, "entrypoint": script_of(place, name)}, ENTRYPOINT)
    assert words in answer.json["message"] and answer.json["hint"]
    form = await place.api("POST", "launch", "prefill", body={"path": name})
    if name in OPENS:  # the form opens and says it at the field, with a link to the place
        check = form.json["checks"][0]
        assert (check["level"], check["field"], check["message"]) == ("error", ENTRYPOINT, answer.json["message"])
        assert check["link"]["path"] == name
        assert check["link"]["line"] == (4 if name == "syntax.py" else check["link"]["line"])
    else:
        assert form.status == (404 if "does not exist" in words else 422)
        assert (form.json["field"], words in form.json["message"]) == ("/path", True), form.json


@pytest.mark.parametrize("name", ["pipe.py", "device.py", "syntax.py", "gone.py", "folder.py", "outside"])
async def test_the_script_of_one_replica_type_is_looked_at_as_well(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path
):
    spec = await place.form()
    monkeypatch.chdir(place.root)
    make_odd_files(place.root)
    (tmp_path / "outside.py").write_text("1")
    entrypoint = script_of(place, name) if name != "outside" else {"value": str(tmp_path / "outside.py")}
    group = {"type": "other", "entrypoint": entrypoint}
    await place.refused({**spec, "replica_specs": [{}, group]}, "/spec/replica_specs/1/entrypoint/value")


async def test_scripts_outside_the_root(place: Place, tmp_path: Path):
    (tmp_path / "outside.py").write_text("print(1)")
    spec = await place.form()
    for value in (tmp_path / "outside.py", place.root / ".." / "outside.py", Path("/etc/passwd")):
        answer = await place.refused({**spec, "entrypoint": {"value": str(value)}}, ENTRYPOINT)
        assert answer.json["code"] == "OutsideRoot" and answer.json["hint"]
    for path in ("../outside.py", "a/../../outside.py", "RTC:../outside.py"):
        form = await place.api("POST", "launch", "prefill", body={"path": path})
        assert (form.status, form.json["code"], form.json["field"]) == (422, "OutsideRoot", "/path")


async def test_a_script_that_is_another_one_at_submission(place: Place):
    spec = await place.form()
    script = place.root / "train.py"
    script.write_text("print(")
    assert "line 1" in (await place.refused(spec, ENTRYPOINT)).json["message"]
    script.unlink()
    assert "does not exist" in (await place.refused(spec, ENTRYPOINT)).json["message"]
    script.mkdir()
    assert "is a folder" in (await place.refused(spec, ENTRYPOINT)).json["message"]


async def test_encodings_that_python_reads(place: Place):
    texts = {
        "cookie.py": "# -*- coding: latin-1 -*-\nprint('ä')\n".encode("latin-1"),
        "mark.py": "\ufeffprint('ä')\n".encode(),
        "dos.py": b"print(1)\r\nprint(2)\r\n",
    }
    for number, (name, data) in enumerate(texts.items()):
        (place.root / name).write_bytes(data)
        assert [c for c in await place.checks(await place.form(name)) if c["level"] == "error"] == [], number


# -- notebooks --------------------------------------------------------------------------------------------------------

V3 = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": "old"},
    "worksheets": [{"cells": [{"cell_type": "code", "language": "python", "input": ["print(3)"], "outputs": []}]}],
}


def many_cells(count: int) -> bytes:
    """Return a notebook of many cells; every second one runs a command."""
    cells = [{"cell_type": "code", "source": f"!echo {n}" if n % 2 else f"x{n} = {n}"} for n in range(count)]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


async def test_notebooks_that_are_none(place: Place):
    empty = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# words"), nbformat.v4.new_code_cell(" ")])
    wrong = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1"), nbformat.v4.new_code_cell("x = 1\nif (")])
    other = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("1")],
        metadata={"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}},
    )
    cases = {
        "text.ipynb": (b"no json", "is not a Jupyter notebook"),
        "list.ipynb": (b"[]", "is not a Jupyter notebook"),
        "nothing.ipynb": (b"", "is not a Jupyter notebook"),
        "deep.ipynb": (b'{"cells":' + b"[" * 100_000, "is not a Jupyter notebook"),
        "words.ipynb": (nbformat.writes(empty).encode(), "has no code"),
        "wrong.ipynb": (nbformat.writes(wrong).encode(), "cell 2, line 2"),
        "other.ipynb": (nbformat.writes(other).encode(), "notebook in R"),
        "cells.ipynb": (many_cells(10_001), "more than 10000 cells"),
    }
    spec = await place.form()
    for name, (data, words) in cases.items():
        (place.root / name).write_bytes(data)
        answer = await place.refused({**spec, "entrypoint": script_of(place, name, "notebook")}, ENTRYPOINT)
        assert words in answer.json["message"] and answer.json["hint"], answer.json
        form = await place.api("POST", "launch", "prefill", body={"path": name})
        if form.status == 200:
            assert name == "wrong.ipynb" and form.json["checks"][0]["link"]["label"] == "wrong.ipynb, cell 2"
        else:
            assert (form.status, form.json["field"]) == (422, "/path"), form.json
            assert words in form.json["message"]


async def test_an_old_notebook(place: Place):
    (place.root / "old.ipynb").write_text(json.dumps(V3))
    spec = await place.form("old.ipynb")
    assert [check for check in await place.checks(spec) if check["level"] == "error"] == []
    (place.root / "old.t9kjob.py").write_text("mine")
    answer = await place.create(spec)
    assert (answer.status, answer.json["code"], answer.json["field"]) == (409, "ScriptExists", ENTRYPOINT)
    assert (place.root / "old.t9kjob.py").read_text() == "mine"


async def test_a_notebook_of_two_thousand_cells(place: Place):
    (place.root / "cells.ipynb").write_bytes(many_cells(2000))
    form = (await place.api("POST", "launch", "prefill", body={"path": "cells.ipynb"})).json
    assert len(form["notebook"]["cells"]) == 2000
    assert [check for check in await place.checks(form["spec"]) if check["level"] == "error"] == []


async def test_a_refused_notebook_leaves_no_script(place: Place):
    """An error in another field is found before the notebook's script is written."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1)")])
    nbformat.write(notebook, place.root / "explore.ipynb")
    spec = await place.form("explore.ipynb")
    for change, field in [
        ({"working_dir": "/gone"}, "/spec/working_dir"),
        ({"replica_specs": [{"resources": {"device": {"count": 1000}}}]}, "/spec/replica_specs/0/resources/device"),
        ({"runtime": {"kernel": "gone"}}, KERNEL),
    ]:
        await place.refused({**spec, **change}, field)
    job = await place.submit({**spec, "paused": True})
    script = place.root / "explore.t9kjob.py"
    script.unlink()
    answer = await place.create({**spec, "paused": True}, "request-0002")
    assert (answer.status, answer.json["field"]) == (409, "/spec/name")
    assert not script.exists()
    assert (await place.api("DELETE", "jobs", job["id"], remove="true")).status == 202


# -- names, environment, sizes ----------------------------------------------------------------------------------------

ODD_NAMES = [
    "../x",
    "..",
    "",
    "a" * 41,
    "a" * 200,
    "🚀",
    "Train",
    "train-",
    "-train",
    "1train",
    "a_b",
    "a b",
    "a\n",
    "a\0",
    "ä",
]


async def test_odd_names(place: Place):
    spec = await place.form()
    for name in ODD_NAMES:
        answer = await place.refused({**spec, "name": name}, "/spec/name")
        assert "small letters, digits and dashes" in answer.json["message"] and "train-1" in answer.json["hint"]


async def test_the_name_of_another_job(place: Place):
    spec = await place.form(paused=True)
    job = await place.submit(spec)
    before = sorted(path.name for path in (place.home / "jobs").iterdir())
    answer = await place.create(spec, "request-0002")
    assert (answer.status, answer.json["field"], answer.json["code"]) == (409, "/spec/name", "NameTaken")
    assert sorted(path.name for path in (place.home / "jobs").iterdir()) == before
    errors = [check for check in await place.checks(spec) if check["level"] == "error"]
    assert [(check["code"], check["field"]) for check in errors] == [("NameTaken", "/spec/name")]
    assert (await place.api("DELETE", "jobs", job["id"])).status == 202


ODD_VARIABLES = [
    ({"name": "A=B", "value": "x"}, "name", "letters, digits and underscores"),
    ({"name": "", "value": "x"}, "name", "letters, digits and underscores"),
    ({"name": "A B", "value": "x"}, "name", "letters, digits and underscores"),
    ({"name": "1A", "value": "x"}, "name", "letters, digits and underscores"),
    ({"name": "Ä", "value": "x"}, "name", "letters, digits and underscores"),
    ({"name": "A\0", "value": "x"}, "name", "letters, digits and underscores"),
    ({"name": "A\n", "value": "x"}, "name", "letters, digits and underscores"),
    ({"name": "A" * 257, "value": "x"}, "name", "256 characters"),
    ({"name": "A", "value": "x\0y"}, "value", "NUL"),
    ({"name": "A", "value": "x" * 200_000}, "value", "longer than"),
    ({"name": "T9KJOB_UID", "value": "x"}, "name", "T9KJOB_"),
    ({"name": "T9KJOB_LOG_DIR", "value": "x"}, "name", "T9KJOB_"),
]


@pytest.mark.parametrize(
    ("variable", "part", "words"), ODD_VARIABLES, ids=[repr(v[0]["name"])[:20] + v[1] for v in ODD_VARIABLES]
)
async def test_odd_environment(place: Place, variable: dict[str, str], part: str, words: str):
    spec = await place.form()
    answer = await place.refused({**spec, "env": [{"name": "OK"}, variable]}, f"/spec/env/1/{part}")
    assert words in answer.json["message"]
    group = {"env": [variable]}
    await place.refused({**spec, "replica_specs": [group]}, f"/spec/replica_specs/0/env/0/{part}")


async def test_variables_that_the_job_sets_itself(place: Place):
    spec = await place.form(
        env=[{"name": "LOCAL_RANK", "value": "7"}, {"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    )
    found = {check["field"]: check for check in await place.checks(spec) if check["level"] == "warning"}
    assert "torchrun" in found["/spec/env/0/name"]["message"]
    assert "twice" in found["/spec/env/2/name"]["message"]
    off = await place.checks({**spec, "torchrun": None})
    assert "/spec/env/0/name" not in {check["field"] for check in off}


async def test_more_than_a_process_can_be_given(place: Place):
    spec = await place.form()
    cases = [
        (["a"] * 100_000, "/spec/args", "10000 entries or fewer"),
        (["a", "b\0c"], "/spec/args/1", "NUL"),
        (["a", "b" * 200_000], "/spec/args/1", "longer than"),
        (["b" * 100_000] * 8, None, None),
    ]
    for args, field, words in cases:
        if field is not None:
            answer = await place.refused({**spec, "args": args}, field)
            assert words in answer.json["message"]
        else:
            checks = await place.checks({**spec, "args": args})
            assert [check for check in checks if check["level"] == "error"] == []
    answer = await place.create({**spec, "args": ["x" * 3_000_000]})
    assert answer.status == 413 and answer.json["hint"]


async def test_more_than_the_system_passes_together(place: Place, monkeypatch: pytest.MonkeyPatch):
    spec = await place.form()
    limits = {"SC_ARG_MAX": 300_000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr("jupyterlab_t9kjob.engines.local.plan.argument_checks.os.sysconf", limits.__getitem__)
    answer = await place.refused({**spec, "args": ["b" * 100_000] * 4}, "/spec/args")
    assert "together" in answer.json["message"] and answer.json["hint"]


async def test_more_than_this_machine_can_be(place: Place):
    spec = await place.form()
    answer = await place.refused({**spec, "replica_specs": [{"replicas": 10_000}]}, "/spec/replica_specs/0/replicas")
    assert "10000" in answer.json["message"]
    many = [{"type": f"t{number}", "replicas": 10_000} for number in range(60)]
    await place.refused({**spec, "replica_specs": many}, "/spec/replica_specs/0/replicas")
    await place.refused({**spec, "replica_specs": many * 2}, "/spec/replica_specs")
    await place.refused({**spec, "torchrun": {"proc_per_node": 1025}}, "/spec/torchrun/proc_per_node")


async def test_modules_and_commands_that_are_options(place: Place):
    spec = await place.form()
    for kind in ("module", "command"):
        for value in ("--help", "-c"):
            answer = await place.refused({**spec, "entrypoint": {"kind": kind, "value": value}}, ENTRYPOINT)
            assert "dash" in answer.json["message"]


# -- folders ----------------------------------------------------------------------------------------------------------


async def test_odd_working_directories(place: Place):
    (place.root / "file").write_text("")
    (place.root / "loop").symlink_to("loop")
    spec = await place.form()
    cases = {
        "/gone": "does not exist",
        str(place.root / "file"): "not a folder",
        str(place.root / "file" / "below"): "not a folder",
        str(place.root / "loop"): "can't be entered",
        "relative": "absolute path",
        f"/{'x' * 300}": "can't be entered",
    }
    for value, words in cases.items():
        answer = await place.refused({**spec, "working_dir": value}, "/spec/working_dir")
        assert words in answer.json["message"], (value, answer.json)
    await place.refused({**spec, "working_dir": "/x" * 4000}, "/spec/working_dir")
    await place.refused({**spec, "working_dir": "/x\0"}, "/spec/working_dir")


async def test_odd_log_directories(place: Place):
    (place.root / "file").write_text("")
    spec = await place.form()
    cases = {
        str(place.root / "file"): "is a file",
        str(place.root / "file" / "runs"): "is a file",
        "runs": "absolute path",
        "": "absolute path",
        "/x\0": "NUL",
        "/x" * 4000: "4096",
    }
    for value, words in cases.items():
        tensorboard = {"log_dirs": [str(place.root / "runs"), value]}
        answer = await place.refused({**spec, "tensorboard": tensorboard}, "/spec/tensorboard/log_dirs/1")
        assert words in answer.json["message"]


# -- kernels ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def kernelspec(jp_data_dir: Path) -> Any:
    def make(name: str, content: Any) -> None:
        folder = jp_data_dir / "kernels" / name
        folder.mkdir(parents=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / "kernel.json").write_text(text)

    return make


RUN = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]


async def test_odd_kernels(place: Place, kernelspec: Any):
    kernelspec("no-json", "no json")
    kernelspec("no-command", {"argv": [], "language": "python", "display_name": "None"})
    kernelspec("empty-command", {"argv": [""], "language": "python", "display_name": "Empty"})
    kernelspec("wrong-types", {"argv": 5, "language": ["python"], "display_name": {}, "env": [1]})
    kernelspec("python-gone", {"argv": ["/gone/bin/python", *RUN], "language": "python", "display_name": "Gone"})
    kernelspec("nul", {"argv": ["/bin/\0python", *RUN], "language": "python", "display_name": "NUL"})
    kernelspec("folder", {"argv": [str(place.root), *RUN], "language": "python", "display_name": "Folder"})
    kernelspec(
        "odd-env", {"argv": ["/gone/python", *RUN], "language": "python", "display_name": "x", "env": {"A": None}}
    )
    kernelspec("r", {"argv": ["R"], "language": "R", "display_name": "R"})
    spec = await place.form()
    names = [
        "no-json",
        "no-command",
        "empty-command",
        "wrong-types",
        "python-gone",
        "nul",
        "folder",
        "odd-env",
        "r",
        "gone",
    ]
    for name in [*names, "../x", "x" * 256]:
        answer = await place.refused({**spec, "runtime": {"kernel": name}}, KERNEL)
        assert answer.json["hint"]
    group = {"type": "other", "runtime": {"kernel": "python-gone"}}
    await place.refused({**spec, "replica_specs": [{}, group]}, "/spec/replica_specs/1/runtime/kernel")
    # one that is broken does not hide the others
    form = await place.api("POST", "launch", "prefill", body={"path": "train.py"})
    found = {kernel["name"]: kernel for kernel in form.json["kernels"]}
    assert found["python3"]["enabled"] and not found["python-gone"]["enabled"]
    assert "/gone/bin/python" in found["python-gone"]["reason"]


async def test_a_kernel_whose_python_hangs(place: Place, kernelspec: Any, monkeypatch: pytest.MonkeyPatch):
    """The kernel is asked once, its processes are ended, and a note at the field says what is not known."""
    monkeypatch.setattr("jupyterlab_t9kjob.launch.kernels.kernels.PROBE_SECONDS", 3.0)
    python = place.root / "python"
    started = place.root / "started"
    python.write_text(f"#!/bin/sh\necho $$ >> {started}\nsleep 1000 &\nwait\n")
    python.chmod(0o755)
    kernelspec("hangs", {"argv": [str(python), *RUN], "language": "python", "display_name": "Hangs"})
    spec = await place.form(runtime={"kernel": "hangs"})
    for _ in range(3):
        warning = next(check for check in await place.checks(spec) if check["field"] == KERNEL)
        assert (warning["level"], warning["code"]) == ("warning", "KernelSilent")
    assert len(started.read_text().split()) == 1
    assert living_in_session(int(started.read_text())) == []


def living_in_session(session: int) -> list[str]:
    """Return the processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(entry.name)
    return found


# -- bodies -----------------------------------------------------------------------------------------------------------


async def test_odd_bodies(place: Place):
    spec = await place.form()
    good = json.dumps({"spec": spec, "request_id": "request-0001"}).encode()
    before = listing(place.root, place.home)
    for body in [
        b"\x1f\x8b\x08\x00",
        b"{}" * 2,
        good + b"x",
        good.replace(b'"train-1"', b'"\\ud800"'),
        good.decode().encode("utf-16"),
        b'{"spec":' * 10_000 + b"1" + b"}" * 10_000,
        good.replace(b'"request-0001"', b"1e400"),
        good.replace(b'"request-0001"', b"9" * 5000),
        b"<xml/>",
        b"spec=1",
    ]:
        answer = await place.api("POST", "jobs", raw=body)
        assert 400 <= answer.status < 500 and answer.json["message"], body[:50]
    for number in (b"1e400", b"-1", b"9" * 4000, b"9" * 400_000, b"1.5", b"NaN"):
        body = good.replace(b'"proc_per_node": 1', b'"proc_per_node": ' + number)
        assert (await place.api("POST", "jobs", raw=body)).status in (400, 422)
    assert listing(place.root, place.home) == before
    twice = good[:-1] + b', "spec": ' + json.dumps({**spec, "name": "Not a name"}).encode() + b"}"
    answer = await place.api("POST", "jobs", raw=twice)
    assert (answer.status, answer.json["field"]) == (422, "/spec/name")  # the last one counts, as in every parser


async def test_content_types_and_encodings(place: Place, jp_auth_header: dict[str, str]):
    spec = await place.form()
    body = json.dumps({"spec": {**spec, "name": "No"}, "request_id": "request-0001"}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x", ""):
        headers = {**jp_auth_header, "Content-Type": kind}
        answer = await place.api("POST", "jobs", raw=body, headers=headers)
        assert (answer.status, answer.json["field"]) == (422, "/spec/name"), kind
    headers = {**jp_auth_header, "Content-Encoding": "gzip"}
    assert (await place.api("POST", "jobs", raw=b"\x1f\x8b\x08\x00", headers=headers)).status in (400, 415)


async def test_a_chunked_body_that_never_ends(place: Place, jp_http_port: int, jp_base_url: str, jp_auth_header: Any):
    """The body is read and dropped, so that the client gets an answer; many silent connections do not block others."""
    idle = [await asyncio.open_connection("127.0.0.1", jp_http_port) for _ in range(100)]
    for _, writer in idle:
        writer.write(f"GET {jp_base_url}t9kjob/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websoc".encode())
    reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
    token = jp_auth_header["Authorization"]
    writer.write(
        f"POST {jp_base_url}t9kjob/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n".encode()
    )
    for _ in range(50):
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()
    assert (await place.api("GET", "engines")).status == 200
    writer.write(b"0\r\n\r\n")
    assert b" 413 " in await asyncio.wait_for(reader.readline(), PATIENCE)
    for _, other in [*idle, (reader, writer)]:
        other.close()
