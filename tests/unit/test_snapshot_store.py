"""The store of copies against folders that other users of a volume have written, and against races."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.system import local_git
from jupyterlab_t9kjob.snapshots.file_list import as_json
from jupyterlab_t9kjob.snapshots.git import blobs, commits
from jupyterlab_t9kjob.snapshots.git.blobs import Blobs
from jupyterlab_t9kjob.snapshots.hashes import StoredFile, digest_of, link_hash, stored_bytes
from jupyterlab_t9kjob.snapshots.job_code import Copy, _committed, _restore
from jupyterlab_t9kjob.snapshots.listing import list_files
from jupyterlab_t9kjob.snapshots.patterns import Ignore
from jupyterlab_t9kjob.snapshots.store import CREATION, SnapshotStore


def forged(store: SnapshotStore, files: list[StoredFile], **changes: Any) -> str:
    """Write the list of a copy with its right digest, as another user of the volume may do; return the digest."""
    digest = digest_of(files)
    folder = store.folder / digest
    (folder / "jobs").mkdir(parents=True)
    listed = [{**as_json(file), **changes} for file in files]
    (folder / "snapshot.json").write_text(json.dumps({"time": "soon", "files": listed}))
    return digest


def link(path: str, target: str) -> StoredFile:
    return StoredFile(path, 0, False, link_hash(target), target)


@pytest.mark.parametrize(
    "files",
    [
        [stored_bytes("../startup.py", b"x")],
        [stored_bytes("a/../../startup.py", b"x")],
        [stored_bytes("/etc/startup.py", b"x")],
        [stored_bytes("a//b", b"x")],
        [stored_bytes("", b"x")],
        [stored_bytes("a\0b", b"x")],
        [link("a", "/etc/passwd")],
        [link("a", "../secret")],
        [link("a/b", "../../secret")],
        [link("a", "."), link("b", "a/../secret")],
        [link("a", "/home"), stored_bytes("a/b", b"x")],
        [stored_bytes("a", b"x"), link("a/b", "c")],
    ],
    ids=lambda files: " ".join(file.path or "empty" for file in files).replace("\0", "NUL"),
)
def test_a_list_that_leads_out_of_the_copy_counts_as_damaged(tmp_path: Path, files: list[StoredFile]) -> None:
    store = SnapshotStore(tmp_path / "code")
    assert store.files(forged(store, files)) is None


@pytest.mark.parametrize("changes", [{"size": "large"}, {"size": -1}, {"executable": []}, {"target": 5}, {"more": 1}])
def test_a_list_with_wrong_types_counts_as_damaged(tmp_path: Path, changes: dict[str, Any]) -> None:
    store = SnapshotStore(tmp_path / "code")
    digest = forged(store, [stored_bytes("train.py", b"x")], **changes)
    assert store.files(digest) is None
    assert store.make_room(0, lambda _user: False, "") == []


def test_a_pipe_in_place_of_the_list_or_of_a_note_is_not_waited_for(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "code")
    digest = forged(store, [stored_bytes("train.py", b"x")])
    os.mkfifo(store.folder / digest / "jobs" / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):  # Nobody may take the copy for unused.
        store.users(digest)
    (store.folder / digest / "snapshot.json").unlink()
    os.mkfifo(store.folder / digest / "snapshot.json")
    assert store.files(digest) is None


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)\n")
    (folder / "sub" / "link").symlink_to("../train.py")
    return folder


def test_a_copy_is_used_from_its_first_moment(tmp_path: Path, project: Path) -> None:
    """Another lab that makes room, or removes the last job of the same copy, does not remove a copy in use."""
    store = SnapshotStore(tmp_path / "code")
    files = store.add(project, list_files(project, []).files, f"{CREATION}1")
    digest = digest_of(files)
    assert store.files(digest) == files
    assert store.make_room(0, lambda _user: True, "") == []
    store.use(digest, "local:1")
    store.add(project, list_files(project, []).files, f"{CREATION}2")
    assert not store.release(digest, f"{CREATION}1") and not store.release(digest, "local:1")
    assert store.users(digest) == [f"{CREATION}2"]
    assert store.release(digest, f"{CREATION}2") and not store.folder.exists()


def test_a_copy_that_is_removed_while_it_is_chosen_is_made_again(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SnapshotStore(tmp_path / "code")
    entries = list_files(project, []).files
    digest = digest_of(store.add(project, entries, "local:1"))
    has = store.has

    def removed_after(wanted: str) -> bool:
        found = has(wanted)
        store.release(wanted, "local:1")
        return found

    monkeypatch.setattr(store, "has", removed_after)
    store.add(project, entries, "local:2")
    assert store.users(digest) == ["local:2"] and (store.path(digest) / "train.py").exists()


def test_an_old_copy_that_another_process_looks_at_is_not_taken_for_remains(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SnapshotStore(tmp_path / "code")
    digest = digest_of(store.add(project, list_files(project, []).files, "local:1"))
    os.utime(store.folder / digest, (0, 0))
    rename = Path.rename

    def meanwhile(path: Path, target: Path) -> Path:
        moved = rename(path, target)
        if target.name.startswith(".new-"):  # Another lab begins a copy now, and a job is noted.
            (target / "jobs" / "job").write_text("local:2")
            SnapshotStore(store.folder)._remove_stale()
        return moved

    monkeypatch.setattr(Path, "rename", meanwhile)
    assert not store.release(digest, "local:1")
    assert store.users(digest) == ["local:2"] and (store.path(digest) / "train.py").exists()


def test_a_large_committed_file_is_not_read_into_memory(tmp_path: Path) -> None:
    """The limit of an answer holds while git writes it."""
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.compression=0"]
    subprocess.run([*run, "init", "--quiet"], cwd=tmp_path, check=True)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(64_000_000)
    subprocess.run([*run, "add", "large"], cwd=tmp_path, check=True)
    subprocess.run([*run, "commit", "--quiet", "-m", "large"], cwd=tmp_path, check=True)
    head = commits.head_of(tmp_path)
    assert head is not None
    blobs = commits.blobs_of(tmp_path, head.id)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert blobs is not None and commits.contents(tmp_path, blobs["large"], 1000) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


@pytest.mark.parametrize("pattern", ["*a" * 12 + "b", "**/x/" * 8 + "b", "[*]*" * 9 + "b"])
def test_patterns_that_take_long_to_match(tmp_path: Path, pattern: str) -> None:
    """Rules of a file that could keep the server busy for hours are passed over; those of the form are refused."""
    (tmp_path / ".gitignore").write_text(f"*.log\n{pattern}\n!keep.log\n")
    ignore = Ignore(tmp_path, ["**/*.pt", "*_*_*.bin"])
    ignore.enter("", tmp_path)
    assert ignore.rule_for("a" * 250) is None and ignore.rule_for("x/" * 100 + "c") is None
    assert ignore.rule_for("a.log") == ".gitignore" and ignore.rule_for("keep.log") is None
    assert ignore.rule_for("a/b.pt") == "**/*.pt" and ignore.rule_for("a_b_c.bin") == "*_*_*.bin"
    with pytest.raises(ValueError, match="wildcards"):
        Ignore(tmp_path, [pattern])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with committed files that its ignore files match."""
    folder = tmp_path / "repository"
    ignore = "data/\nlib/\n*.json\n*.pem\nrun/*\n"
    files = {
        ".gitignore": ignore,
        "train.py": "import data.loader, lib.util\n",
        "config.json": "{}",
        "run/start.py": "x",
        "lib/util.py": "x",
        "data/.gitignore": "!*\n",
        "data/__init__.py": "",
        "data/loader.py": "",
        "data/weights.pt": "",
        "data/deep/er/größe.py": "",
        "data/moved/old.py": "",
        "data/gone.py": "",
        "data/env/pyvenv.cfg": "",
        "data/env/lib.py": "",
        "data/.t9kjob/x": "",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "data/link.py").symlink_to("loader.py")
    (folder / "data/out.py").symlink_to(tmp_path / "secret.py")
    git(folder, "init", "-q")
    git(folder, "add", "-Af")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    (folder / "other.json").write_text("{}")
    (folder / "run/log.txt").write_text("x")
    (folder / "data/images/1").mkdir(parents=True)
    for number in range(20):
        (folder / f"data/images/1/{number}.png").write_text("pixels")
    (folder / "data/gone.py").unlink()
    (tmp_path / "secret.py").write_text("x")
    (folder / "data/moved").rename(tmp_path / "moved")
    (folder / "data/moved").symlink_to(tmp_path / "moved")
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def test_files_that_git_tracks_are_copied_although_its_rules_match_them(repository: Path) -> None:
    listing = list_files(repository, ["*.pt"], count=True)
    data = ["data/.gitignore", "data/__init__.py", "data/deep/er/größe.py", "data/link.py", "data/loader.py"]
    expected = [".gitignore", "config.json", *data, "lib/util.py", "run/start.py", "train.py"]
    assert [entry.path for entry in listing.files] == expected
    left_out = {each.path: (each.rule, each.files) for each in listing.left_out if each.path != ".git/"}
    assert left_out == {  # 20 images, the weights, the files of two folders, and two links
        "data/": (".gitignore", 26),
        "other.json": (".gitignore", 1),
        "run/log.txt": (".gitignore", 1),
    }
    assert sum(each.size for each in listing.left_out if each.path == "data/") >= 20 * len("pixels")


