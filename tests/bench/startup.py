"""Start of the server and of the page, against the same lab without the extension.

Runs alternate between the two labs, and the ratio is the median over the pairs: what slows the machine for a while
slows both parts of a pair. Beside wall times stand measures that a busy machine hardly changes: CPU time of the page's
main thread, and the number and bytes of the page's requests.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import asdict, dataclass

from browser import start_browser
from lab import TOKEN, lab
from playwright.sync_api import Browser, sync_playwright


@dataclass(frozen=True)
class Start:
    """One start of a lab and its page; times in seconds."""

    server: float
    """Start of the process to its first answer."""
    first_byte: float
    """Navigation to the first byte of the page."""
    page: float
    """Navigation to a lab that shows its launcher."""
    cpu: float
    """CPU time of the page's main thread until then."""
    requests: float
    kilobytes: float
    """Uncompressed bytes of the answers to these requests."""


MEASURES = {
    "server": "server start (s)",
    "first_byte": "first byte of the page (s)",
    "page": "page load (s)",
    "cpu": "CPU of the main thread (s)",
    "requests": "requests",
    "kilobytes": "kilobytes",
}

TRAFFIC = """() => {
    const [page] = performance.getEntriesByType('navigation');
    const requests = performance.getEntriesByType('resource');
    const bytes = requests.reduce((sum, request) => sum + request.decodedBodySize, page.decodedBodySize);
    return [page.responseStart, requests.length, bytes];
}"""


def start(browser: Browser, port: int, *, extension: bool, pause: float) -> Start:
    """Start a lab and load its page in a browser without a cache."""
    with lab(port, extension=extension) as server:
        time.sleep(pause)
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        started = time.monotonic()
        page.goto(f"{server.url}lab?token={TOKEN}&reset")
        page.wait_for_selector("#jupyterlab-splash", state="detached")
        page.wait_for_selector(".jp-Launcher-body")
        seconds = time.monotonic() - started
        metrics = {entry["name"]: entry["value"] for entry in devtools.send("Performance.getMetrics")["metrics"]}
        first_byte, requests, size = page.evaluate(TRAFFIC)
        page.context.close()
        return Start(server.seconds, first_byte / 1000, seconds, metrics["TaskDuration"], requests, size / 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9, help="pairs of runs")
    parser.add_argument("--port", type=int, default=18902)
    parser.add_argument("--pause", type=float, default=0, help="seconds between the server's start and the page's")
    arguments = parser.parse_args()
    pairs: list[tuple[Start, Start]] = []
    with sync_playwright() as playwright:
        browser = start_browser(playwright)
        for number in range(arguments.runs + 1):
            order = (True, False) if number % 2 else (False, True)
            measured = {
                extension: start(browser, arguments.port, extension=extension, pause=arguments.pause)
                for extension in order
            }
            if number:  # the first fills the disk cache
                pairs.append((measured[True], measured[False]))
        browser.close()
    for measure, label in MEASURES.items():
        values = [(asdict(ours)[measure], asdict(bare)[measure]) for ours, bare in pairs]
        ratios = sorted(ours / bare for ours, bare in values)
        ours, bare = (statistics.median(column) for column in zip(*values, strict=True))
        middle = ratios[len(ratios) // 4 : len(ratios) - len(ratios) // 4]
        print(
            f"{label}: {ours:.2f} with, {bare:.2f} without = {statistics.median(ratios):.3f} ×"
            f" (middle half of the pairs: {middle[0]:.3f} to {middle[-1]:.3f})"
        )


if __name__ == "__main__":
    main()
