"""Which folders TensorBoard may be opened on."""

from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.contents.manager import ContentsManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.errors import FieldError, Unavailable
from jupyterlab_t9kjob.tensorboard.folders import canonical, resolve
from jupyterlab_t9kjob.tensorboard.texts import label


@pytest.fixture
def root(tmp_path: Path) -> ContentsRoot:
    (tmp_path / "root" / "proj" / "runs").mkdir(parents=True)
    (tmp_path / "root" / "file").write_text("x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "root" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "in").symlink_to("proj")
    return ContentsRoot(AsyncLargeFileManager(root_dir=str(tmp_path / "root")))


def test_paths_of_the_contents_api_and_absolute_ones(root: ContentsRoot) -> None:
    runs = root.folder / "proj" / "runs"
    for path in ("proj/runs", " proj/runs/ ", "RTC:proj/runs", "proj/./x/../runs", str(runs), f"{runs}/"):
        assert resolve(root, [path]) == [runs]
    assert resolve(root, ["proj/later/on"]) == [root.folder / "proj/later/on"]
    assert resolve(root, [""]) == [root.folder]
    assert resolve(root, ["x" * 300]) == [root.folder / ("x" * 300)]
    assert resolve(root, ["in/runs", "proj/runs", "in/runs"]) == [root.folder / "in/runs", runs]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("..", "outside"),
        ("proj/../../outside", "outside"),
        ("/", "outside"),
        ("/etc", "outside"),
        ("out", "a link to"),
        ("out/later", "a link to"),
        ("file", "is a file"),
        ("a\0b", "NUL"),
    ],
)
def test_what_is_refused(root: ContentsRoot, path: str, says: str) -> None:
    with pytest.raises(FieldError, match=says) as caught:
        resolve(root, ["proj", path])
    assert caught.value.field == "/paths/1"


def test_how_many(root: ContentsRoot) -> None:
    for paths in ([], ["proj"] * 51):
        with pytest.raises(FieldError) as caught:
            resolve(root, paths)
        assert caught.value.field == "/paths"


def test_a_jobs_own_directory_may_lie_anywhere(root: ContentsRoot) -> None:
    outside = root.folder.parent / "outside"
    assert resolve(root, [str(outside)], [f"{outside}/"]) == [outside]
    with pytest.raises(FieldError):
        resolve(root, [str(outside / "other")], [str(outside)])


def test_files_elsewhere() -> None:
    with pytest.raises(Unavailable):
        resolve(ContentsRoot(ContentsManager()), ["x"])


def test_the_same_directories_by_other_names(root: ContentsRoot) -> None:
    a, b = root.folder / "proj" / "runs", root.folder / "proj"
    assert canonical([a, b]) == canonical([b, root.folder / "in" / "runs"])
    assert canonical([a]) != canonical([b])


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (["/w/runs/train-1"], "train-1"),
        (["/w/mnist/runs"], "mnist/runs"),
        (["/runs"], "runs"),
        (["/"], "/"),
        (["/w/a", "/w/b", "/w/c"], "a and 2 more"),
    ],
)
def test_labels(paths: list[str], name: str) -> None:
    assert label([Path(path) for path in paths]) == name
