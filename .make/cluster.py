"""The Kubernetes that tests run against: started where the machine has the means, with the images that they need."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

# Debian with Python 3.11 and what pip installs.
IMAGES = {"test.local/torch:cpu": ["--pip", "torch==2.13.0", "tensorboard", "numpy", "scikit-learn"]}

# With the wheel, made by the tests; each has some hundred megabytes, and so many stay.
LABS = "test.local/lab:"
MOST_LABS = 5

CONTAINERD = "/run/t9kjob-cluster/containerd.sock"


class NotStarted(Exception):
    """The cluster is there to be started, but did not."""


def find() -> Path | None:
    """Return the program that starts a cluster: in T9KJOB_CLUSTER's folder, else beside the checkout; it needs root."""
    folder = Path(os.environ.get("T9KJOB_CLUSTER", "../shared/cluster")).resolve()
    program = folder / "cluster"
    return program if program.is_file() and os.geteuid() == 0 else None


def start(program: Path) -> dict[str, str]:
    """Start it and build the images that it lacks; it stays up. Returns what tests have in their environment."""
    began = time.monotonic()
    print("\nStarting the cluster", flush=True)
    said = _ask(program, "up")
    there = _images()
    for name, contents in IMAGES.items():
        if name not in there:
            _ask(program, "image", name, *contents)
    labs = {digest for name, digest in there.items() if name.startswith(LABS)}
    if len(labs) > MOST_LABS:
        _ctr("remove", *(name for name, digest in there.items() if digest in labs))
    print(f"The cluster is up, with its images, after {time.monotonic() - began:.0f} s", flush=True)
    return {
        "KUBECONFIG": said.strip().rpartition("=")[2],
        "T9KJOB_KUBECTL": shlex.join([str(program), "kubectl"]),
        "T9KJOB_TEST_CLUSTER": shlex.quote(str(program)),
        "T9KJOB_BUILD_IMAGE": shlex.join([*_command(program), "image"]),
    }


def _images() -> dict[str, str]:
    """Return the digests of all images by name; one may have several names."""
    rows = [line.split() for line in _ctr("list").splitlines()[1:]]
    return {name: digest for name, _type, digest, *_more in rows}


def _ctr(*arguments: str) -> str:
    command = ["ctr", "--address", CONTAINERD, "--namespace", "k8s.io", "images", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout


def _command(program: Path) -> list[str]:
    # it installs into images with its own pip, which has to be their Python's
    return [shutil.which("python3.11") or sys.executable, str(program)]


def _ask(program: Path, *arguments: str) -> str:
    done = subprocess.run([*_command(program), *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise NotStarted(f"`{program} {shlex.join(arguments)}` ended with {done.returncode}")
    return done.stdout