def test_the_patterns_of_the_form_leave_out_what_git_tracks(repository: Path) -> None:
    listing = list_files(repository, ["*.json", "data/deep/", "!data/deep/er/", "lib/"], count=True)
    names = [entry.path for entry in listing.files]
    assert "data/loader.py" in names and "data/weights.pt" in names
    assert not [name for name in names if name.endswith(".json") or name.startswith(("lib/", "data/deep/"))]
    assert [entry.path for entry in list_files(repository, ["data/"]).files if entry.path.startswith("data")] == []


def test_a_folder_of_a_repository_and_one_that_git_does_not_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "data/.gitignore").write_text("# none\n")
    names = [entry.path for entry in list_files(repository / "data", []).files]
    assert names[:3] == [".gitignore", "__init__.py", "deep/er/größe.py"] and "images/1/1.png" not in names
    monkeypatch.setenv("PATH", "")
    assert [entry.path for entry in list_files(repository, []).files] == [".gitignore", "train.py"]


def test_the_files_that_git_tracks_are_asked_for_once(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program that the repository configures runs, and files that no rule matches ask nothing."""
    started: list[tuple[str, ...]] = []
    run = local_git.start

    def start(place: Path, *arguments: str) -> subprocess.Popen[bytes] | None:
        started.append(arguments)
        return run(place, *arguments)

    monkeypatch.setattr(local_git, "start", start)
    program = repository.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {repository.parent}/ran\n")
    program.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(program))
    list_files(repository, [], count=True)
    assert started == [("ls-files", "-z")] and not (repository.parent / "ran").exists()


def test_a_commit_is_restored_by_one_process_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "code"
    names = ["a.txt", "empty", "folder/b.bin", "folder/run.sh", "größe.txt"]
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"\0\n" * number)
    (folder / "folder/run.sh").chmod(0o755)
    (folder / "link").symlink_to("a.txt")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    commit = commits.head_of(folder)
    assert commit is not None
    files = commits.files_of(folder, commit.id)
    assert files is not None
    started: list[tuple[str, ...]] = []

    def start(place: Path, *arguments: str, stdin: int) -> subprocess.Popen[bytes] | None:
        started.append(arguments)
        return local_git.start(place, *arguments, stdin=stdin)

    monkeypatch.setattr(blobs, "start", start)
    opened = partial(_committed, folder, {file.path: file for file in files})
    _restore(Copy(files, folder, opened, None, []), tmp_path / "new")
    assert len(started) == 1
    for name in names:
        assert (tmp_path / "new" / name).read_bytes() == (folder / name).read_bytes()
    assert os.access(tmp_path / "new/folder/run.sh", os.X_OK) and str((tmp_path / "new/link").readlink()) == "a.txt"


def test_blobs_that_cannot_be_read(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    written = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=tmp_path, input=b"12345", capture_output=True, check=True
    )
    blob = written.stdout.decode().strip()
    with Blobs(tmp_path) as found:
        assert found.read("0" * 40, 10) is None
        assert found.read(blob, 5) == b"12345"
        assert found.read(blob, 4) is None
        assert found.read(blob, 5) is None  # git was ended
