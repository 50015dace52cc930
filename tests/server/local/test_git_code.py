"""Git repositories as the code of local jobs over REST: the commit, its clone, the job page, and what is refused."""

from __future__ import annotations

import asyncio
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.snapshots.git.remote import Remotes
from tests.server.conftest import eventually
from tests.server.local.conftest import Place
from tests.server.local.test_snapshots import copies, ended, git, output, removed

SCRIPT = """
import os, helper
print(helper.WORD, os.getcwd(), os.path.dirname(os.path.abspath(__file__)))
"""


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    jp_server_config["T9kJobApp"]["git_protocols"] = ["http", "file"]
    return jp_server_config


@pytest.fixture
def origin(place: Place, tmp_path: Path) -> Path:
    """Make a repository elsewhere with a submodule and hostile parts, and the user's clone of it in the lab."""
    part = tmp_path / "part.git"
    part.mkdir()
    git(part, "init")
    (part / "part.py").write_text("PART = 'part'\n")
    git(part, "add", ".")
    git(part, "commit", "-m", "part")
    origin = tmp_path / "origin.git"
    origin.mkdir()
    git(origin, "init")
    (origin / "training").mkdir()
    (origin / "training" / "train.py").write_text(SCRIPT)
    (origin / "training" / "helper.py").write_text("WORD = 'first'\n")
    (origin / "folder").symlink_to("training")
    (origin / ".gitattributes").write_text("* filter=evil\n")
    git(origin, "add", ".")
    git(origin, "-c", "protocol.file.allow=always", "submodule", "add", f"file://{part}", "part")
    git(origin, "commit", "-m", "first; $(touch no)")
    git(origin, "tag", "-a", "v1", "-m", "one")
    git(place.root, "clone", "--quiet", f"file://{origin}", "project")
    return origin


async def form(place: Place, origin: Path, **changes: Any) -> dict[str, Any]:
    spec = await place.form("project/training/train.py")
    source = {"kind": "git", "address": f"file://{origin}", "worktree": str(place.root / "project"), **changes}
    return {**spec, "torchrun": None, "source": source}


async def test_a_job_runs_a_commit(place: Place, origin: Path) -> None:
    """The branch's commit at submission runs; jobs of one commit share a read-only clone, which goes with the last."""
    first = git(origin, "rev-parse", "HEAD")
    spec = await form(place, origin, submodules=True, folder="part")
    spec["env"] = [{"name": "X", "value": "1"}]
    (place.root / "project" / "training" / "helper.py").write_text("WORD = 'mine'\n")
    one = await place.submit({**spec, "paused": True, "name": "one"})
    two = await place.submit({**spec, "name": "two"}, "request-0002")
    source = two["spec"]["source"]
    assert (source["commit"]["id"], source["commit"]["branch"]) == (first, "main")
    job = await ended(place, two["id"])
    assert job["phase"] == "Succeeded", (job, await output(place, two["id"]))
    clone = Path(source["path"])
    assert await output(place, two["id"]) == f"first {place.root}/project/training {clone}/training\n"
    assert (clone / "part" / "part.py").exists() and not (place.root / "no").exists()
    assert (clone / "training" / "train.py").stat().st_mode & 0o222 == 0
    assert one["spec"]["source"] == source and len(copies(place)) == 1

    (origin / "training" / "helper.py").write_text("WORD = 'second'\n")
    git(origin, "commit", "-am", "second")
    third = (await place.api("POST", "jobs", two["id"], "rerun")).json  # the commit, not the branch of now
    assert (await ended(place, third["id"]))["phase"] == "Succeeded"
    assert (await output(place, third["id"])).startswith("first ")

    code = (await place.api("GET", "jobs", two["id"], "code")).json
    assert {file["path"]: file["change"] for file in code["files"] if file["change"] != "same"} == {
        "training/helper.py": "changed"
    }
    text = (await place.api("GET", "jobs", two["id"], "code-file", file="training/helper.py")).json
    assert text["diff"].endswith("-WORD = 'first'\n+WORD = 'mine'\n")
    restored = await place.api("POST", "jobs", two["id"], "restored-code", body={"folder": "old"})
    assert restored.status == 201, restored.json
    assert (place.root / "old" / "training" / "helper.py").read_text() == "WORD = 'first'\n"
    assert (place.root / "old" / "folder").readlink() == Path("training")

    await place.api("POST", "jobs", one["id"], "stop")
    for ident in (one["id"], two["id"], third["id"]):
        await ended(place, ident)
        assert len(copies(place)) == 1
        assert (await place.api("POST", "jobs", ident, "remove")).status == 204
    await eventually(lambda: not copies(place))


