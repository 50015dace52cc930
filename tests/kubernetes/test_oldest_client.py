"""The lowest kubernetes package that pyproject.toml allows, in a folder that goes before the environment's own.

`make oldest-client` gets it, with the few packages that this environment lacks or has in a version that it refuses.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(1800)  # the first run gets the package


@pytest.fixture(scope="module")
def lowest() -> str:
    wanted = re.search(r'"kubernetes>=(\d+)', (ROOT / "pyproject.toml").read_text())
    assert wanted
    return wanted[1]


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    subprocess.run(["make", "-s", "oldest-client"], cwd=ROOT, check=True)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "build/oldest-client"), str(ROOT)])}


def test_credentials_are_loaded_by_the_oldest_client(lowest: str, environment: dict[str, str]) -> None:
    version = [sys.executable, "-c", "import importlib.metadata as found; print(found.version('kubernetes'))"]
    found = subprocess.run(version, env=environment, check=True, capture_output=True, text=True).stdout
    assert found.startswith(f"{lowest}.")

    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/kubernetes/test_credentials.py"]
    done = subprocess.run(tests, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
