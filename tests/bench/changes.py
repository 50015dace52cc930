"""A change of a job until the page shows it, against `kubectl get -w` at the same time, while many jobs change.

The jobs' status is written by this bench alone. A part of the changes goes to the jobs whose rows are in the DOM (those
in view and 20 beyond), and these are timed; all others are load, in the sidebar's list like these.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cpu
import httpx
from browser import start_browser
from lab import TOKEN, lab
from playwright.sync_api import Page, sync_playwright
from quiet import KUBECTL, MINE, make_quiet_jobs, namespace

from tests.kubernetes.controller.api import connect
from tests.kubernetes.harness import Kube

STAMP = "import sys, time\nfor line in sys.stdin: sys.stdout.write(f'{time.time()} {line}')"
# Every message about the jobs, with the time at which it came.
RECEIVE = """
window.received = [];
window.WebSocket = class extends WebSocket {
  constructor(...options) {
    super(...options);
    if (String(options[0]).includes('/t9kjob/stream')) {
      this.addEventListener('message', ({ data }) =>
        window.received.push([(performance.timeOrigin + performance.now()) / 1000, data])
      );
    }
  }
};
"""
SHOWN = '{.metadata.name} {.status.conditions[0].message}{"\\n"}'
# Every change of a row's state, with the time at which it was in the DOM.
OBSERVE = """
() => {
  window.seen = [];
  window.received.length = 0;
  const note = row => window.seen.push([
    (performance.timeOrigin + performance.now()) / 1000, row.parentElement.dataset.key, row.dataset.state
  ]);
  new MutationObserver(records => {
    for (const { target } of records) {
      if (target.matches('.jp-t9k-JobRow')) {
        note(target);
      }
    }
  }).observe(
    document.querySelector('.jp-t9k-JobList'), { subtree: true, attributeFilter: ['data-state'] }
  );
}
"""


@dataclass
class Change:
    """A change as it was sent: its number is what the status says, its state what the page shows."""

    job: str
    number: int
    state: str
    sent: float = 0.0


def condition(kind: str, number: int, *, holds: bool) -> dict[str, str]:
    return {"type": kind, "status": str(holds), "reason": "Bench", "message": str(number)}


class Writer:
    """Writes changes at an even rate, whatever a single one takes."""

    def __init__(self, kube: Kube, rate: float, timed: Sequence[str], others: Sequence[str], timed_rate: float) -> None:
        self._kube = kube
        self._rate = rate
        self._timed, self._others = itertools.cycle(timed), itertools.cycle(others)
        self._share = timed_rate / rate
        self._states: dict[str, str] = {}
        self.changes: list[Change] = []

    def run(self, seconds: float) -> None:
        """Write for so long."""
        asyncio.run(self._run(seconds))

    async def _run(self, seconds: float) -> None:
        options: dict[str, Any] = connect(str(self._kube.kubeconfig), "t9kjob-bench")
        timed = 0
        writes = []
        async with httpx.AsyncClient(**options, timeout=30) as client:
            started = time.monotonic()
            for number in range(int(seconds * self._rate)):
                await asyncio.sleep(max(0.0, started + number / self._rate - time.monotonic()))
                is_timed = timed <= number * self._share
                timed += is_timed
                job = next(self._timed if is_timed else self._others)
                state = self._states[job] = "pending" if self._states.get(job) == "running" else "running"
                self.changes.append(change := Change(job, number, state))
                writes.append(asyncio.create_task(self._write(client, change)))
            await asyncio.gather(*writes)

    async def _write(self, client: httpx.AsyncClient, change: Change) -> None:
        holds = change.state == "running"
        status = {"conditions": [condition("Running", change.number, holds=holds)]}
        change.sent = time.time()
        answer = await client.patch(
            self._kube.path("pytorchjobs", change.job, "status"),
            json={"status": status},
            headers={"Content-Type": "application/merge-patch+json"},
        )
        answer.raise_for_status()


class Watch:
    """`kubectl get -w`, each of its lines with the time at which it came."""

    def __init__(self, kube: Kube, folder: str) -> None:
        self._path = Path(folder, "kubectl")
        command = [*KUBECTL, "--kubeconfig", str(kube.kubeconfig), "get", "pytorchjobs", "--watch-only", "-o"]
        with self._path.open("wb") as file:
            self._kubectl = subprocess.Popen([*command, f"jsonpath={SHOWN}"], stdout=subprocess.PIPE)
            self._stamp = subprocess.Popen([sys.executable, "-uc", STAMP], stdin=self._kubectl.stdout, stdout=file)

    def end(self) -> dict[int, float]:
        """End it; return when each change came."""
        self._kubectl.terminate()
        self._kubectl.wait()
        self._stamp.wait()
        lines = (line.split() for line in self._path.read_text().splitlines())
        return {int(words[2]): float(words[0]) for words in lines if len(words) == 3}


def rows(page: Page) -> list[str]:
    """Return the names of the jobs whose rows are in the DOM."""
    keys = page.eval_on_selector_all(".jp-t9k-JobList-row", "rows => rows.map(row => row.dataset.key)")
    return [key.split(":")[2] for key in keys]


def shown(page: Page, changes: list[Change], timed: Sequence[str]) -> tuple[dict[int, float], int]:
    """Return when each change was in the DOM, and how many never were, for the next one came first."""
    seen: dict[str, list[tuple[float, str]]] = {}
    for at, key, state in page.evaluate("window.seen"):
        seen.setdefault(key.split(":")[2], []).append((at, state))
    found, missed = {}, 0
    for job in timed:
        mine = [change for change in changes if change.job == job]
        ends = [change.sent for change in mine[1:]] + [float("inf")]
        for change, end in zip(mine, ends, strict=True):
            times = [at for at, state in seen.get(job, ()) if state == change.state and change.sent <= at < end]
            if times:
                found[change.number] = times[0]
            else:
                missed += 1
    return found, missed


def arrived(page: Page, changes: list[Change]) -> dict[int, float]:
    """Return when each change came to the page."""
    told: dict[str, list[tuple[float, str]]] = {}
    for at, data in page.evaluate("window.received"):
        for job in json.loads(data).get("jobs", ()):
            told.setdefault(job["name"], []).append((at, job["phase"].lower()))
    found = {}
    for change in changes:
        times = [at for at, state in told.get(change.job, ()) if state == change.state and at >= change.sent]
        if times:
            found[change.number] = times[0]
    return found


def words(delays: list[float]) -> tuple[float, float]:
    """Return median and 99th percentile, in ms."""
    return statistics.median(delays) * 1000, statistics.quantiles(delays, n=100)[98] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=50, help="changes a second")
    parser.add_argument("--timed", type=float, default=10, help="of these, to the rows in the DOM")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--port", type=int, default=18905)
    arguments = parser.parse_args()
    with namespace() as kube, tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        make_quiet_jobs(kube, arguments.jobs)
        with lab(arguments.port, kubeconfig=kube.kubeconfig, options=[MINE]) as server:
            browser = start_browser(playwright)
            page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
            page.add_init_script(RECEIVE)
            meter = cpu.meter(page)
            page.goto(f"{server.url}lab?token={TOKEN}&reset")
            page.wait_for_selector(".jp-Launcher-body")
            page.evaluate("window.jupyterapp.shell.activateById('t9kjob-monitor')")
            page.wait_for_selector(".jp-t9k-JobList-row")
            page.wait_for_function(
                f"document.querySelector('.jp-t9k-SectionTitle small').textContent.startsWith('{arguments.jobs}')"
            )
            page.wait_for_timeout(2000)  # what opening has left to do
            timed = rows(page)
            others = [f"quiet-{number:04d}" for number in range(arguments.jobs)]
            writer = Writer(kube, arguments.rate, timed, [job for job in others if job not in timed], arguments.timed)
            for seconds in (4, arguments.seconds):  # the first is to get warm
                page.evaluate(OBSERVE)
                watch = Watch(kube, folder)
                page.wait_for_timeout(1000)
                writer.changes = []
                load, used = os.getloadavg()[0], (cpu.of_process(server.pid), cpu.of_page(meter))
                thread = threading.Thread(target=writer.run, args=(seconds,))
                thread.start()
                thread.join()
                page.wait_for_timeout(3000)
                used = (cpu.of_process(server.pid) - used[0], cpu.of_page(meter) - used[1])
                by_kubectl = watch.end()
            at_page = arrived(page, writer.changes)
            by_page, missed = shown(page, writer.changes, timed)
            browser.close()
    sent = {change.number: change.sent for change in writer.changes}
    ours = words([at - sent[number] for number, at in by_page.items()])
    come = words([at_page[number] - sent[number] for number in by_page if number in at_page])
    theirs = words([at - sent[number] for number, at in by_kubectl.items() if number in by_page])
    loads = f"{load:.1f} to {os.getloadavg()[0]:.1f}"
    print(f"{arguments.jobs} jobs, {arguments.rate:.0f} changes a second, load of the machine {loads}")
    print(f"{len(by_page)} changes of {len(timed)} rows timed, {missed} of them not shown before the next one")
    for what, mine, way, peer in zip(("median", "p99"), ours, come, theirs, strict=True):
        print(
            f"  {what}: page {mine:.0f} ms, {way:.0f} ms of it until the message came"
            f" / kubectl get -w {peer:.0f} ms = {mine / peer:.1f} ×"
        )
    seconds = arguments.seconds
    print(f"  of one processor: server {used[0] / seconds:.0%}, page's main thread {used[1] / seconds:.0%}")


if __name__ == "__main__":
    main()
