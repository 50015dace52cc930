"""Facts about the process that records: machine, packages, git."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = """
accelerate colossalai datasets deepspeed diffusers horovod keras lightning matplotlib nltk numpy onnx pandas peft
scikit-learn scipy t9k tensorboard tensorflow torch torchaudio torchtext torchvision transformers trl
""".split()  # noqa: SIM905
_MODULES = {"scikit-learn": "sklearn"}
_FRAMEWORKS = {"torch": "PyTorch", "tensorflow": "TensorFlow", "keras": "Keras", "lightning": "Lightning"}
_GIT_SECONDS = 10


def platform_facts() -> dict[str, Any]:
    """Return host, operating system, Python, and the versions of known packages that were imported already."""
    packages = {}
    for name in _PACKAGES:
        if _MODULES.get(name, name) in sys.modules:
            try:
                packages[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
    frameworks = [title for module, title in _FRAMEWORKS.items() if module in sys.modules]
    return {
        "hostname": socket.gethostname(),
        "os": platform.platform(),
        "python": platform.python_version(),
        "pypkgs": packages,
        "framework": ",".join(frameworks),
    }


def git_facts() -> dict[str, Any]:
    """Return repository, branch and commit of the script that runs; None for each outside of a repository."""
    facts: dict[str, Any] = dict.fromkeys(("repo_path", "remote_url", "branch", "commit", "is_dirty", "entrypoint"))
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    entrypoint = Path(script).resolve() if script else None
    folder = entrypoint.parent if entrypoint is not None else Path.cwd()
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top:
        return facts
    remote = _git(folder, "config", "--get", "remote.origin.url")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    facts.update(
        repo_path=top,
        remote_url=without_credentials(remote) if remote else None,
        branch=_git(folder, "symbolic-ref", "--quiet", "--short", "HEAD") or None,
        commit=_git(folder, "rev-parse", "--verify", "--quiet", "HEAD") or None,
        is_dirty=None if changes is None else bool(changes),
        entrypoint=os.path.relpath(str(entrypoint), top) if entrypoint is not None else None,
    )
    return facts


def without_credentials(url: str) -> str:
    """Return a URL without user name and password."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]*://)[^/@]*@", r"\1", url)


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of a git command; None if it failed."""
    # A repository's own configuration may name a program as file system monitor.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_GIT_SECONDS,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
