"""The table of 10 000 runs, or of 10 000 jobs, while it is scrolled, sorted and filtered: long tasks."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser import start_browser
from lab import TOKEN, lab
from playwright.sync_api import Page, WebSocketRoute, sync_playwright
from tasks import Tasks, busy, describe, record

GESTURES = ("wheel", "scroll bar", "sort", "filter")
VALUES = ("sgd", "adam", "adamw", "lion")
TABLES = {
    "runs": (("lr", "val.loss", "seed"), "lr < 0.01 and val.accuracy > 0.5"),
    "jobs": (("Name", "Duration", "GPU-h"), "state = failed and gpus > 2"),
}
"""Columns that are sorted and the filter that is typed, by table."""


def write_runs(top: Path, runs: int) -> None:
    """Write runs of the recorder with four hyperparameters and three metrics."""
    for number in range(runs):
        folder = top / f".em/runs/trial_260101_000000_{number:06d}"
        (folder / "metrics").mkdir(parents=True)
        begun = f"'2026-01-{1 + number % 28:02d}T10:{number % 60:02d}:00.000000+00:00'"
        (folder / "metadata.yaml").write_text(
            f"kind: Run\nname: trial-{number}\nstatus: Complete\nstartTimestamp: {begun}\n"
            "endTimestamp: '2026-01-29T10:00:00.000000+00:00'\n"
        )
        (folder / "hyperparameters.yaml").write_text(
            f"lr: {0.1 ** (1 + number % 5)}\nbatch_size: {2 ** (number % 8)}\noptimizer: {VALUES[number % 4]}\n"
            f"seed: {number}\n"
        )
        lines = []
        for step in range(30):
            value = (number * 7919 + step * 104_729) % 1000 / 1000
            lines.append(
                f"- value:\n    loss: {1 - value}\n    accuracy: {value}\n    norm: {value * 3}\n"
                f"  sequence:\n    epoch: null\n    step: {step}\n    timestamp: {begun}\n"
            )
        (folder / "metrics/val.yaml").write_text("".join(lines))


def job(number: int, now: float) -> dict[str, Any]:
    """Return a job that has ended, as the server describes it."""
    name, ended = f"job-{number}", now - 60 * number
    state, words = ("Failed", "Rank 1 failed: exit code 1") if number % 5 == 0 else ("Succeeded", "Ran 4 min 12 s")
    return {
        "id": f"local::{name}:{number}", "engine": "local", "namespace": "", "name": name, "uid": str(number),
        "display_name": None, "phase": state, "pending_action": None, "ended_by": "itself",
        "reason": {"code": state, "sentence": words, "hint": None, "fix": None, "verbatim": None, "links": []},
        "created_at": ended - 254, "started_at": ended - 252, "ended_at": ended, "ran_seconds": 252,
        "running_since": None, "attempt": 1, "restarts": number % 3, "replicas": 1, "replicas_running": 0, "nodes": [],
        "processes": 2, "devices": {"name": "nvidia.com/gpu", "count": 1 + number % 8}, "devices_held": None,
        "gpu_hours": (1 + number % 8) * 0.07, "queue": None, "progress": None, "stalled": None, "mine": True,
        "owner": None, "read_only": None, "deleted": False, "actions": ["rerun", "remove", "delete"], "refused": {},
        "entrypoint_path": "train.py", "log_dirs": [], "request_id": None, "sweep": None, "continues": None,
        "continuation": None,
    }  # fmt: skip


def serve_jobs(page: Page, jobs: int) -> None:
    """Add jobs to the server's answers on the stream of jobs."""
    now = time.time()
    added = [job(number, now) for number in range(jobs)]

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def forward(text: str | bytes) -> None:
            message = json.loads(text)
            if message["type"] == "snapshot":
                message["jobs"] += added
            socket.send(json.dumps(message))

        server.on_message(forward)

    page.route_web_socket(re.compile("/t9kjob/stream"), connect)


