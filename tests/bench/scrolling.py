"""Scrolling through a log of a million lines, against a plain page with as many lines as we hold: long tasks."""

from __future__ import annotations

import argparse
import time
import uuid
from collections.abc import Callable

from browser import start_browser
from lab import TOKEN, Lab, lab
from playwright.sync_api import Page, sync_playwright
from tasks import Tasks, busy, describe, record

# The same number as in src/logs/loading/window.ts.
WINDOW = 10_000
LINE = "rank {rank} | epoch {epoch:4d} | step {step:8d} | loss {loss:.6f} | lr 3.0e-04 | 812.4 samples/s"
SCRIPT = f"""
import os
import sys

rank, lines = int(os.environ["RANK"]), int(sys.argv[1])
for step in range(lines):
    print({LINE!r}.format(rank=rank, epoch=step // 1000, step=step, loss=1 / (step + 1)))
"""


def write_log(server: Lab, ranks: int, lines: int) -> str:
    """Run a job that writes the lines; return its id."""
    (server.root / "many.py").write_text(SCRIPT)
    spec = server.request("t9kjob/launch/prefill", {"path": "many.py"})["spec"] | {"args": [str(lines // ranks)]}
    spec["torchrun"]["proc_per_node"] = ranks
    job = server.request("t9kjob/jobs", {"spec": spec, "request_id": uuid.uuid4().hex})
    address = f"t9kjob/jobs/{job['id'].replace(':', '%3A')}"
    while (phase := server.request(address)["phase"]) != "Succeeded":
        if phase == "Failed":
            raise RuntimeError(server.request(address)["reason"])
        time.sleep(0.2)
    return str(job["id"])


def open_log(page: Page, url: str, job: str) -> None:
    page.goto(f"{url}lab?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Launcher-body")
    page.evaluate("id => window.jupyterapp.commands.execute('t9kjob:open-job', {id, tab: 'logs'})", job)
    page.wait_for_selector(".jp-t9k-LogRow")


def open_plain(page: Page) -> None:
    lines = "\n".join(LINE.format(rank=0, epoch=s // 1000, step=s, loss=1 / (s + 1)) for s in range(WINDOW))
    page.set_content(
        "<div class=jp-t9k-LogLines tabindex=0 style='height: 640px; overflow: auto; font: 12px/18px monospace'>"
        f"<pre style='margin: 0; font: inherit'>{lines}</pre></div>"
    )


def gestures(page: Page, wheels: int) -> dict[str, Callable[[], None]]:
    """Return all ways through a log, by name; each begins where the one before left it."""
    log = page.locator(".jp-t9k-LogLines")
    box = log.bounding_box()
    assert box is not None

    def at(fraction: float) -> tuple[float, float]:
        return box["x"] + box["width"] - 6, box["y"] + 20 + (box["height"] - 40) * fraction

    def wheel() -> None:
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        for _ in range(wheels):
            page.mouse.wheel(0, -1500)
        for _ in range(wheels):
            page.mouse.wheel(0, 1500)

    def drag() -> None:
        page.mouse.move(*at(1))
        page.mouse.down()
        page.mouse.move(*at(0), steps=300)
        page.mouse.move(*at(1), steps=300)
        page.mouse.up()

    def keys() -> None:
        log.focus()
        for key in ("Home", *["PageDown"] * 100, "End", *["PageUp"] * 100, "Home", "End"):
            page.keyboard.press(key)
            page.wait_for_timeout(16)

    return {"wheel": wheel, "scroll bar": drag, "keys": keys}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each, alternating")
    parser.add_argument("--lines", type=int, default=1_000_000, help="of all ranks together")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--wheels", type=int, default=400, help="turns of the wheel, up and down again")
    parser.add_argument("--load", action="store_true", help="keep every core busy meanwhile")
    parser.add_argument("--port", type=int, default=18903)
    arguments = parser.parse_args()
    times: dict[tuple[str, str], list[Tasks]] = {}
    with lab(arguments.port) as server, sync_playwright() as playwright:
        job = write_log(server, arguments.ranks, arguments.lines)
        browser = start_browser(playwright)
        for _ in range(arguments.runs):
            for place in ("the log", f"a plain page of {WINDOW} lines"):
                page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
                if place == "the log":
                    open_log(page, server.url, job)
                else:
                    open_plain(page)
                page.wait_for_timeout(1000)  # what the opening has left to do is not scrolling
                with busy(arguments.load):
                    for name, act in gestures(page, arguments.wheels).items():
                        times.setdefault((name, place), []).append(record(browser, page, act))
                page.context.close()
        browser.close()
    load = "with another process on every core" if arguments.load else "without load"
    print(f"scrolling {arguments.lines} lines of {arguments.ranks} ranks, {load}:")
    for (name, place), runs in sorted(times.items()):
        print(f"  {name}, {place}: {describe(runs)}")


if __name__ == "__main__":
    main()
