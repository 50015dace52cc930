"""The browser of the tests: found, or installed where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from threading import Lock

from report import CI

installing = Lock()


def find() -> str | None:
    """Find Chromium, or install Debian's where that is possible; a run tries that once.

    The headless shell is the same engine without the browser's own windows: a page costs it three fifths of the CPU.
    Where Debian has no such package, its whole browser is installed.
    """
    with installing:
        return _find_or_install()


@cache
def _find_or_install() -> str | None:
    shell = "chromium-headless-shell"
    names = (shell, "chromium", "chromium-browser", "google-chrome")

    def there() -> str | None:
        return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)

    lacks = not there() or (CI and "CHROMIUM" not in os.environ and not shutil.which(shell))
    if lacks and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium", flush=True)
        subprocess.run(["apt-get", "-qq", "update"])
        for package in (shell,) if there() else (shell, "chromium"):
            if not subprocess.run(f"apt-get -qq install --yes {package} > /dev/null", shell=True).returncode:
                break
    return there()
