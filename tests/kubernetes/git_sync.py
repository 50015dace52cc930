#!/usr/bin/env python3
"""Stand-in for git-sync 4 in tests: the flags and variables that the extension uses, with Debian's git.

It treats them as git-sync 4.4.0 does: user and password of the repository's address go to git's credential cache, the
files of a key and of known hosts to ssh, and errors are written as JSON.
"""

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

KNOWN = {
    "repo", "ref", "root", "link", "depth", "one-time", "submodules", "sync-timeout",
    "add-user", "ssh-key-file", "ssh-known-hosts-file", "password-file",
}  # fmt: skip


def fail(message: str, error: str) -> None:
    print(json.dumps({"msg": message, "error": error}), file=sys.stderr)
    sys.exit(1)


def main() -> None:
    flags = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[1:])
    assert set(flags) <= KNOWN and flags["sync-timeout"].endswith("s"), flags
    os.environ["HOME"] = "/tmp"
    root = Path(flags["root"])
    tree = root / ".worktrees" / "one"
    tree.mkdir(parents=True)

    def git(*words: str, text: str | None = None) -> None:
        done = subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, input=text)
        if done.returncode:
            words_run = f"Run(git {' '.join(words)}): exit status {done.returncode}"
            fail("too many failures, aborting", f"{words_run}: {{ stdout: {done.stdout!r}, stderr: {done.stderr!r} }}")

    if "add-user" in flags:
        add_user()
    keys = [f"-i {flags['ssh-key-file']}"] if "ssh-key-file" in flags else []
    hosts = flags.get("ssh-known-hosts-file", "/etc/git-secret/known_hosts")
    options = ["-o StrictHostKeyChecking=yes", f"-o UserKnownHostsFile={hosts}"]
    os.environ["GIT_SSH_COMMAND"] = " ".join(["ssh", *keys, *options])
    git("config", "--global", "credential.helper", "cache --timeout 3600")
    git("config", "--global", "core.askPass", "true")
    user = os.environ.get("GITSYNC_USERNAME", "")
    if user:
        path = flags["password-file"]
        try:
            password = Path(path).read_text()
        except OSError as error:
            fail("can't read password file", f"open {path}: {(error.strerror or '').lower()}")
        git("credential", "approve", text=f"url={flags['repo']}\nusername={user}\npassword={password}\n")
    git("init", "-q")
    git("remote", "add", "origin", flags["repo"])
    depth = [] if flags["depth"] == "0" else ["--depth", flags["depth"]]
    git("fetch", "-q", *depth, "origin", flags["ref"])
    git("checkout", "-q", "--detach", "FETCH_HEAD")
    if flags["submodules"] == "recursive":
        git("submodule", "update", "--init", "--recursive", *depth)
    (root / flags["link"]).symlink_to(tree.relative_to(root))


def add_user() -> None:
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        with Path("/etc/passwd").open("a") as users:
            users.write(f"git-sync:x:{os.getuid()}:{os.getgid()}::/tmp:/sbin/nologin\n")


main()
