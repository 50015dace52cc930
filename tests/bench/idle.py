"""Measures the CPU time of an open, idle lab, with the extension and without it.

A namespace with many quiet jobs; the page shows the sidebar, then hides it, and is then itself behind another tab.
"""

from __future__ import annotations

import argparse
import os
import time

import cpu
from browser import start_browser
from hidden import tab
from lab import TOKEN, Lab, lab
from playwright.sync_api import Browser, sync_playwright
from quiet import MINE, make_quiet_jobs, namespace


def used(server: Lab, jobs: int, seconds: float, *, hides: bool) -> list[tuple[float, float]]:
    """Return the shares of one processor that server and page take, with the sidebar, and without it if it `hides`."""
    with sync_playwright() as playwright:
        browser = start_browser(playwright)
        found = _used(browser, server, jobs, seconds, hides=hides)
        browser.close()
    return found


def _used(browser: Browser, server: Lab, jobs: int, seconds: float, *, hides: bool) -> list[tuple[float, float]]:
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    meter = cpu.meter(page)
    page.goto(f"{server.url}lab?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Launcher-body")
    if jobs:
        page.evaluate("window.jupyterapp.shell.activateById('t9kjob-monitor')")
        page.wait_for_selector(".jp-t9k-JobList-row")
        title = "document.querySelector('.jp-t9k-SectionTitle small').textContent"
        page.wait_for_function(f"{title}.startsWith('{jobs}')")
        while len(list(server.root.parent.rglob("record.json"))) < jobs:  # the server's first look at own jobs
            page.wait_for_timeout(1000)
    found = []
    for hidden in (False, True)[: 1 + hides]:
        if hidden:
            page.evaluate("window.jupyterapp.shell.collapseLeft()")
        page.wait_for_timeout(5000)  # what opening has left to do
        before = cpu.of_process(server.pid), cpu.of_page(meter)
        page.wait_for_timeout(seconds * 1000)
        found.append(((cpu.of_process(server.pid) - before[0]) / seconds, (cpu.of_page(meter) - before[1]) / seconds))
    page.context.close()
    return found


def used_behind(server: Lab, jobs: int, seconds: float) -> tuple[float, float]:
    """Return the shares of one processor that server and page take, with the sidebar in a tab behind another one."""
    with tab() as page:
        page.send("Page.navigate", url=f"{server.url}lab?token={TOKEN}&reset")
        page.until("!!document.querySelector('.jp-Launcher-body')")
        if jobs:
            page.ask("window.jupyterapp.shell.activateById('t9kjob-monitor')")
            page.until(f"document.querySelector('.jp-t9k-SectionTitle small')?.textContent.startsWith('{jobs}')")
        page.hide()
        time.sleep(5)  # what opening has left to do
        before = cpu.of_process(server.pid), cpu.of_page(page)
        time.sleep(seconds)
        return (cpu.of_process(server.pid) - before[0]) / seconds, (cpu.of_page(page) - before[1]) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--port", type=int, default=18907)
    arguments = parser.parse_args()
    with namespace() as kube:
        make_quiet_jobs(kube, arguments.jobs)
        load = os.getloadavg()[0]
        with lab(arguments.port, kubeconfig=kube.kubeconfig, options=[MINE]) as server:
            shown, hidden = used(server, arguments.jobs, arguments.seconds, hides=True)
            behind = used_behind(server, arguments.jobs, arguments.seconds)
        with lab(arguments.port, extension=False) as server:
            (bare,) = used(server, 0, arguments.seconds, hides=False)
            bare_behind = used_behind(server, 0, arguments.seconds)
    print(f"{arguments.jobs} quiet jobs, of one processor, load of the machine {load:.1f} to {os.getloadavg()[0]:.1f}:")
    for what, shares in (
        ("sidebar open", shown),
        ("sidebar hidden", hidden),
        ("behind another tab", behind),
        ("without the extension", bare),
        ("without the extension, behind another tab", bare_behind),
    ):
        print(f"  {what}: server {shares[0]:.1%}, page {shares[1]:.1%}")


if __name__ == "__main__":
    main()
