"""Following a log that grows by thousands of lines a second, against the same page without the log: long tasks."""

from __future__ import annotations

import argparse
import re
import statistics
import time
import uuid
from pathlib import Path

from browser import start_browser
from lab import TOKEN, Lab, lab
from playwright.sync_api import Page, sync_playwright
from tasks import Tasks, busy, describe, record

# Writes at an even pace once the file is there, as a training loop does; the last line has the time of its writing.
SCRIPT = """
import os, sys, time
rank, rate, seconds = int(os.environ["RANK"]), int(sys.argv[2]), float(sys.argv[3])
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
begun, step, most = time.monotonic(), 0, rate * seconds
while step < most:
    while step < min(most, (time.monotonic() - begun) * rate):
        loss = 1 / (step + 1)
        print(f"rank {rank} | epoch {step // 1000:4d} | step {step:8d} | loss {loss:.6f} | lr 3e-04 | 812.4 samples/s")
        step += 1
    sys.stdout.flush()
    time.sleep(0.005)
time.sleep(0.5)
print(f"the end at {time.time()}", flush=True)
"""


def start_job(server: Lab, ranks: int, rate: int, seconds: float) -> tuple[str, str]:
    """Start the job; return its id and the file that lets it write."""
    (server.root / "flood.py").write_text(SCRIPT)
    go = server.root / f"go-{uuid.uuid4().hex}"
    spec = server.request("t9kjob/launch/prefill", {"path": "flood.py"})["spec"]
    spec |= {"args": [str(go), str(rate // ranks), str(seconds)]}
    spec["torchrun"]["proc_per_node"] = ranks
    job = server.request("t9kjob/jobs", {"spec": spec, "request_id": uuid.uuid4().hex})
    return str(job["id"]), str(go)


def open_job(page: Page, url: str, job: str, tab: str, ranks: int) -> None:
    """Open a tab of the job and wait until all ranks are ready to write."""
    page.goto(f"{url}lab?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Launcher-body")
    page.evaluate("([id, tab]) => window.jupyterapp.commands.execute('t9kjob:open-job', {id, tab})", [job, tab])
    page.wait_for_selector(".jp-t9k-JobHeader")
    if tab == "logs":
        rows = "[...document.querySelectorAll('.jp-t9k-LogRow-text')]"
        page.wait_for_function(f"{rows}.filter(row => row.textContent === 'ready').length === {ranks}")


def shown_lines(page: Page) -> int:
    """Return how many lines the log has, as its status line says."""
    status = page.locator(".jp-t9k-LogStatus").inner_text()
    return int(re.sub(r"\D", "", re.search(r"([\d\s]+) lines,", status)[1]))  # type: ignore[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each, alternating")
    parser.add_argument("--rate", type=int, default=2000, help="lines a second, of all ranks together")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--load", action="store_true", help="keep every core busy meanwhile")
    parser.add_argument("--port", type=int, default=18911)
    arguments = parser.parse_args()
    times: dict[str, list[Tasks]] = {"the log": [], "the overview": []}
    late = []
    lines = (arguments.rate // arguments.ranks * int(arguments.seconds) + 1) * arguments.ranks
    with lab(arguments.port) as server, sync_playwright() as playwright:
        browser = start_browser(playwright)
        for _ in range(arguments.runs):
            for place, runs in times.items():
                job, go = start_job(server, arguments.ranks, arguments.rate, arguments.seconds)
                page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
                open_job(page, server.url, job, "logs" if place == "the log" else "overview", arguments.ranks)
                page.wait_for_timeout(3000)  # what the opening has left to do, and the start of the ranks

                def flood(place: str = place, go: str = go, page: Page = page) -> None:
                    Path(go).touch()
                    if place == "the log":
                        page.evaluate(UNTIL_END)
                    else:
                        time.sleep(arguments.seconds + 0.7)

                before = shown_lines(page) if place == "the log" else 0
                with busy(arguments.load):
                    runs.append(record(browser, page, flood))
                if place == "the log":
                    late.append(page.evaluate("window.lateness"))
                    if (shown := shown_lines(page) - before) != lines:
                        raise RuntimeError(f"{lines} lines were written, the page has {shown}")
                page.context.close()
        browser.close()
    load = "with another process on every core" if arguments.load else "without load"
    print(f"{arguments.rate} lines a second for {arguments.seconds:.0f} s, {arguments.ranks} ranks, {load}:")
    for place, runs in times.items():
        print(f"  {place}: {describe(runs)}")
    print(f"  the last line was on the page {statistics.median(late) * 1000:.0f} ms after it was written")


UNTIL_END = """
() => new Promise(resolve => {
  const block = document.querySelector('.jp-t9k-LogLines-block');
  const observer = new MutationObserver(() => {
    const end = /the end at ([0-9.]+)/.exec(block.lastElementChild?.textContent ?? '');
    if (end) {
      observer.disconnect();
      window.lateness = Date.now() / 1000 - Number(end[1]);
      resolve();
    }
  });
  observer.observe(block, { childList: true, subtree: true, characterData: true });
})
"""

if __name__ == "__main__":
    main()
