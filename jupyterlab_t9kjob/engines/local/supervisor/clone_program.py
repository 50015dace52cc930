"""Clones a git repository: ``python -I -S …/clone_program.py PLAN ERROR``; both are paths of JSON files.

The clone appears at once and complete in ``<folder>/files``. Jobs of one commit wait for each other by a lock, so that
it is cloned once.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .records.record import ClonePlan

MOST_SECONDS: Final = 1800.0
_MOST_WORDS: Final = 4000
"""Number of characters of git's message that are kept."""


class _Failed(Exception):
    """A git command failed; the argument is git's own message."""


def clone(plan: ClonePlan) -> None:
    """Clone a commit, unless another job has cloned it.

    Raises
    ------
    OSError
        If the clone can't be written, or git is not installed.
    """
    from ....core.system import git_program
    from ....core.system.locks import try_lock
    from ....core.system.trees import protect_tree, remove_tree

    folder = Path(plan["folder"])
    lock = try_lock(folder / "lock", wait=True)
    try:
        target = folder / "files"
        if target.exists():
            return
        for old in folder.glob(".new-*"):
            remove_tree(old)
        new = folder / f".new-{secrets.token_hex(8)}"
        env = git_program.environment(plan["protocols"])
        git = _Git(new, [*git_program.OPTIONS, *git_program.without_filters(env)], env)
        try:
            _fetch(git, plan)
            protect_tree(new)
            new.chmod(0o755)  # A folder that its owner can't write can't be renamed on every system.
            new.rename(target)
            target.chmod(0o555)
        finally:
            remove_tree(new)
    finally:
        if lock is not None:
            os.close(lock)


def _fetch(git: _Git, plan: ClonePlan) -> None:
    git.folder.mkdir(parents=True)
    git("init", "--quiet", "--template=")
    depth = [] if plan["history"] else ["--depth=1"]
    fetch = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
    try:
        git(*fetch, *depth, "--", plan["address"], plan["commit"])
    except _Failed:  # Old servers do not give a commit by its id: fetch the branch with its history.
        if plan["ref"] in ("", plan["commit"]):
            git(*fetch, "--", plan["address"], "HEAD")
        else:
            git(*fetch, "--", plan["address"], plan["ref"])
    git("checkout", "--quiet", "--detach", plan["commit"])
    if plan["submodules"]:
        git("remote", "add", "origin", plan["address"])  # Relative addresses of submodules refer to it.
        git("submodule", "--quiet", "update", "--init", "--recursive", *depth)


class _Git:
    """Runs git commands in a new repository."""

    def __init__(self, folder: Path, options: list[str], env: dict[str, str]) -> None:
        self.folder = folder
        self._options = options
        self._env = env
        self._end = time.monotonic() + MOST_SECONDS

    def __call__(self, *arguments: str) -> None:
        left = max(0.1, self._end - time.monotonic())
        with subprocess.Popen(
            ["git", *self._options, *arguments],  # noqa: S607
            cwd=self.folder,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                said = process.communicate(timeout=left)[1]
            except subprocess.TimeoutExpired as error:
                os.killpg(process.pid, signal.SIGKILL)  # Also the programs that git has started, which write the clone.
                raise _Failed(f"git {arguments[0]} timed out after {MOST_SECONDS:.0f} s") from error
        if process.returncode:
            words = said.decode("utf-8", "replace").strip()
            raise _Failed(words[-_MOST_WORDS:] or f"git {arguments[0]} ended with code {process.returncode}")


def main(plan: Path, error: Path) -> int:
    """Clone the repository of a plan; return the exit code: 0, or 1 if the clone failed.

    Parameters
    ----------
    plan
        JSON file whose ``code`` is a `ClonePlan`.
    error
        JSON file that is written after a failure, with git's message as ``words``.
    """
    try:
        clone(json.loads(plan.read_bytes())["code"])
    except _Failed as problem:
        words = str(problem)
    except OSError as problem:
        words = f"{problem.strerror}: {problem.filename!r}"
    except subprocess.TimeoutExpired as problem:
        words = f"git config timed out after {problem.timeout:.0f} s"
    else:
        return 0
    with contextlib.suppress(OSError):  # Without the file, the job's reason has no words of git.
        error.write_text(json.dumps({"words": words}), "utf-8")
    return 1


if __name__ == "__main__":
    _root = Path(__file__).resolve().parents[3]
    _package = types.ModuleType(_root.name)
    _package.__path__ = [str(_root)]
    sys.modules[_root.name] = _package
    from jupyterlab_t9kjob.engines.local.supervisor import clone_program

    sys.exit(clone_program.main(Path(sys.argv[1]), Path(sys.argv[2])))
