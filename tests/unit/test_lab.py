"""Paths as the lab and its jobs see them."""

from pathlib import Path, PurePosixPath

import pytest

from jupyterlab_t9kjob.core.lab import Lab, LabMount, on_volume
from jupyterlab_t9kjob.core.spec import Mount


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A lab's disk: ``work`` and ``work/deep`` are PVCs, ``work/scratch`` is none, ``other`` is one of elsewhere."""
    for name in ("work/proj", "work/deep/x", "work/scratch", "data", "own", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "work/proj/train.py").touch()
    return tmp_path.resolve()


@pytest.fixture
def lab(disk: Path) -> Lab:
    def mount(claim: str, folder: str, path: str, sub_path: str | None = None, namespace: str = "team") -> LabMount:
        return LabMount(claim, namespace, disk / folder, PurePosixPath(path), sub_path)

    return Lab(
        mounts=(
            mount("work", "work", "/t9k/mnt"),
            mount("deep", "work/deep", "/t9k/mnt/deep", "users/me"),
            mount("data", "data", "/datasets", "sets/v2"),
            mount("other", "other", "/other", namespace="elsewhere"),
        ),
        elsewhere=(disk / "work/scratch",),
        home=disk / "work",
    )


@pytest.mark.parametrize(
    ("path", "claim", "seen"),
    [
        ("work/proj/train.py", "work", "/t9k/mnt/proj/train.py"),
        ("work", "work", "/t9k/mnt"),
        ("work/not/there/yet", "work", "/t9k/mnt/not/there/yet"),
        ("work/deep/x/a.py", "deep", "/t9k/mnt/deep/x/a.py"),
        ("work/deepest/a.py", "work", "/t9k/mnt/deepest/a.py"),
        ("work/proj/../../data/y", "data", "/datasets/y"),
    ],
)
def test_a_file_as_a_job_sees_it(disk: Path, lab: Lab, path: str, claim: str, seen: str) -> None:
    found = lab.in_job(disk / path, "team")
    assert found is not None
    assert (found[0].claim, str(found[1])) == (claim, seen)
    assert lab.in_lab(seen, [found[0].mount], "team") == (disk / path).resolve()
    assert lab.in_job(disk / path, "another") is None


@pytest.mark.parametrize("path", ["own/train.py", "work/scratch/a.py", "worker/a.py", "work/../own/a", "a\0b"])
def test_a_file_on_no_volume(disk: Path, lab: Lab, path: str) -> None:
    assert lab.in_job(disk / path, "team") is None


def test_links_are_followed(disk: Path, lab: Lab) -> None:
    (disk / "own/link").symlink_to(disk / "work/proj")
    (disk / "work/out").symlink_to(disk / "own")
    (disk / "work/near").symlink_to("proj")
    found = lab.in_job(disk / "own/link/train.py", "team")
    assert found is not None and str(found[1]) == "/t9k/mnt/proj/train.py"
    assert lab.in_job(disk / "work/out/train.py", "team") is None
    mounts = [lab.mounts[0].mount]
    assert lab.in_lab("/t9k/mnt/near/train.py", mounts, "team") == disk / "work/proj/train.py"
    assert lab.in_lab("/t9k/mnt/out/train.py", mounts, "team") is None


