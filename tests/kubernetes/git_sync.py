#!/usr/bin/env python3
"""Stand-in for git-sync 4 in tests: the flags that the extension uses, with Debian's git."""

import json
import subprocess
import sys
from pathlib import Path


def main() -> None:
    flags = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[1:])
    known = {
        "repo", "ref", "root", "link", "depth", "one-time", "submodules", "sync-timeout",
        "add-user", "ssh-key-file", "ssh-known-hosts-file", "password-file",
    }  # fmt: skip
    assert set(flags) <= known and flags["sync-timeout"].endswith("s"), flags
    root = Path(flags["root"])
    tree = root / ".worktrees" / "one"
    tree.mkdir(parents=True)

    def git(*words: str) -> None:
        done = subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True)
        if done.returncode:
            error = f"Run(git {' '.join(words)}): exit status {done.returncode}: {{ stderr: {done.stderr!r} }}"
            print(json.dumps({"msg": "too many failures, aborting", "error": error}), file=sys.stderr)
            sys.exit(1)

    git("init", "-q")
    git("fetch", "-q", *([] if flags["depth"] == "0" else ["--depth", flags["depth"]]), flags["repo"], flags["ref"])
    git("checkout", "-q", "--detach", "FETCH_HEAD")
    (root / flags["link"]).symlink_to(tree.relative_to(root))


main()
