"""10 000 jobs of a namespace: the list to the sidebar's first paint, memory of the server, scrolling.

Against `kubectl get --raw` of the same list. Cold: the page is open and the server runs, cut off from the cluster; it
begins to list when the cut ends. Warm: a page is loaded from the server that knows the jobs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from browser import start_browser
from lab import TOKEN, Lab, lab
from many import Gate, create_jobs, kubectl
from playwright.sync_api import Browser, Page, sync_playwright
from quiet import MINE, OWNER, namespace
from scrolling import longest_tasks

from tests.kubernetes.harness import Kube

ROW = 50
"""Height of a row in px, as in src/sidebar/model/sidebar.ts."""
OWN = 10
"""Every so many-th job is of this lab's user; the page shows all of them."""
# Both in seconds since the epoch: when the page asked for the jobs, and when the first of them was drawn.
WATCH = """
    const now = () => (performance.timeOrigin + performance.now()) / 1000;
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) {
      if (this.url.includes('t9kjob/stream')) { window.asked ??= now(); }
      return send.call(this, data);
    };
    window.drawn = new Promise(resolve => {
      const look = () => document.querySelector('.jp-t9k-JobRow')
        ? requestAnimationFrame(() => setTimeout(() => resolve(now())))
        : requestAnimationFrame(look);
      requestAnimationFrame(look);
    });
"""


def open_sidebar(browser: Browser, server: Lab) -> Page:
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.add_init_script(WATCH)
    page.goto(f"{server.url}lab?token={TOKEN}")
    page.wait_for_selector(".jp-t9k-Monitor")
    return page


def show_sidebar(server: Lab) -> None:
    """Let every page begin with the sidebar, others' jobs in it."""
    left = {"collapsed": False, "visible": True, "current": "t9kjob-monitor", "widgets": ["t9kjob-monitor"]}
    data = {
        "layout-restorer:data": {"left": left, "relativeSizes": [0.3, 0.7, 0]},
        "jupyterlab_t9kjob:sidebar": {"folded": [], "showDeleted": False, "onlyMine": False},
    }
    server.request("lab/api/workspaces/default", {"data": data, "metadata": {"id": "default"}}, "PUT")


def until_all(page: Page, count: int) -> float:
    """Return when the list is as high as all jobs; most of its rows are never in the DOM."""
    page.wait_for_function(
        "height => document.querySelector('.jp-t9k-JobList-content')?.offsetHeight >= height",
        arg=count * ROW,
        timeout=300_000,
        polling=50,
    )
    return time.time()


def memory(pid: int, field: str = "VmRSS") -> float:
    """Return the MB of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def gestures(page: Page) -> dict[str, Callable[[], None]]:
    """Return all ways through the list, by name."""
    rows = page.locator(".jp-t9k-JobList-scroll")
    box = rows.bounding_box()
    assert box is not None

    def at(fraction: float) -> tuple[float, float]:
        return box["x"] + box["width"] - 5, box["y"] + 20 + (box["height"] - 40) * fraction

    def wheel() -> None:
        page.mouse.move(box["x"] + 100, box["y"] + 200)
        for step in (700, -700):
            for _ in range(150):
                page.mouse.wheel(0, step)
        page.mouse.move(box["x"] + box["width"] + 300, box["y"] + 200)

    def drag() -> None:
        page.mouse.move(*at(0))
        page.mouse.down()
        page.mouse.move(*at(1), steps=200)
        page.mouse.move(*at(0), steps=200)
        page.mouse.up()
        page.mouse.move(box["x"] + box["width"] + 300, box["y"] + 200)

    def keys() -> None:
        page.locator(".jp-t9k-JobList [role=treeitem][tabindex='0']").focus()
        for key in (*["ArrowDown"] * 60, "End", *["ArrowUp"] * 60, "Home"):
            page.keyboard.press(key)
            page.wait_for_timeout(16)
        page.evaluate("document.activeElement.blur()")

    return {"wheel": wheel, "scroll bar": drag, "keys": keys}


class Measured:
    """Measured values by name, in the order of the measurements."""

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = {}

    def add(self, name: str, value: float) -> None:
        self._values.setdefault(name, []).append(value)

    def __getitem__(self, name: str) -> float:
        return statistics.median(self._values[name])

    def names(self) -> list[str]:
        return list(self._values)


def run(browser: Browser, kube: Kube, count: int, port: int, *, scroll: bool, measured: Measured) -> None:
    gate = Gate(kube)
    with tempfile.TemporaryDirectory() as folder:
        with lab(port, kubeconfig=gate.kubeconfig(Path(folder)), options=[MINE]) as server:
            show_sidebar(server)
            page = open_sidebar(browser, server)
            page.wait_for_selector(".jp-t9k-EmptyState, .jp-t9k-Banner")
            page.wait_for_timeout(3000)
            idle = memory(server.pid)
            Path(f"/proc/{server.pid}/clear_refs").write_text("5")  # the peak is that of what follows
            gate.open = True
            started = time.time()
            server.request("t9kjob/engines", {})
            measured.add("cold, first paint s", page.evaluate("window.drawn") - started)
            measured.add("cold, all jobs s", until_all(page, count) - started)
            page.wait_for_timeout(5000)
            measured.add("memory above idle MB", memory(server.pid) - idle)
            measured.add("memory's peak above idle MB", memory(server.pid, "VmHWM") - idle)
            page.context.close()
            started = time.time()
            page = open_sidebar(browser, server)
            drawn = page.evaluate("window.drawn")
            measured.add("warm, asked to first paint s", drawn - page.evaluate("window.asked"))
            measured.add("warm, page load to first paint s", drawn - started)
            measured.add("warm, asked to all jobs s", until_all(page, count) - page.evaluate("window.asked"))
            page.wait_for_timeout(2000)
            if scroll:
                for name, act in gestures(page).items():
                    clock, cpu = longest_tasks(browser, page, act)
                    measured.add(f"scrolling by {name}, longest task by the clock ms", clock)
                    measured.add(f"scrolling by {name}, longest task of CPU ms", cpu)
            page.context.close()
            measured.add("memory above idle after it MB", memory(server.pid) - idle)
        gate.open = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each, alternating")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--port", type=int, default=18904)
    arguments = parser.parse_args()
    measured = Measured()

    with namespace() as kube:
        create_jobs(kube, (OWNER if number % OWN == 0 else "lin" for number in range(arguments.jobs)))
        path = kube.path("pytorchjobs")
        kubectl(kube, "get", "--raw", path)  # the first one fills the API server's caches
        with sync_playwright() as playwright:
            browser = start_browser(playwright)
            for number in range(arguments.runs):
                measured.add("kubectl get --raw s", kubectl(kube, "get", "--raw", path))
                scroll = number == arguments.runs - 1
                run(browser, kube, arguments.jobs, arguments.port, scroll=scroll, measured=measured)
            browser.close()
        raw = measured["kubectl get --raw s"]
        print(f"{arguments.jobs} jobs of a namespace; load {os.getloadavg()[0]:.1f}")
        for name in measured.names():
            value = measured[name]
            aim = f" = {value / raw:.2f} × kubectl; aim {1.5 * raw + 0.5:.2f} s" if "first paint" in name else ""
            print(f"  {name[:-2].rstrip()}: {value:.2f} {name[-2:].strip()}{aim}")


if __name__ == "__main__":
    main()