def test_paths_of_a_job_that_has_the_volumes_at_other_places(disk: Path, lab: Lab) -> None:
    def see(path: str, *mounts: Mount, namespace: str = "team") -> str | None:
        found = lab.in_lab(path, mounts, namespace)
        return None if found is None else str(found.relative_to(disk))

    whole = Mount(claim="work", mount_path="/w")
    assert see("/w/proj/train.py", whole) == "work/proj/train.py"
    assert see("/w/", whole) == "work"
    assert see("/w/../etc/passwd", whole) is None
    assert see("/w/proj/../../../etc", whole) is None
    assert see("/elsewhere/x", whole) is None
    assert see("proj", whole) is None
    assert see("/w/a\0b", whole) is None
    assert see("/w/proj", whole, namespace="another") is None
    # by claim and folder, not by name or path
    assert see("/t9k/mnt/proj", Mount(claim="unknown", mount_path="/t9k/mnt")) is None
    assert see("/p/train.py", Mount(claim="work", mount_path="/p", sub_path="proj/")) == "work/proj/train.py"
    assert see("/d/v2/y", Mount(claim="data", mount_path="/d", sub_path="sets")) == "data/y"
    assert see("/d/v1/y", Mount(claim="data", mount_path="/d", sub_path="sets")) is None
    assert see("/d/y", Mount(claim="data", mount_path="/d", sub_path="../sets/v2")) is None
    # what the lab has mounted over it is not the same file
    assert see("/w/deep/a", whole) is None
    assert see("/w/scratch/a", whole) is None
    # the job's deepest mount counts, also if the lab does not have it
    assert see("/w/x/proj", whole, Mount(claim="unknown", mount_path="/w/x")) is None
    assert see("/w/x/train.py", whole, Mount(claim="work", mount_path="/w/x/", sub_path="proj")) == "work/proj/train.py"


def test_a_file_of_the_lab_as_a_job_with_other_mounts_sees_it(disk: Path, lab: Lab) -> None:
    script = disk / "work/proj/train.py"

    def seen(*mounts: Mount) -> str | None:
        found = lab.seen_by(script, mounts, "team")
        return None if found is None else str(found)

    assert seen(Mount(claim="work", mount_path="/w")) == "/w/proj/train.py"
    assert seen(Mount(claim="work", mount_path="/w", sub_path="proj")) == "/w/train.py"
    assert seen(Mount(claim="work", mount_path="/w", sub_path="another")) is None
    assert seen(Mount(claim="data", mount_path="/w")) is None
    hidden = Mount(claim="data", mount_path="/w/proj")
    assert seen(Mount(claim="work", mount_path="/w"), hidden) is None
    assert (
        seen(Mount(claim="work", mount_path="/w"), hidden, Mount(claim="work", mount_path="/v")) == "/v/proj/train.py"
    )


def test_home_is_the_labs_where_the_job_has_it(lab: Lab) -> None:
    assert lab.home_in_job([lab.mounts[0].mount], "team") == "/t9k/mnt"
    assert lab.home_in_job([Mount(claim="work", mount_path="/w")], "team") == "/w"
    assert lab.home_in_job([], "team") is None
    assert lab.home_in_job([lab.mounts[0].mount], "another") is None
    assert Lab().home_in_job([lab.mounts[0].mount], "team") is None


def test_one_folder_that_is_a_volume_in_two_namespaces(disk: Path) -> None:
    here = LabMount("nfs-a", "a", disk / "data", PurePosixPath("/data"))
    there = LabMount("nfs-b", "b", disk / "data", PurePosixPath("/data"))
    for lab in (Lab(mounts=(here, there)), Lab(mounts=(there, here))):
        for namespace, claim in (("a", "nfs-a"), ("b", "nfs-b")):
            found = lab.in_job(disk / "data/x", namespace)
            assert found is not None and found[0].claim == claim


def test_the_namespace_of_a_files_volume(disk: Path) -> None:
    here = LabMount("nfs-a", "a", disk / "data", PurePosixPath("/data"))
    there = LabMount("nfs-b", "b", disk / "data", PurePosixPath("/data"))
    lab = Lab(mounts=(here, there))
    assert [lab.namespace_for(disk / "data/x", name) for name in ("a", "b", "c")] == ["a", "b", "a"]
    assert lab.namespace_for(disk / "other", "c") == "c"
    assert Lab().namespace_for(disk / "data/x", "c") == "c"


def test_where_a_path_lies_on_its_volume() -> None:
    mounts = [Mount(claim="a", mount_path="/m"), Mount(claim="b", mount_path="/m/n", sub_path="s/t")]
    assert on_volume("/m/x/../y", mounts) == ("a", PurePosixPath("y"))
    assert on_volume("//m/n/z", mounts) == ("b", PurePosixPath("s/t/z"))
    assert on_volume("/m", mounts) == ("a", PurePosixPath())
    assert on_volume("/m/../n", mounts) is None
