"""The Python interpreter of a kernelspec."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any

from ...core.translation import Text, _

PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?(?:\.exe)?", re.IGNORECASE)
OWN_NAMES = frozenset(
    {"python", f"python{sys.version_info.major}", f"python{sys.version_info.major}.{sys.version_info.minor}"}
)
CONDA = frozenset({"conda", "mamba", "micromamba"})
LOCAL_PROVISIONER = "local-provisioner"
BIN = "Scripts/python.exe" if os.name == "nt" else "bin/python"


@dataclass(frozen=True)
class Resolved:
    """Interpreter and environment of a kernelspec.

    Attributes
    ----------
    python
        Absolute path of the interpreter; None if it is not known, and `reason` says why.
    env
        Variables that the kernelspec adds to the environment, with references expanded.
    reason
        Sentence that says why the kernel can't run a job; None if it can.
    """

    python: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    reason: Text | None = None


def resolve(spec: dict[str, Any], resource_dir: str) -> Resolved:
    """Return the interpreter of a kernelspec that jupyter_client would start.

    Parameters
    ----------
    spec
        Content of the kernelspec's ``kernel.json``.
    resource_dir
        Folder of ``kernel.json``.
    """
    language = str(spec.get("language") or "")
    if not language:
        return Resolved(reason=_("Its language is not known."))
    if language.lower() != "python":
        return Resolved(reason=_("Its language is {language}, not Python.", language=language))
    metadata = spec.get("metadata")
    provisioner = metadata.get("kernel_provisioner") if isinstance(metadata, dict) else None
    if isinstance(provisioner, dict) and provisioner.get("provisioner_name", LOCAL_PROVISIONER) != LOCAL_PROVISIONER:
        name = str(provisioner["provisioner_name"])
        return Resolved(reason=_("It does not run on this machine but through “{provisioner}”.", provisioner=name))
    command = spec.get("argv")
    argv = [str(part) for part in command] if isinstance(command, list) else []
    if not argv:
        return Resolved(reason=_("Its kernelspec has no command."))
    env = _environment(spec.get("env"))
    names = {"prefix": sys.prefix, "resource_dir": resource_dir}
    argv = [re.sub(r"\{(\w+)\}", lambda m: names.get(m[1], m[0]), part) for part in argv]
    python = _python(argv, env)
    if python is None:
        return Resolved(
            env=env,
            reason=_(
                "It starts through “{program}”, so the Python behind it is not known.", program=Path(argv[0]).name
            ),
        )
    if not (Path(python).is_file() and os.access(python, os.X_OK)):
        return Resolved(env=env, reason=_("Its Python {python} does not exist.", python=python))
    return Resolved(python=python, env=env)


def _environment(env: Any) -> dict[str, str]:
    if not isinstance(env, dict):
        return {}
    return {str(name): Template(str(value)).safe_substitute(os.environ) for name, value in env.items()}


def _python(argv: list[str], env: dict[str, str]) -> str | None:
    program = Path(argv[0]).name
    if Path(program).stem in CONDA and argv[1:2] == ["run"]:
        return _conda_run(argv)
    if argv[1:3] == ["-m", "nb_conda_kernels.runner"] and len(argv) > 4:
        return str(Path(argv[4]) / BIN)  # python -m nb_conda_kernels.runner CONDA_PREFIX ENVIRONMENT …
    if not PYTHON.fullmatch(program) or not _is_kernel(argv[1:]):
        return None
    if argv[0] in OWN_NAMES:
        return sys.executable  # jupyter_client does the same.
    if os.sep in argv[0]:
        return os.path.abspath(argv[0])  # noqa: PTH100 (a venv's Python is a symbolic link, which must be kept)
    return shutil.which(argv[0], path=env.get("PATH")) or argv[0]


def _is_kernel(arguments: list[str]) -> bool:
    """Return True if the program runs ipykernel itself, and not a wrapper that may start another Python."""
    rest = [a for a in arguments if not re.match(r"-[XWEIsuBOPdqv]", a)]
    return rest[:1] == ["-m"] and rest[1:2] in (
        ["ipykernel_launcher"],
        ["ipykernel"],
        ["xpython"],
        ["xpython_launcher"],
    )


def _conda_run(argv: list[str]) -> str | None:
    options = dict(pairwise(argv))
    prefix = options.get("-p") or options.get("--prefix")
    if prefix:
        return str(Path(prefix) / BIN)
    name = options.get("-n") or options.get("--name")
    conda = shutil.which(argv[0])
    if not name or not conda or "/" in name:
        return None
    root = Path(conda).resolve().parent.parent  # …/bin/conda or …/condabin/conda
    folders = [root / "envs" / name, Path.home() / ".conda" / "envs" / name, *([root] if name == "base" else [])]
    return next((str(folder / BIN) for folder in folders if (folder / BIN).exists()), None)
