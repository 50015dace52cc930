"""Snapshots of code over REST: what is copied, what runs, what is shown, and when a copy is removed."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import WAIT, eventually
from tests.server.local.conftest import Place

SCRIPT = """
import os, helper
print(helper.WORD, os.getcwd(), os.path.dirname(os.path.abspath(__file__)))
open("out.txt", "w").write(helper.WORD)
"""


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "init.defaultBranch=main", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(place: Place) -> Path:
    folder = place.root / "project"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "helper.py").write_text("WORD = 'first'\n")
    return folder


async def form(place: Place, folder: Path, **changes: Any) -> dict[str, Any]:
    spec = await place.form(f"{folder.name}/train.py")
    source = {"kind": "snapshot", "folder": str(folder), **changes}
    return {**spec, "torchrun": None, "source": source}


async def ended(place: Place, ident: str) -> dict[str, Any]:
    deadline = asyncio.get_running_loop().time() + WAIT
    while True:
        job = (await place.api("GET", "jobs", ident)).json
        if job["phase"] in ("Succeeded", "Failed"):
            return job
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.05)


async def output(place: Place, ident: str) -> str:
    streams = (await place.api("GET", "jobs", ident, "logs")).json["streams"]
    texts = [(await place.api("GET", "jobs", ident, "logs", each["id"])).body.decode() for each in streams]
    return "".join(texts)


def copies(place: Place) -> list[Path]:
    try:
        return sorted((place.home / "code").iterdir())
    except FileNotFoundError:  # the folder goes with its last copy
        return []


async def removed(place: Place, ident: str) -> None:
    """Stop and remove a job, and wait until its copy is gone."""
    await place.api("POST", "jobs", ident, "stop")
    await ended(place, ident)
    await place.api("POST", "jobs", ident, "remove")
    await eventually(lambda: not copies(place))


async def test_a_job_runs_its_copy(place: Place, project: Path) -> None:
    """Equal files cost one copy; the working directory stays the user's; the copy goes with its last job."""
    spec = await form(place, project)
    first = await place.submit({**spec, "paused": True, "name": "one"})
    second = await place.submit({**spec, "name": "two"}, "request-0002")
    (project / "helper.py").write_text("WORD = 'second'\n")
    assert (await ended(place, second["id"]))["phase"] == "Succeeded"
    copied = Path(second["spec"]["source"]["taken"]["path"])
    assert await output(place, second["id"]) == f"first {project} {copied}\n"
    assert (project / "out.txt").read_text() == "first"
    assert first["spec"]["source"] == second["spec"]["source"]
    assert [path.name for path in copies(place)] == [second["spec"]["source"]["taken"]["digest"]]
    assert not os.access(copied / "train.py", os.W_OK) or os.geteuid() == 0
    assert (copied / "train.py").stat().st_mode & 0o222 == 0

    third = await place.api("POST", "jobs", second["id"], "rerun")  # the copy, not the files of now
    assert (await ended(place, third.json["id"]))["phase"] == "Succeeded"
    assert (await output(place, third.json["id"])).startswith("first ")

    await place.api("POST", "jobs", first["id"], "stop")
    for ident in (first["id"], second["id"], third.json["id"]):
        await ended(place, ident)
        assert len(copies(place)) == 1
        assert (await place.api("POST", "jobs", ident, "remove")).status == 204
    await eventually(lambda: not copies(place))


async def test_a_module_comes_from_the_copy(place: Place, project: Path) -> None:
    spec = {
        **await form(place, project),
        "entrypoint": {"kind": "module", "value": "train"},
        "working_dir": str(project),
    }
    job = await place.submit({**spec, "paused": True})
    (project / "helper.py").write_text("WORD = 'second'\n")
    await place.api("POST", "jobs", job["id"], "resume")
    assert (await ended(place, job["id"]))["phase"] == "Succeeded"
    assert (await output(place, job["id"])).startswith(f"first {project} ")


