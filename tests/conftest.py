"""What every Python test shares."""

import pynvml
import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"]


def _gpu() -> bool:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return False
    try:
        return bool(pynvml.nvmlDeviceGetCount())
    finally:
        pynvml.nvmlShutdown()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this machine cannot run; a reason that begins with the marker's name is accepted in CI."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _gpu():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="gpu: no accelerator on this machine"))
