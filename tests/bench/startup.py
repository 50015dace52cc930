"""Start of the server and of the page, against the same lab with the extension switched off."""

from __future__ import annotations

import argparse
import shutil
import statistics
import time

from lab import TOKEN, lab
from playwright.sync_api import Browser, sync_playwright


def page_load(browser: Browser, url: str) -> float:
    """Return the seconds from the navigation to a lab that shows its launcher."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    started = time.monotonic()
    page.goto(f"{url}lab?token={TOKEN}&reset")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    page.wait_for_selector(".jp-Launcher-body")
    seconds = time.monotonic() - started
    page.context.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, alternating")
    parser.add_argument("--port", type=int, default=18902)
    arguments = parser.parse_args()
    times: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-background-networking"]
        )
        for number in range(arguments.runs + 1):
            for extension in (True, False):
                with lab(arguments.port, extension=extension) as server:
                    pair = server.seconds, page_load(browser, server.url)
                if number:  # the first fills the disk cache
                    times[extension].append(pair)
        browser.close()
    for place, what in enumerate(("server start", "page load")):
        ours, bare = (statistics.median(pair[place] for pair in times[extension]) for extension in (True, False))
        print(f"{what}: {ours:.2f} s with, {bare:.2f} s without = {ours / bare:.2f} ×")


if __name__ == "__main__":
    main()
