"""What every Python test shares."""

import os

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
    lacking = {
        "gpu": lambda: None if _gpu() else "gpu: no accelerator on this machine",
        "cluster": lambda: None if os.environ.get("KUBECONFIG") else "cluster: KUBECONFIG is not set",
    }
    for marker, find in lacking.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = find() if marked else None
        for item in marked:
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
    for item in items:
        if item.get_closest_marker("cluster") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(300))
