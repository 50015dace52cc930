"""Environment and options of git commands that talk to a repository elsewhere.

The user's own configuration counts, so that credential helpers and the SSH agent work. Nothing asks for a password,
and nothing from the repository runs: no hooks, no filters, no other protocols.

The supervisor of local jobs uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from typing import Final

OPTIONS: Final = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat",
                  "-c", "core.attributesFile=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
                  "-c", "advice.detachedHead=false")  # fmt: skip
_KEPT: Final = re.compile(r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|PROXY_\w+|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM))")


def environment(protocols: Iterable[str]) -> dict[str, str]:
    """Return the environment of a git command that may use the given protocols."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or _KEPT.fullmatch(key)}
    own.pop("DISPLAY", None)
    return own | {
        "GIT_ALLOW_PROTOCOL": ":".join(protocols),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }


def without_filters(env: dict[str, str]) -> list[str]:
    """Return options that turn off the filters of the user's configuration, which a repository could name (blocking).

    Parameters
    ----------
    env
        Environment of the git commands.
    """
    found = subprocess.run(
        ["git", "config", "--name-only", "--get-regexp", r"^filter\..*\.(smudge|process|clean|required)$"],  # noqa: S607
        cwd="/", env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False,
    )  # fmt: skip
    options = []
    for key in found.stdout.splitlines():
        options += ["-c", f"{key}=false" if key.endswith(".required") else f"{key}="]
    return options
