"""Opening the form of a script with 400 options, against that of a script without; long tasks while typing into it.

Each run opens a script that the server has not read before, and then opens it again. ``--lines 10000`` makes the
scripts as long as those of `options.py`.
"""

from __future__ import annotations

import argparse
import statistics
from functools import partial
from pathlib import Path

from browser import start_browser
from lab import TOKEN, Lab, lab
from options import OPTIONS, script
from playwright.sync_api import Browser, Page, sync_playwright
from tasks import Tasks, busy, describe, record

NONE = "none.py"
TYPED = ("/name", "--option-200")

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


def write_script(root: Path, name: str, lines: int) -> str:
    """Write a script with options whose text no other one has."""
    (root / name).write_text(f"{script(lines)}\n# {name}\n")
    return name


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
    filled, complete = page.evaluate(OPEN, [path, 3 if path == NONE else OPTIONS])
    return float(filled), float(complete)


def close(page: Page) -> None:
    """Close the form."""
    page.evaluate("() => window.jupyterapp.shell.currentWidget.close()")
    page.wait_for_selector(".jp-t9k-LaunchTab", state="detached")


def go_to(page: Page, field: str) -> None:
    """Focus a field, which may scroll to it. A locator would search all labels, in a task of the page."""
    page.evaluate("field => document.querySelector(`[data-field='${field}']`).focus()", field)
    page.wait_for_timeout(500)


def type_into(page: Page) -> None:
    """Type into the field that has the focus, as a user does."""
    page.keyboard.press("Control+a")
    for key in "1234567890":
        page.keyboard.press(key)
        page.wait_for_timeout(40)
    page.wait_for_timeout(700)  # the preview is asked for and drawn


def main() -> None:
    """Print the medians, and the long tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, alternating")
    parser.add_argument("--lines", type=int, default=1500, help="lines of the script with options")
    parser.add_argument("--load", action="store_true", help="keep every core busy meanwhile")
    parser.add_argument("--port", type=int, default=18907)
    arguments = parser.parse_args()
    new, again, none = list[tuple[float, float]](), list[tuple[float, float]](), list[tuple[float, float]]()
    gone, typed = list[Tasks](), list[Tasks]()
    with lab(arguments.port) as server, sync_playwright() as playwright:
        (server.root / NONE).write_text("print(1)\n")
        browser = start_browser(playwright)
        page = open_lab(browser, server)
        with busy(arguments.load):
            for number in range(arguments.runs):
                path = write_script(server.root, f"many-{number}.py", arguments.lines)
                new.append(opened(page, path))
                page.wait_for_timeout(1000)  # what the opening has left to do is not typing
                for field in TYPED:
                    gone.append(record(browser, page, partial(go_to, page, field)))
                    typed.append(record(browser, page, partial(type_into, page)))
                close(page)
                none.append(opened(page, NONE))
                close(page)
                again.append(opened(page, path))
                close(page)
        browser.close()
    (filled, complete), (seen, _all), (empty, _none) = (
        [statistics.median(each) for each in zip(*times, strict=True)] for times in (new, again, none)
    )
    print(
        f"form of a script with {OPTIONS} options and {arguments.lines} lines: {filled:.0f} ms, again {seen:.0f} ms;"
        f" without options: {empty:.0f} ms"
    )
    print(f"  ratio {filled / empty:.1f}; all fields are in the page after {complete:.0f} ms")
    print(f"  typing: {describe(typed)}")
    print(f"  going to a field: {describe(gone)}")


if __name__ == "__main__":
    main()
