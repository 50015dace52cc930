"""What every Python test shares."""

import shutil
import subprocess

import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"]


def _gpu() -> bool:
    smi = shutil.which("nvidia-smi")
    return smi is not None and b"GPU" in subprocess.run([smi, "-L"], capture_output=True).stdout


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this machine cannot run; a reason that begins with the marker's name is accepted in CI."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _gpu():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="gpu: no accelerator on this machine"))
