"""Hooks that every Python test shares."""

import gc
import os
from pathlib import Path

import pynvml
import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"]
pytest.register_assert_rewrite("tests.conformance")  # so that its assertions say what they compared

# The objects of thousands of collected tests live until the end. The garbage collector would search them for a
# quarter of the collection's time.
gc.disable()


# Processes that tests start find the stand-ins, as pytest does (`pythonpath` in pyproject.toml).
SPARED = str(Path(__file__).parent / "local" / "spared")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SPARED, os.environ.get("PYTHONPATH")]))


def pytest_collection_finish() -> None:
    """Leave what was collected out of the garbage collections of the tests."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def jp_nbconvert_templates() -> None:
    """Copy no templates for a server, as pytest-jupyter does for each one: no test converts a notebook."""


def _gpu() -> bool:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return False
    try:
        return bool(pynvml.nvmlDeviceGetCount())
    finally:
        pynvml.nvmlShutdown()


# Tests of these folders depend on the timing of nodes, torchrun or TensorBoard, and are repeated once if they fail.
TIMED = {"kubernetes", "local", "server", "tensorboard", "packaging"}
REPEATS = Path(__file__).parent.parent / "build" / "reports" / "repeated"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note each test that is repeated; `.make/test.py` prints their names. With xdist only its controller notes."""
    if report.outcome == "rerun" and "PYTEST_XDIST_WORKER" not in os.environ:
        REPEATS.parent.mkdir(parents=True, exist_ok=True)
        with REPEATS.open("a") as file:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = crash.message if crash is not None and crash.message else report.when
            file.write(f"{report.nodeid}: {' '.join(str(why).split())[:2000]}\n")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a test that is repeated new fixtures of its module: in the old namespace its objects exist already."""
    if isinstance(item, pytest.Function) and getattr(item, "execution_count", 1) > 1:
        for fixtures in item._fixtureinfo.name2fixturedefs.values():
            for fixture in fixtures:
                if fixture.scope == "module":
                    fixture.finish(item._request)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that this machine cannot run; a reason that begins with the marker's name is accepted in CI.

    Tests that depend on timing are marked to be repeated once.
    """
    tests = Path(__file__).parent
    for item in items:
        if item.path.relative_to(tests).parts[0] in TIMED:
            item.add_marker(pytest.mark.flaky(reruns=1))
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
