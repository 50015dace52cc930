"""The browser of the benches."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-headless-shell")
"""Debian's programs; `make test` installs the second one."""


def start_browser(playwright: Playwright) -> Browser:
    """Start the browser of ``CHROMIUM``, or Debian's, with scroll bars, which Playwright would hide."""
    return playwright.chromium.launch(
        executable_path=os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None),
        args=["--no-sandbox", "--disable-background-networking"],
        ignore_default_args=["--hide-scrollbars"],
    )
