"""Images for the pods of tests, which the program of T9KJOB_BUILD_IMAGE builds."""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kubernetes.harness import ROOT, Kube


@contextmanager
def building_images() -> Iterator[None]:
    """Be the only one on this machine that has the cluster's program build images: it has one folder for that."""
    with Path(tempfile.gettempdir(), "t9kjob-lab-image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def need_builder() -> None:
    """Skip the test where nothing builds images."""
    if "T9KJOB_BUILD_IMAGE" not in os.environ:
        pytest.skip("cluster: T9KJOB_BUILD_IMAGE, which builds images, is not set")


def build_once(cluster: Kube, name: str, content: Callable[[Path], list[str]]) -> str:
    """Build an image of Debian with Python, git and OpenSSH, unless the cluster has one of this name.

    Parameters
    ----------
    cluster
        The cluster.
    name
        Name of the image, which tells its content apart from any other.
    content
        Gets a folder that is there for the build, and returns what the program takes besides: `--copy`, `--pip`.

    Returns
    -------
    str
        The name.
    """
    build = ROOT / "build"  # not on another disk: what is copied may be linked
    build.mkdir(exist_ok=True)
    with building_images(), tempfile.TemporaryDirectory(dir=build) as folder:
        images = [image for node in cluster.list("nodes") for image in node["status"].get("images", [])]
        if not any(name in (image.get("names") or []) for image in images):
            # The packages are those of all images, so that the program makes their Debian once.
            words = [*shlex.split(os.environ["T9KJOB_BUILD_IMAGE"]), name, "--apt", "openssh-server"]
            subprocess.run([*words, *content(Path(folder))], check=True)
    return name