async def test_what_is_copied(place: Place, project: Path) -> None:
    """Git's rules, the form's patterns, links, and differences from the commit."""
    (project / ".gitignore").write_text("data/\n*.log\n!keep.log\n")
    for name in ("data/big.bin", "a.log", "keep.log", "last.pt", "sub/.gitignore", "sub/x.tmp", "sub/y.py"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("*.tmp\n" if name.endswith(".gitignore") else "x\n")
    git(project, "init")
    git(project, "add", ".")
    git(project, "commit", "-m", "first; $(touch /tmp/no)")
    (project / "helper.py").write_text("WORD = 'second'\n")
    (project / "new.py").write_text("x = 1\n")
    (project / "inside").symlink_to(project / "sub" / "y.py")
    (project / "outside").symlink_to(place.root / "train.py")
    (project / "broken").symlink_to("nowhere")
    os.mkfifo(project / "pipe")
    spec = await form(place, project, leave_out=["*.pt", "sub/none/"])
    answer = (await place.api("POST", "launch", "snapshot", body={"spec": spec})).json
    assert {file["path"]: file["change"] for file in answer["files"]} == {
        "helper.py": "changed",
        "inside": "new",
        "new.py": "new",
    }
    assert (answer["commit"]["branch"], answer["commit"]["subject"]) == ("main", "first; $(touch /tmp/no)")
    assert (answer["same"], answer["count"]) == (5, 8), answer
    assert {each["path"]: each["reason"] for each in answer["left_out"]} == {
        ".git/": "left out",
        "a.log": "left out: .gitignore",
        "broken": "left out: link out of the folder",
        "data/": "left out: .gitignore",
        "last.pt": "left out: *.pt",
        "outside": "left out: link out of the folder",
        "pipe": "left out",
        "sub/x.tmp": "left out: .gitignore",
    }
    body = {"spec": spec, "file": "helper.py"}
    diff = (await place.api("POST", "launch", "snapshot-diff", body=body)).json["diff"]
    assert diff.splitlines()[3:] == ["-WORD = 'first'", "+WORD = 'second'"]
    assert (await place.api("POST", "launch", "snapshot-diff", body={**body, "file": "a.log"})).status == 404
    job = await place.submit({**spec, "paused": True})
    taken = job["spec"]["source"]["taken"]
    assert (taken["commit"]["changed"], taken["files"], taken["size"]) == (3, 8, answer["size"])
    copied = Path(taken["path"])
    assert (copied / "inside").readlink() == Path("sub/y.py")
    assert "+WORD = 'second'" in (copied.parent / f"{taken['commit']['id']}.patch").read_text()


async def test_the_job_page(place: Place, project: Path) -> None:
    job = await place.submit({**await form(place, project), "paused": True})
    (project / "helper.py").write_text("WORD = 'second'\n")
    (project / "more.py").write_text("")
    code = (await place.api("GET", "jobs", job["id"], "code")).json
    assert (code["kept"], code["changed"]) == (True, 2)
    assert {file["path"]: file["change"] for file in code["files"]} == {
        "helper.py": "changed",
        "more.py": "new",
        "train.py": "same",
    }
    text = (await place.api("GET", "jobs", job["id"], "code-file", file="helper.py")).json
    assert text["text"] == "WORD = 'first'\n"
    assert text["diff"].endswith("-WORD = 'first'\n+WORD = 'second'\n")
    for name in ("../snapshot.json", "/etc/passwd", "gone.py"):
        assert (await place.api("GET", "jobs", job["id"], "code-file", file=name)).status == 404

    restored = await place.api("POST", "jobs", job["id"], "restored-code", body={"folder": "project-old"})
    assert (restored.status, restored.json) == (201, {"folder": "project-old", "files": 2})
    assert (place.root / "project-old" / "helper.py").read_text() == "WORD = 'first'\n"
    (place.root / "project-old" / "helper.py").write_text("")  # can be edited
    again = await place.api("POST", "jobs", job["id"], "restored-code", body={"folder": "project-old"})
    assert (again.status, again.json["code"]) == (409, "Exists")
    for folder in ("../elsewhere", "project/../../x"):
        outside = await place.api("POST", "jobs", job["id"], "restored-code", body={"folder": folder})
        assert outside.status in (404, 422), outside.json
    plain = await place.submit({**await place.form(), "name": "plain", "paused": True}, "request-0002")
    assert (await place.api("GET", "jobs", plain["id"], "code")).json["source"] is None


@pytest.mark.parametrize(
    ("folder", "leave_out", "code", "field"),
    [
        ("gone", [], "NotADirectory", "folder"),
        ("project/train.py", [], "NotADirectory", "folder"),
        ("other", [], "EntrypointNotCopied", "folder"),
        ("project", ["train.py"], "EntrypointNotCopied", "leave_out"),
        ("project", ["*.py", "!helper.py"], "EntrypointNotCopied", "leave_out"),
        ("..", [], "OutsideRoot", "folder"),
    ],
)
async def test_what_can_not_be_copied(
    place: Place, project: Path, folder: str, leave_out: list[str], code: str, field: str
) -> None:
    (place.root / "other").mkdir()
    spec = await form(place, project)
    spec["source"] = {"kind": "snapshot", "folder": str(place.root / folder), "leave_out": leave_out}
    answer = await place.refused(spec, f"/spec/source/{field}")
    assert answer.json["code"] == code


async def test_a_folder_that_is_too_large(place: Place, project: Path) -> None:
    """Sparse files have their size in no time; nothing is copied, and the largest parts are named."""
    for name in ("data/a.bin", "weights/b.bin"):
        (project / name).parent.mkdir()
        with (project / name).open("wb") as file:
            file.truncate(5_000_000_000 if name.startswith("data") else 1_000_000)
    answer = await place.refused(await form(place, project), "/spec/source/leave_out")
    assert answer.json["code"] == "SnapshotTooLarge"
    assert "5 GB" in answer.json["message"]
    assert "data (5 GB)" in answer.json["message"]
    spec = await form(place, project, leave_out=["data/"])
    found = {check["code"]: check for check in await place.checks(spec)}
    assert found["CopyFits"]["message"] == "The copy fits: 1 MB, at most 200 MB."


async def test_files_that_look_like_secrets_are_named(place: Place, project: Path) -> None:
    for name in (".env", "deploy.pem", ".env.example", "tokenizer.json", "keys.py"):
        (project / name).write_text("x")
    found = {check["code"]: check for check in await place.checks(await form(place, project))}
    assert found["SecretFiles"]["message"] == ".env and deploy.pem look like keys or tokens and are copied."


async def test_a_copy_that_is_gone(place: Place, project: Path) -> None:
    """A snapshot that a spec names is made again from equal files, and refused if the files have changed."""
    job = await place.submit({**await form(place, project), "paused": True, "name": "one"})
    spec = {**job["spec"], "name": "two"}
    await removed(place, job["id"])
    again = await place.submit(spec, "request-0002")
    assert again["spec"]["source"] == job["spec"]["source"]
    await removed(place, again["id"])
    (project / "helper.py").write_text("WORD = 'second'\n")
    answer = await place.create(spec, "request-0003")
    assert (answer.status, answer.json["code"]) == (422, "SnapshotGone")
    assert copies(place) == []


async def test_a_refused_job_leaves_no_copy(place: Place, project: Path) -> None:
    spec = {**await form(place, project), "elastic": {"min": 1, "max": 2}, "torchrun": {}}
    await place.refused(spec, "/spec/elastic")


async def test_a_notebook(place: Place, project: Path) -> None:
    (project / "train.ipynb").write_text(
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": '
        '"import helper\\nprint(helper.WORD)", "metadata": {}, "outputs": [], "execution_count": null}]}'
    )
    spec = await form(place, project)
    spec["entrypoint"] = {"kind": "notebook", "value": str(project / "train.ipynb")}
    job = await place.submit(spec)
    (project / "helper.py").write_text("WORD = 'second'\n")
    assert (await ended(place, job["id"]))["phase"] == "Succeeded"
    assert "first" in await output(place, job["id"])
