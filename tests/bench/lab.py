"""A real Jupyter server in a directory of its own, for the benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKEN = "benchmark"


@dataclass(frozen=True)
class Lab:
    """A running server: where it is, its process, and how long it took to answer."""

    url: str
    root: Path
    pid: int
    seconds: float

    def request(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            urllib.request.urlopen(f"{url}api?token={TOKEN}", timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.01)
        else:
            return


def _other_extensions(folder: Path) -> Path:
    """Fill `folder` with links to the environment's front-end extensions except ours."""
    folder.mkdir()
    for extension in (Path(sys.prefix) / "share/jupyter/labextensions").iterdir():
        if extension.name != "jupyterlab_t9kjob":
            (folder / extension.name).symlink_to(extension)
    return folder


@contextmanager
def lab(
    port: int, *, extension: bool = True, kubeconfig: Path | None = None, options: Sequence[str] = ()
) -> Iterator[Lab]:
    """Start JupyterLab on `port`, with or without the extension, and end it afterwards."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        root = home / "root"
        root.mkdir()
        (home / "config").mkdir()
        if not extension:
            # JupyterLab loads the code of a disabled extension too, so the page must not find it.
            options = [f"--LabApp.labextensions_path={_other_extensions(home / 'labextensions')}", *options]
        environment = os.environ | {
            "HOME": directory,
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "KUBECONFIG": str(kubeconfig or home / "no-kubeconfig"),
        }
        url = f"http://127.0.0.1:{port}/"
        with (home / "log").open("wb") as log:
            started = time.monotonic()
            process = subprocess.Popen(
                [
                    sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
                    f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
                    f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={root}",
                    f"--ServerApp.jpserver_extensions={{'jupyterlab_t9kjob': {extension}}}", *options,
                ],
                env=environment, stdout=log, stderr=log,
            )  # fmt: skip
            try:
                _wait_for(url, process)
                yield Lab(url, root, process.pid, time.monotonic() - started)
            finally:
                process.terminate()
                process.wait()
