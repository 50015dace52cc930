"""The lowest kubernetes package that pyproject.toml allows, in a folder that goes before the environment's own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(600)  # the first run gets the package


@pytest.fixture(scope="module")
def lowest() -> str:
    wanted = re.search(r'"kubernetes>=(\d+)', (ROOT / "pyproject.toml").read_text())
    assert wanted
    return wanted[1]


@pytest.fixture(scope="module")
def environment(lowest: str) -> dict[str, str]:
    folder = ROOT / f"build/kubernetes-{lowest}-python{sys.version_info.major}.{sys.version_info.minor}"
    if not folder.exists():
        made = folder.with_name(f"{folder.name}.{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(made)]
        subprocess.run([*pip, f"kubernetes=={lowest}.*"], check=True)
        try:
            made.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(made)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}


def test_credentials_are_loaded_by_the_oldest_client(lowest: str, environment: dict[str, str]) -> None:
    version = [sys.executable, "-c", "import kubernetes; print(kubernetes.__version__)"]
    found = subprocess.run(version, env=environment, check=True, capture_output=True, text=True).stdout
    assert found.startswith(f"{lowest}.")

    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/kubernetes/test_credentials.py"]
    done = subprocess.run(tests, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
