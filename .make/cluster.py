"""The Kubernetes that tests run against: started where the machine has the means, with the images that they need."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from threading import Lock

# All images have the same Debian, which the program keeps: it takes longer to make than all the rest.
DEBIAN = ["--apt", "openssh-server"]
PLAIN = "test.local/debian:12"

# Debian with Python 3.11 and packages; `USED` is what jobs of the tests import, `QUICK` makes that cheap.
IMAGE = "test.local/torch:cpu"
REQUIREMENTS = ["torch==2.13.0", "tensorboard", "numpy", "scikit-learn"]
USED = """
import sklearn.datasets, torch, torch.distributed.nn, torch.distributed.run, torch.utils.data, torch.utils.tensorboard
"""
QUICK = Path("tests/local/spared/quick_torch.py")

# With the wheel, made by the tests; each has some hundred megabytes, and so many stay.
LABS = "test.local/lab:"
MOST_LABS = 5

# A machine that is loaded by tests gives a pod that asks for no CPU next to nothing while others ask for some: jobs
# would wait for these, and the API server would refuse each PyTorchJob that the operator does not look at in time.
PARTS = {"training-operator": "kubeflow", "coredns": "kube-system", "metrics-server": "kube-system"}
CPU = {"training-operator": "200m"}
PROBE = {"timeoutSeconds": 30, "failureThreshold": 20}
WEBHOOK = "validator.training-operator.kubeflow.org"

CONTAINERD = "/run/t9kjob-cluster/containerd.sock"

starting = Lock()


class NotStarted(Exception):
    """The cluster is there to be started, but it or its image is not ready."""


def find() -> Path | None:
    """Return the program that starts a cluster: in T9KJOB_CLUSTER's folder, else beside the checkout; it needs root."""
    folder = Path(os.environ.get("T9KJOB_CLUSTER", "../shared/cluster")).resolve()
    program = folder / "cluster"
    return program if program.is_file() and os.geteuid() == 0 else None


def prepare(program: Path) -> None:
    """Start it and make what its images begin with, which needs nothing of the environment. `start` does the rest."""
    with starting:
        _ask(program, "up")
        if PLAIN not in _images():
            _ask(program, "image", PLAIN, *DEBIAN)


def start(program: Path) -> dict[str, str]:
    """Start it and build the image if it is missing; it stays up. Returns what tests have in their environment."""
    with starting:
        return _start(program)


def _start(program: Path) -> dict[str, str]:
    began = time.monotonic()
    print("\nStarting the cluster", flush=True)
    said = _ask(program, "up")
    _strengthen(program)
    there = _images()
    recipe = (
        f"test.local/torch:{hashlib.sha256(repr((REQUIREMENTS, USED, QUICK.read_text())).encode()).hexdigest()[:16]}"
    )
    if IMAGE not in there or there.get(recipe) != there[IMAGE]:
        try:
            _build_image(program)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotStarted(f"the image for its pods was not built: {error}") from error
        _ctr("tag", "--force", IMAGE, recipe)
    labs = {digest for name, digest in there.items() if name.startswith(LABS)}
    if len(labs) > MOST_LABS:
        _ctr("remove", *(name for name, digest in there.items() if digest in labs))
    print(f"The cluster is up, with its image, after {time.monotonic() - began:.0f} s", flush=True)
    return {
        "KUBECONFIG": said.strip().rpartition("=")[2],
        "T9KJOB_KUBECTL": shlex.join([str(program), "kubectl"]),
        "T9KJOB_TEST_CLUSTER": shlex.quote(str(program)),
        "T9KJOB_BUILD_IMAGE": shlex.join([*_command(program), "image"]),
    }


def _strengthen(program: Path) -> None:
    """Let the cluster's own pods work, and be waited for, beside many others."""
    for name, namespace in PARTS.items():
        container = {"name": name, "resources": {"requests": {"cpu": CPU.get(name, "50m")}}, "readinessProbe": PROBE}
        patch = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
        _ask(program, "kubectl", "patch", "--namespace", namespace, f"deployment/{name}", "--patch", patch)
    patience = [{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 30}]
    _ask(
        program,
        "kubectl",
        "patch",
        "validatingwebhookconfiguration",
        WEBHOOK,
        "--type=json",
        f"-p={json.dumps(patience)}",
    )
    for name, namespace in PARTS.items():
        _ask(program, "kubectl", "rollout", "status", "--namespace", namespace, f"deployment/{name}")


def _build_image(program: Path) -> None:
    """Build the image, with the byte code of the modules in use: else each process of a pod would compile torch."""
    python = _command(program)[0]
    folder = Path("build/image").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    packages, scripts = folder / "packages", folder / "bin"
    site = Path(sysconfig.get_path("purelib"))
    if sys.version_info[:2] == (3, 11) and (site / "torch").is_dir():  # not where another environment lends it
        subprocess.run([sys.executable, ".make/copied.py", site, folder / "copied", *REQUIREMENTS], check=True)
        (folder / "copied" / site.relative_to(site.parents[2])).rename(packages)
        (folder / "copied" / "bin").rename(packages / "bin")
    else:
        pip = [python, "-m", "pip", "install", "--quiet", "--no-compile", "--root-user-action=ignore"]
        subprocess.run([*pip, "--target", packages, *REQUIREMENTS], check=True)
    writing = {**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([python, "-S", "-c", USED], env=writing, check=True)
    shutil.copy(QUICK, packages)
    (packages / f"{QUICK.stem}.pth").write_text(f"import {QUICK.stem}\n")
    (packages / "bin").rename(scripts)
    for script in scripts.iterdir():
        first, _, rest = script.read_bytes().partition(b"\n")
        if b"python" in first:
            script.write_bytes(b"#!/usr/bin/python3\n" + rest)
    places = {packages: "/usr/lib/python3/dist-packages", scripts: "/usr/local/bin"}
    _ask(program, "image", IMAGE, *DEBIAN, "--copy", *(f"{here}:{there}" for here, there in places.items()))
    shutil.rmtree(folder)


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
