"""Opening the form of a script with 400 options, against that of a script without; long tasks while typing into it."""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

from lab import TOKEN, Lab, lab
from options import OPTIONS, script
from playwright.sync_api import Browser, Page, sync_playwright
from tasks import Tasks, busy, describe, record, start_browser

MANY, NONE = "many.py", "none.py"

OPEN = """async ([path, count]) => {
  const begun = performance.now();
  const frame = until => new Promise(resolve => {
    const look = () => until() ? resolve(performance.now() - begun) : requestAnimationFrame(look);
    look();
  });
  const fields = () => document.querySelectorAll('.jp-t9k-LaunchTab .jp-t9k-Launch-fields input');
  const isFilled = () => fields().length > 3 && fields()[0].value !== '';
  void window.jupyterapp.commands.execute('t9kjob:launch', { path });
  return [await frame(isFilled), await frame(() => fields().length > count)];
}"""
"""Milliseconds from the command to the frame in which the visible fields are filled, and to that with all fields."""


def write_scripts(root: Path) -> None:
    """Write the script with options and one without."""
    (root / MANY).write_text(script())
    (root / NONE).write_text("print(1)\n")


def open_lab(browser: Browser, server: Lab) -> Page:
    """Return a page whose form code is loaded, with no form open."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto(f"{server.url}lab?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Launcher-body")
    opened(page, NONE)
    close(page)
    return page


def opened(page: Page, path: str) -> tuple[float, float]:
    """Open the form of a script; return the milliseconds until it is filled, and until all its fields are there."""
    filled, complete = page.evaluate(OPEN, [path, OPTIONS if path == MANY else 3])
    return float(filled), float(complete)


def close(page: Page) -> None:
    """Close the form."""
    page.evaluate("() => window.jupyterapp.shell.currentWidget.close()")
    page.wait_for_selector(".jp-t9k-LaunchTab", state="detached")


def type_into(page: Page) -> None:
    """Type into a text field and into the field of an option, as a user does."""
    for field in ("/name", "--option-200"):
        # A locator would search all labels, in a task of the page.
        page.evaluate("field => document.querySelector(`[data-field='${field}']`).focus()", field)
        page.keyboard.press("Control+a")
        for key in "1234567890":
            page.keyboard.press(key)
            page.wait_for_timeout(40)
        page.wait_for_timeout(700)  # the preview is asked for and drawn


def main() -> None:
    """Print the medians, and the long tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, alternating")
    parser.add_argument("--load", action="store_true", help="keep every core busy meanwhile")
    parser.add_argument("--port", type=int, default=18907)
    arguments = parser.parse_args()
    times: dict[str, list[tuple[float, float]]] = {MANY: [], NONE: []}
    typed: list[Tasks] = []
    with lab(arguments.port) as server, sync_playwright() as playwright:
        write_scripts(server.root)
        browser = start_browser(playwright)
        page = open_lab(browser, server)
        with busy(arguments.load):
            for _ in range(arguments.runs):
                for path in (MANY, NONE):
                    times[path].append(opened(page, path))
                    if path == MANY:
                        page.wait_for_timeout(1000)  # what the opening has left to do is not typing
                        typed.append(record(browser, page, lambda: type_into(page)))
                    close(page)
        browser.close()
    (filled, complete), (empty, _) = (
        [statistics.median(each) for each in zip(*times[path], strict=True)] for path in (MANY, NONE)
    )
    print(f"form of a script with {OPTIONS} options: {filled:.0f} ms; without options: {empty:.0f} ms")
    print(f"  ratio {filled / empty:.1f}; all fields are in the page after {complete:.0f} ms")
    print(f"  typing: {describe(typed)}")


if __name__ == "__main__":
    main()
