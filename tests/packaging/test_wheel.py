"""The wheel and the sdist: complete, and at work in an environment without Node."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jupyterlab_t9kjob.em_distribution import files

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jupyterlab_t9kjob"
LABEXTENSION = "data/share/jupyter/labextensions/jupyterlab_t9kjob"

pytestmark = pytest.mark.timeout(1800)  # the first run makes the environments


def make(target: str) -> None:
    subprocess.run(["make", "-s", target], cwd=ROOT, check=True)


def content(wheel: Path) -> set[str]:
    """List a wheel's files, shared data under `data/`."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    return {f"data/{name.partition('.data/data/')[2]}" if ".data/" in name else name for name in names}


@pytest.fixture(scope="module")
def wheel() -> Path:
    make("build")
    return next((ROOT / "build/dist").glob("*.whl"))


@pytest.fixture(params=["newest", "4.2"])
def jupyter(request: pytest.FixtureRequest, tmp_path: Path):
    """Give a function that runs `jupyter …` where only the wheel is installed, and returns what it prints."""
    env = ROOT / f"build/lab-{request.param}"
    make(f"{env.relative_to(ROOT)}/.t9kjob")
    environ = {"PATH": str(env / "bin"), "HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path), "NO_COLOR": "1"}

    def run(*arguments: str) -> str:
        command = [env / "bin/jupyter", *arguments]
        done = subprocess.run(command, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout.decode()
        return done.stdout.decode()

    return run


def test_the_server_part_is_enabled(jupyter) -> None:
    lines = [line.strip() for line in jupyter("server", "extension", "list").splitlines()]
    assert any(line.startswith("jupyterlab_t9kjob") and "enabled" in line for line in lines)
    assert any(line.startswith("jupyterlab_t9kjob") and "OK" in line for line in lines)


def test_the_command_line_is_installed(jupyter) -> None:
    assert "submit" in jupyter("t9kjob", "--help")


def test_the_front_end_is_listed(jupyter) -> None:
    line = next(line for line in jupyter("labextension", "list").splitlines() if "jupyterlab_t9kjob" in line)
    assert "enabled" in line
    assert "OK" in line
    assert "(python, jupyterlab_t9kjob)" in line


def test_the_wheel_has_every_file(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "jupyterlab_t9kjob"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    files = content(wheel)
    assert {name for name in tracked if (ROOT / name).exists()} <= files
    translations = "jupyterlab_t9kjob/locale/zh_CN/LC_MESSAGES/jupyterlab_t9kjob"
    assert {f"{translations}.mo", f"{translations}.json"} <= files

    settings = {f"{LABEXTENSION}/schemas/jupyterlab_t9kjob/{file.name}" for file in PACKAGE.glob("schema/*.json")}
    entry = json.loads((PACKAGE / "labextension/package.json").read_text())["jupyterlab"]["_build"]["load"]
    assert files >= {
        *settings,
        f"{LABEXTENSION}/{entry}",
        f"{LABEXTENSION}/install.json",
        f"{LABEXTENSION}/package.json",
        "data/etc/jupyter/jupyter_server_config.d/jupyterlab_t9kjob.json",
    }


def test_the_wheel_carries_the_recorder_as_a_wheel(wheel: Path, tmp_path: Path) -> None:
    """For images without JupyterLab: `pip install` of that file needs no network."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if "share/jupyterlab_t9kjob/t9kjob_em-" in name]
        recorder = tmp_path / Path(name).name
        recorder.write_bytes(archive.read(name))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(tmp_path / "lib"),
    ]
    subprocess.run([*pip, str(recorder)], check=True)
    installed = {
        file.relative_to(tmp_path / "lib").as_posix(): file.read_bytes() for file in (tmp_path / "lib").rglob("*.py")
    }
    assert installed == files()


def test_the_wheel_has_nothing_else(wheel: Path) -> None:
    folders = {name.partition("/")[0] for name in content(wheel)}
    assert {name for name in folders if not name.endswith(".dist-info")} == {"data", "jupyterlab_t9kjob"}


def test_the_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    bin_folder = Path(sys.executable).parent
    without_node = {**os.environ, "PATH": str(tmp_path)}
    options = ["--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([bin_folder / "python", "-m", "build", "--sdist", *options], cwd=ROOT, check=True)
    sdist = next(tmp_path.glob("*.tar.gz"))
    subprocess.run(
        [bin_folder / "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, sdist],
        env=without_node,
        check=True,
    )
    assert content(next(tmp_path.glob("*.whl"))) == content(wheel)
