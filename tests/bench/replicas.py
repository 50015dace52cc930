"""A job of 400 replicas: click to its table of replicas, against `kubectl get pods` of the same; scrolling.

The replicas run on paper: on nodes of KWOK's, which this makes and takes away again (`kwok` has to run).
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from browser import start_browser
from lab import TOKEN, lab
from many import kubectl
from playwright.sync_api import Page, sync_playwright
from quiet import MINE, OWNER, namespace
from scrolling import longest_tasks

from tests.kubernetes.harness import Kube

NODE_PODS = 100
TAINT = "kwok.x-k8s.io/node"
# Milliseconds from the command, as a click runs it, to the frame after the one that has a row, and counts all.
OPEN = """
async ([id, count]) => {
  const begun = performance.now();
  void window.jupyterapp.commands.execute('t9kjob:open-job', { id, tab: 'replicas' });
  await new Promise(resolve => {
    const look = () => {
      const table = document.querySelector('.jp-t9k-Replicas table');
      const full = table && Number(table.getAttribute('aria-rowcount')) > count && table.querySelector('tbody tr td');
      requestAnimationFrame(full ? () => setTimeout(resolve) : look);
    };
    look();
  });
  return performance.now() - begun;
}
"""


def until_ready(kube: Kube) -> None:
    def ready(node: dict[str, Any]) -> bool:
        found = node["status"].get("conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in found)

    try:
        kube.until_all("nodes", lambda nodes: all(map(ready, nodes)), 30, labels=f"bench={kube.namespace}")
    except AssertionError as error:
        raise SystemExit("KWOK does not run: nodes on paper don't become ready.") from error


@contextmanager
def paper_nodes(kube: Kube, count: int) -> Iterator[None]:
    size = {"cpu": "96", "memory": "1Ti", "pods": str(NODE_PODS)}
    names = [f"{kube.namespace}-{number}" for number in range(count)]
    for name in names:
        metadata = {"name": name, "annotations": {TAINT: "fake"}, "labels": {"bench": kube.namespace}}
        spec = {"taints": [{"key": TAINT, "value": "fake", "effect": "NoSchedule"}]}
        node = {"metadata": metadata, "spec": spec, "status": {"capacity": size, "allocatable": size}}
        kube.create("nodes", {"apiVersion": "v1", "kind": "Node", **node})
    try:
        until_ready(kube)
        yield
    finally:
        kube.ask("DELETE", kube.path("pytorchjobs"))
        kube.ask("DELETE", kube.path("pods"), {"gracePeriodSeconds": 0})
        for name in names:
            kube.delete("nodes", name)


def large_job(kube: Kube, replicas: int) -> dict[str, Any]:
    container = {"name": "pytorch", "image": "test.local/busybox:1", "command": ["sleep", "3600"]}
    pod = {
        "containers": [container],
        "nodeSelector": {"bench": kube.namespace},
        "tolerations": [{"key": TAINT, "operator": "Exists"}],
    }
    roles = {"Master": 1, "Worker": replicas - 1}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "large", "annotations": {"jupyterlab-t9kjob/owner": OWNER}},
        "spec": {
            "pytorchReplicaSpecs": {
                role: {"replicas": count, "restartPolicy": "Never", "template": {"spec": pod}}
                for role, count in roles.items()
            }
        },
    }


def scroll(page: Page) -> None:
    box = page.locator(".jp-t9k-Replicas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    for step in (300, -300):
        for _ in range(100):
            page.mouse.wheel(0, step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, alternating")
    parser.add_argument("--replicas", type=int, default=400)
    parser.add_argument("--port", type=int, default=18906)
    arguments = parser.parse_args()
    count = arguments.replicas
    ours, peers = [], []
    with namespace() as kube, paper_nodes(kube, -(-count // NODE_PODS)), sync_playwright() as playwright:
        job = kube.create("pytorchjobs", large_job(kube, count))
        ident = f"kubeflow:{kube.namespace}:large:{job['metadata']['uid']}"

        def run(pods: list[dict[str, Any]]) -> bool:
            return sum(pod["status"].get("phase") == "Running" for pod in pods) == count

        kube.until_all("pods", run, 600)
        with lab(arguments.port, kubeconfig=kube.kubeconfig, options=[MINE]) as server:
            browser = start_browser(playwright)
            for number in range(arguments.runs):
                page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
                page.goto(f"{server.url}lab?token={TOKEN}&reset")
                page.wait_for_selector(".jp-Launcher-body")
                page.wait_for_timeout(3000)  # what the page's start has left to do is no part of the opening
                ours.append(page.evaluate(OPEN, [ident, count]) / 1000)
                peers.append(kubectl(kube, "get", "pods"))
                if number == arguments.runs - 1:
                    clock, cpu = longest_tasks(browser, page, partial(scroll, page))
                page.context.close()
            browser.close()
    opening, peer = statistics.median(ours), statistics.median(peers)
    print(f"a job of {count} replicas; load {os.getloadavg()[0]:.1f}")
    print(f"  click to its table: {opening:.2f} s / kubectl get pods {peer:.2f} s = {opening / peer:.2f} ×")
    print(f"  scrolling, longest task: {clock:.0f} ms by the clock, {cpu:.0f} ms of CPU")


if __name__ == "__main__":
    main()
