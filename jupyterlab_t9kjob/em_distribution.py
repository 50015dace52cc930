"""The files of the recorder `jupyterlab_t9kjob.em` as a distribution of its own, for images without JupyterLab.

A folder with these files on `PYTHONPATH` is enough. Neither `jupyterlab_t9kjob` nor `t9k` has an `__init__.py`, so an
installed package of that name, such as T9k's own SDK, takes precedence. The build hook loads this module by its path:
it imports nothing of the package.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

_ALIAS = "alias"
_BESIDE = "secret_values.py"
"""The only module of the package that the recorder imports."""


def files() -> dict[str, bytes]:
    """Return the content of each file by its path below the folder that goes on `PYTHONPATH` (blocking)."""
    top = Path(__file__).parent / "em"
    found = {f"jupyterlab_t9kjob/{_BESIDE}": top.with_name(_BESIDE).read_bytes()}
    for file in sorted(top.rglob("*.py")):
        path = file.relative_to(top)
        is_alias = path.parts[0] == _ALIAS
        target = Path("t9k/em", *path.parts[1:]) if is_alias else Path("jupyterlab_t9kjob/em") / path
        found[target.as_posix()] = file.read_bytes()
    return found


def digest(content: dict[str, bytes]) -> str:
    """Return a hash of files, which tells versions apart.

    Parameters
    ----------
    content
        The files, by path.
    """
    found = hashlib.sha256()
    for path, data in content.items():
        found.update(f"{path}\0{len(data)}\0".encode())
        found.update(data)
    return found.hexdigest()[:12]
