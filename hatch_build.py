"""Build hook: compiles the translations; the wheel carries the recorder as a small wheel of its own.

The small wheel is for images without JupyterLab. It is a zip file of pure Python, so it is written here, with fixed
times: equal files give an equal wheel.
"""

from __future__ import annotations

import base64
import hashlib
import runpy
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "t9kjob_em"
TARGET = "share/jupyterlab_t9kjob"
METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Records trainings as T9k's t9k.em does; part of jupyterlab_t9kjob.
License: BSD-3-Clause
Requires-Python: >=3.8
Requires-Dist: PyYAML
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: jupyterlab_t9kjob\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class BuildHook(BuildHookInterface):
    """Compiles the translations, and adds the recorder's wheel to the data of the main wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write what the main wheel takes. An editable installation reads the recorder's files themselves."""
        root = Path(self.root)
        compiled: list[Path] = runpy.run_path(str(root / ".make/catalogue.py"))["compile_all"]()
        build_data["artifacts"] += [f"/{path.relative_to(root)}" for path in compiled]
        if self.target_name == "wheel" and version != "editable":
            wheel = write_wheel(root, root / "build" / "recorder", self.metadata.version)
            build_data["shared_data"][str(wheel)] = f"{TARGET}/{wheel.name}"


def write_wheel(root: Path, folder: Path, version: str) -> Path:
    """Write the recorder's wheel and return its path.

    Parameters
    ----------
    root
        Folder of the project.
    folder
        Folder for the wheel.
    version
        Version of the project.
    """
    files: dict[str, bytes] = runpy.run_path(str(root / "jupyterlab_t9kjob/em_distribution.py"))["files"]()
    info = f"{NAME}-{version}.dist-info"
    files[f"{info}/METADATA"] = METADATA.format(name=NAME.replace("_", "-"), version=version).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    files[f"{info}/licenses/LICENSE"] = (root / "LICENSE").read_bytes()
    record = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{NAME}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