async def test_the_form(place: Place, origin: Path) -> None:
    """The form is told about the user's own clone, and about the repository elsewhere."""
    project = place.root / "project"
    plain = {**await place.form("project/training/train.py"), "source": None}
    facts = (await place.api("POST", "launch", "repository", body={"spec": plain})).json
    own = facts["own"]
    assert (own["worktree"], own["folder"]) == (str(project), "training")
    assert (own["address"], own["pushed"]) == (f"file://{origin}", True)
    assert (own["commit"]["branch"], own["commit"]["changed"]) == ("main", 0)
    assert facts["commit"] is None and facts["branches"] == []

    (project / "training" / "helper.py").write_text("WORD = 'mine'\n")
    git(project, "commit", "-am", "mine")
    (project / "new.py").write_text("")
    spec = await form(place, origin)
    before = {check["code"]: check for check in await place.checks(spec)}
    assert "CommitNotKnown" in before, "a preview asks no server"
    facts = (await place.api("POST", "launch", "repository", body={"spec": spec})).json
    assert facts["commit"]["id"] == git(origin, "rev-parse", "HEAD")
    assert (facts["branches"], facts["default_branch"], facts["own"]["pushed"]) == (["main", "v1"], "main", False)
    checks = {check["code"]: check for check in await place.checks(spec)}
    assert {"CommitKnown", "NotPushed", "FilesDiffer"} <= checks.keys(), checks
    assert checks["FilesDiffer"]["message"].startswith("2 files of the lab differ from ")
    gone = {**spec, "entrypoint": {"kind": "script", "value": str(project / "new.py")}}
    checks = {check["code"]: check for check in await place.checks(gone)}
    assert checks["EntrypointNotInCommit"]["level"] == "error"
    facts = (await place.api("POST", "launch", "repository", body={"spec": await form(place, origin, ref="x")})).json
    name = f"{origin.parent.name}/origin"
    assert facts["reason"] == f"There is no branch, tag or commit x in the repository {name}."


async def test_a_script_that_the_lab_does_not_have(place: Place, origin: Path) -> None:
    spec = await form(place, origin, ref="v1", folder="training", history=True)
    spec |= {"entrypoint": {"kind": "script", "value": "train.py"}, "working_dir": str(place.root)}
    spec["source"]["worktree"] = None
    job = await place.submit(spec)
    assert (await ended(place, job["id"]))["phase"] == "Succeeded"
    assert (await output(place, job["id"])).startswith(f"first {place.root} ")
    assert job["spec"]["source"]["commit"]["branch"] == "v1"


async def test_a_commit_that_is_gone(place: Place, origin: Path) -> None:
    """The clone fails after the submission: the job fails with git's own words, and leaves no clone behind."""
    job = await place.submit(await form(place, origin, ref="d" * 40))
    job = await ended(place, job["id"])
    assert job["reason"]["code"] == "CodeNotCloned", job["reason"]
    assert "There is no branch, tag or commit ddd" in job["reason"]["sentence"]
    assert "dddd" in job["reason"]["verbatim"] and job["reason"]["hint"]
    await removed(place, job["id"])


