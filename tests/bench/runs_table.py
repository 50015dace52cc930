"""The table of 10 000 runs while it is scrolled, sorted and filtered: long tasks."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from browser import start_browser
from lab import TOKEN, lab
from playwright.sync_api import Page, sync_playwright
from tasks import Tasks, busy, describe, record

GESTURES = ("wheel", "scroll bar", "sort", "filter")
VALUES = ("sgd", "adam", "adamw", "lion")


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


def open_table(page: Page, url: str, runs: int) -> None:
    page.goto(f"{url}lab?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Launcher-body")
    page.evaluate("() => window.jupyterapp.commands.execute('t9kjob:open-experiments', {folder: ''})")
    page.wait_for_selector(f"[role=grid][aria-rowcount='{runs + 1}']", timeout=600_000)


def gestures(page: Page) -> dict[str, Callable[[], None]]:
    """Return what is done with the table, by name."""
    table = page.locator(".jp-t9k-Runs.jp-t9k-Grid")
    box = table.bounding_box()
    assert box is not None

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
        for name in ("lr", "val.loss", "seed"):
            for _ in range(2):
                page.get_by_role("columnheader", name=name).locator("button").click()
                page.wait_for_timeout(300)

    def type_filter() -> None:
        field = page.locator(".jp-t9k-Runs-filter input, [role=combobox]").first
        field.click()
        page.keyboard.type("lr < 0.01 and val.accuracy > 0.5", delay=60)
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)
        field.fill("")
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)

    return {"wheel": wheel, "scroll bar": drag, "sort": sort, "filter": type_filter}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", choices=GESTURES, help="some of the gestures")
    parser.add_argument("--load", action="store_true", help="keep every core busy meanwhile")
    parser.add_argument("--port", type=int, default=18913)
    arguments = parser.parse_args()
    times: dict[str, list[Tasks]] = {}
    with lab(arguments.port) as server, sync_playwright() as playwright:
        write_runs(server.root, arguments.runs)
        browser = start_browser(playwright)
        for _ in range(arguments.times):
            page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
            begun = time.perf_counter()
            open_table(page, server.url, arguments.runs)
            print(f"{arguments.runs} runs in the table after {time.perf_counter() - begun:.1f} s", flush=True)
            page.wait_for_timeout(2000)  # what the opening has left to do is not scrolling
            with busy(arguments.load):
                chosen = arguments.only or GESTURES
                for name, act in gestures(page).items():
                    if name not in chosen:
                        continue
                    times.setdefault(name, []).append(record(browser, page, act))
                    print(f"  {name}: {describe(times[name][-1:])}", flush=True)
            page.context.close()
        browser.close()
    print(f"{arguments.runs} runs, {'with another process on every core' if arguments.load else 'without load'}:")
    for name, runs in times.items():
        print(f"  {name}: {describe(runs)}")


if __name__ == "__main__":
    main()