def open_table(page: Page, url: str, table: str, rows: int) -> None:
    if table == "jobs":
        serve_jobs(page, rows)
    page.goto(f"{url}lab?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Launcher-body")
    page.evaluate(
        "([name, table]) => window.jupyterapp.commands.execute(name, table === 'runs' ? {folder: ''} : {})",
        ["t9kjob:open-experiments" if table == "runs" else "t9kjob:open-all-jobs", table],
    )
    page.wait_for_function(
        "rows => Number(document.querySelector('.jp-t9k-Runs [aria-rowcount]')?.ariaRowCount) > rows",
        arg=rows,
        timeout=600_000,
    )


def middle(page: Page, selector: str, text: str = "") -> tuple[float, float]:
    """Return the middle of an element. Playwright's clicks would search for the element in the recorded tasks."""
    found = page.locator(selector).filter(has_text=re.compile(f"^{re.escape(text)}")).first.bounding_box()
    assert found is not None
    return found["x"] + found["width"] / 2, found["y"] + found["height"] / 2


def gestures(page: Page, table: str) -> dict[str, Callable[[], None]]:
    """Return what is done with a table, by name."""
    columns, expression = TABLES[table]
    box = page.locator(".jp-t9k-Runs.jp-t9k-Grid").bounding_box()
    assert box is not None
    heads = [middle(page, ".jp-t9k-Runs th > button", name) for name in columns]
    field = middle(page, ".jp-t9k-Runs-filter input")

    def at(fraction: float) -> tuple[float, float]:
        return box["x"] + box["width"] - 6, box["y"] + 60 + (box["height"] - 90) * fraction

    def wheel() -> None:
        page.mouse.move(box["x"] + 300, box["y"] + 300)
        for delta in (700, -700):
            for _ in range(200):
                page.mouse.wheel(0, delta)

    def drag() -> None:
        page.mouse.move(*at(0))
        page.mouse.down()
        page.mouse.move(*at(1), steps=200)
        page.mouse.move(*at(0), steps=200)
        page.mouse.up()

    def sort() -> None:
        for head in heads:
            for _ in range(2):
                page.mouse.click(*head)
                page.wait_for_timeout(300)

    def type_filter() -> None:
        page.mouse.click(*field)
        page.keyboard.type(expression, delay=60)
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)

    return {"wheel": wheel, "scroll bar": drag, "sort": sort, "filter": type_filter}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--table", choices=TABLES, default="runs")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", choices=GESTURES, help="some of the gestures")
    parser.add_argument("--load", action="store_true", help="keep every core busy meanwhile")
    parser.add_argument("--port", type=int, default=18913)
    arguments = parser.parse_args()
    times: dict[str, list[Tasks]] = {}
    with lab(arguments.port) as server, sync_playwright() as playwright:
        if arguments.table == "runs":
            write_runs(server.root, arguments.rows)
        browser = start_browser(playwright)
        for _ in range(arguments.times):
            page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
            begun = time.perf_counter()
            open_table(page, server.url, arguments.table, arguments.rows)
            print(
                f"{arguments.rows} {arguments.table} in the table after {time.perf_counter() - begun:.1f} s", flush=True
            )
            page.wait_for_timeout(2000)  # what the opening has left to do is not scrolling
            with busy(arguments.load):
                chosen = arguments.only or GESTURES
                for name, act in gestures(page, arguments.table).items():
                    if name not in chosen:
                        continue
                    times.setdefault(name, []).append(record(browser, page, act))
                    print(f"  {name}: {describe(times[name][-1:])}", flush=True)
            page.context.close()
        browser.close()
    load = "with another process on every core" if arguments.load else "without load"
    print(f"{arguments.rows} {arguments.table}, {load}:")
    for name, runs in times.items():
        print(f"  {name}: {describe(runs)}")


if __name__ == "__main__":
    main()