@pytest.fixture
def silent() -> Iterator[str]:
    """Start a server that takes requests for a repository and never answers the second one."""
    release = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            release.wait(300)

        def log_message(self, *_arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/a/b.git"
    release.set()
    server.shutdown()
    server.server_close()


async def test_a_branch_with_a_very_long_name(place: Place, origin: Path) -> None:
    git(origin, "branch", "-m", f"{'a' * 150}/{'b' * 150}")
    project = place.root / "project"
    git(project, "branch", "-m", f"{'a' * 150}/{'b' * 150}")
    job = await place.submit({**await form(place, origin), "paused": True})
    assert job["spec"]["source"]["commit"]["branch"] is None
    plain = {**await place.form("project/training/train.py"), "source": None}
    own = (await place.api("POST", "launch", "repository", body={"spec": plain})).json["own"]
    assert own["commit"]["branch"] is None and own["commit"]["id"] == git(origin, "rev-parse", "HEAD")
    spec = plain | {"source": {"kind": "snapshot", "folder": str(project)}, "name": "two"}
    assert (await place.submit(spec, "request-0002"))["spec"]["source"]["taken"]["commit"]["branch"] is None


async def test_a_submodule_of_a_protocol_that_is_not_allowed(place: Place, origin: Path) -> None:
    """The administrator allows file and http here: a submodule is read by no other protocol."""
    git(origin, "config", "-f", ".gitmodules", "submodule.part.url", "https://127.0.0.1:1/part.git")
    git(origin, "commit", "-am", "submodule elsewhere")
    spec = await form(place, origin, submodules=True, protocols=["https", "ssh"])
    job = await place.submit(spec)
    assert job["spec"]["source"]["protocols"] == ["http", "file"]
    job = await ended(place, job["id"])
    assert job["reason"]["code"] == "CodeNotCloned", job["reason"]
    assert "'https' not allowed" in job["reason"]["verbatim"]
    again = (await place.api("POST", "jobs", job["id"], "rerun")).json
    assert "'https' not allowed" in (await ended(place, again["id"]))["reason"]["verbatim"]


async def test_a_repository_with_too_many_branches(place: Place, origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyterlab_t9kjob.snapshots.git.remote.MOST_ANSWER", 90)
    answer = await place.create(await form(place, origin))
    assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "TooManyRefs", "/spec/source/address")


ENDLESS = """#!/bin/sh
exec awk 'BEGIN { for (i = 0; i < 2000000; i++) printf("0041%040d refs/heads/%08d\\n", i + 1, i) }'
"""


async def test_a_list_of_branches_that_does_not_end(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git holds the list in its memory, which is limited."""
    ssh = tmp_path / "ssh"
    ssh.write_text(ENDLESS)
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    monkeypatch.setattr("jupyterlab_t9kjob.snapshots.git.remote.MOST_MEMORY", 32 * 1024 * 1024)
    remotes = Remotes(["ssh"])
    with pytest.raises(FieldError) as refused:
        await remotes.ask("git@example.org:a/b")
    assert refused.value.code == "TooManyRefs", refused.value


async def test_a_repository_that_does_not_answer(
    place: Place, origin: Path, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The submission ends at its time limit; a job that clones can be paused, stopped and removed."""
    monkeypatch.setattr("jupyterlab_t9kjob.snapshots.git.remote.MOST_SECONDS", 0.5)
    spec = await form(place, origin)
    spec["source"] |= {"address": silent}
    answer = await place.create(spec)
    assert (answer.status, answer.json["code"], answer.json["field"]) == (503, "CloneTimedOut", "/spec/source/address")
    commit = {"id": git(origin, "rev-parse", "HEAD")}
    path = str(place.home / "code" / ("a" * 40) / "files")
    spec["source"] |= {"commit": commit, "path": path}  # as in a rerun: nobody asks for the commit
    job = await place.submit(spec, "request-0002")
    while (shown := (await place.api("GET", "jobs", job["id"])).json)["reason"]["code"] != "CloningCode":
        assert shown["phase"] == "Pending", shown
        await asyncio.sleep(0.05)
    assert shown["reason"]["sentence"] == f"Cloning the repository a/b at {commit['id'][:7]}"
    await removed(place, job["id"])


REFUSED: list[tuple[dict[str, str], str, str | None]] = [
    ({"address": "https://lin:secret@example.org/a.git"}, "address", None),
    ({"address": "https://token@example.org/a.git"}, "address", None),
    ({"address": "https://lin:se@cret@example.org/a.git"}, "address", None),
    ({"address": "https://token@example.org"}, "address", None),
    ({"address": "https://lin:token@example.org:123456/a"}, "address", None),
    ({"address": "https://lin:token@example_org:a/b"}, "address", None),
    ({"address": "ext://a/b"}, "address", None),
    ({"address": "ext::sh -c touch%20/tmp/x"}, "address", None),
    ({"address": "-oProxyCommand=touch"}, "address", None),
    ({"address": "ssh://-oProxyCommand=touch/x"}, "address", None),
    ({"address": "git@-oProxyCommand=x:a/b"}, "address", None),
    ({"address": "https://example.org/$(id)"}, "address", None),
    ({"address": "https://example.org/a;id"}, "address", None),
    ({"address": "/etc"}, "address", None),
    ({"address": ""}, "address", None),
    ({"address": "https://example.org/" + "a" * 3000}, "address", None),
    ({"address": "git://example.org/a"}, "address", "ProtocolRefused"),
    ({"ref": "--upload-pack=touch"}, "ref", None),
    ({"ref": "main@{1}"}, "ref", None),
    ({"ref": "a..b"}, "ref", None),
    ({"ref": "gone"}, "ref", "NoSuchCommit"),
    ({"folder": "../x"}, "folder", None),
    ({"folder": "/etc"}, "folder", None),
    ({"secret": "git-lin"}, "secret", "SecretNotUsed"),
    ({"secret": "Git_lin"}, "secret", None),
    ({"address": "file:///nowhere/at/all"}, "address", "RepositoryNotFound"),
]


async def test_what_is_refused(place: Place, origin: Path) -> None:
    spec = await form(place, origin)
    for changes, field, code in REFUSED:
        answer = await place.create({**spec, "source": spec["source"] | changes})
        assert (answer.status, answer.json["field"]) == (422, f"/spec/source/{field}"), (changes, answer.json)
        assert code is None or answer.json["code"] == code
        words = answer.json["message"]
        assert not {"String", "“", "pattern"}.intersection(re.findall(r"\w+|“", words)), words
        assert "lin:" not in answer.body.decode() and "token@" not in answer.body.decode()
    assert copies(place) == []
    assert (await place.api("GET", "jobs", deleted="true")).json["total"] == 0


def test_scripts_run_where_no_terminal_is() -> None:
    """The environment of git asks nobody, and drops what another program has set."""
    from jupyterlab_t9kjob.core.system import git_program

    env = git_program.environment(["https"])
    done = subprocess.run(
        ["git", *git_program.OPTIONS, "ls-remote", "--", "ext::sh -c id"], env=env, capture_output=True, text=True
    )
    assert "not allowed" in done.stderr
