"""Start JupyterLab and print the address to open."""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_runtime_dir

READY = """
JupyterLab is ready. Open

    {url}lab{query}

Ctrl-C stops it.
"""
OTHER_PORT = "Port {wanted} is in use, so this one has {port}; to choose: make lab ARGS=--port=9000\n"


def announce(server: dict[str, Any], arguments: list[str]) -> None:
    """Print the address to open.

    Parameters
    ----------
    server
        What the server wrote about itself: ``url``, ``token``, ``port``.
    arguments
        Arguments of JupyterLab, which may ask for another port.
    """
    query = f"?token={server['token']}" if server["token"] else ""
    print(READY.format(url=server["url"], query=query), flush=True)
    wanted = [int(port) for port in re.findall(r"--(?:ServerApp\.)?port[= ](\d+)", " ".join(arguments))] or [8888]
    if server["port"] != wanted[-1] > 0:
        print(OTHER_PORT.format(wanted=wanted[-1], port=server["port"]), flush=True)


def main() -> int:
    root, *arguments = sys.argv[1:]
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}", "--no-browser", "--log-level=WARN"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    # a token from here keeps Jupyter from printing the address in its own way as well
    environ = {"JUPYTER_TOKEN": secrets.token_hex(24), **os.environ}
    # other defaults for this lab alone: its question about news would lie over the Submit button
    paths = [str(Path(__file__).with_name("config")), environ.get("JUPYTER_CONFIG_PATH", "")]
    environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    lab = subprocess.Popen([*command, *arguments], env=environ)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C reaches the lab, which asks
    signal.signal(signal.SIGTERM, lambda *_: lab.terminate())

    info = Path(jupyter_runtime_dir(), f"jpserver-{lab.pid}.json")
    while lab.poll() is None:
        if info.exists() and (text := info.read_text()):
            announce(json.loads(text), arguments)
            break
        time.sleep(0.1)
    return lab.wait()


if __name__ == "__main__":
    sys.exit(main())
