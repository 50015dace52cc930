"""`t9kjob list` of many jobs of a namespace against `kubectl get`, and `t9kjob logs -f` against `kubectl logs -f`.

The lists alternate, start-up included. The logs are followed at the same time into a file each, while a container
writes lines as fast as it can.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cluster_logs import LOOK, writing_job
from many import create_jobs
from quiet import KUBECTL, OWNER, namespace

from tests.kubernetes.harness import Kube

T9KJOB = [str(Path(sys.executable).with_name("t9kjob"))]


def environment(kube: Kube, home: str) -> dict[str, str]:
    """Return the variables of a shell whose account sees the namespace, and has no other jobs."""
    return {**os.environ, "KUBECONFIG": str(kube.kubeconfig), "HOME": home, "JUPYTER_CONFIG_DIR": home}


def seconds(command: list[str], env: dict[str, str], lines: int) -> float:
    """Return the seconds that a command takes; a list that is not whole is an error."""
    started = time.monotonic()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    took = time.monotonic() - started
    assert done.stdout.count("\n") == lines, f"{command[0]} printed {done.stdout.count(chr(10))} lines, not {lines}"
    return took


def lists(kube: Kube, count: int, runs: int, env: dict[str, str]) -> None:
    """Measure both lists; each has a line of heads."""
    ours, theirs = [], []
    for _ in range(runs):
        theirs.append(seconds([*KUBECTL, "get", "pytorchjobs"], env, count + 1))
        ours.append(seconds([*T9KJOB, "list", "-E", "kubeflow", "-n", kube.namespace], env, count + 1))
    own, peer = statistics.median(ours), statistics.median(theirs)
    print(f"{count} jobs; load {os.getloadavg()[0]:.1f}")
    print(f"  t9kjob list {own:.2f} s, kubectl get {peer:.2f} s; aim {1.5 * peer + 0.4:.2f} s")


def logs(kube: Kube, lines: int, env: dict[str, str], image: str, home: str) -> None:
    """Measure both commands on the same lines, up to the last one."""
    kube.create("pytorchjobs", writing_job(image, ["10", "5", str(lines)]))
    pod = "writes-master-0"
    kube.until("pods", pod, lambda each: each and each["status"]["phase"] == "Running")
    own, peer = Path(home, "own"), Path(home, "peer")
    with own.open("wb") as our_file, peer.open("wb") as their_file:
        commands = [
            subprocess.Popen([*KUBECTL, "logs", "-f", pod], env=env, stdout=their_file),
            subprocess.Popen(
                [*T9KJOB, "logs", "-f", "writes", "-E", "kubeflow", "-n", kube.namespace], env=env, stdout=our_file
            ),
        ]
        told = subprocess.run(
            [sys.executable, "-c", LOOK, str(own), str(peer)], stdout=subprocess.PIPE, text=True, check=True
        )
        assert [command.wait() for command in commands] == [0, 0]
    assert own.read_bytes() == peer.read_bytes(), "both print the same bytes"
    ours, theirs = json.loads(told.stdout)
    lag, far = (statistics.median(each["lags"]) * 1000 for each in (ours, theirs))
    print(f"{lines} lines of 200 bytes at once; load {os.getloadavg()[0]:.1f}")
    print(f"  t9kjob logs -f {ours['took']:.2f} s, kubectl logs -f {theirs['took']:.2f} s:", end=" ")
    print(f"{theirs['took'] / ours['took']:.2f} × the throughput; lag of single lines {lag:.0f} ms, {far:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=9, help="of each list, alternating")
    parser.add_argument("--lines", type=int, default=40_000, help="less than a node rotates at")
    parser.add_argument("--image", default="test.local/torch:cpu", help="any with Python")
    arguments = parser.parse_args()
    with namespace() as kube, tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as other:
        logs(kube, arguments.lines, environment(kube, home), arguments.image, home)
        kube.delete("pytorchjobs", "writes")
        create_jobs(kube, (OWNER for _ in range(arguments.jobs)))
        # The first home has a record of the job whose log was followed.
        lists(kube, arguments.jobs, arguments.runs, environment(kube, other))


if __name__ == "__main__":
    main()
