"""Probe that runs in a kernel's Python and reports the installed modules, torch and GPUs.

It reads ``{"modules": [...]}`` from standard input and writes one JSON object to standard output. It needs only the
standard library and Python 3.6, since a kernel may be old.
"""

import sys

# An empty entry stands for the working directory, whose files must not be taken for packages.
sys.path = [entry for entry in sys.path if entry]

import ctypes  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
from importlib import machinery, util  # noqa: E402
from pathlib import Path  # noqa: E402


def is_there(name: str) -> bool:
    """Return True if a module or submodule can be found; nothing is imported."""
    top, _, rest = name.partition(".")
    try:
        if top in sys.builtin_module_names:
            return True
        spec = util.find_spec(top)
        if spec is None or not rest:
            return spec is not None
        return machinery.PathFinder.find_spec(name, spec.submodule_search_locations) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def torch_version() -> "tuple[str | None, bool]":
    """Return torch's version and True if it is built for GPUs; (None, False) without torch."""
    spec = machinery.PathFinder.find_spec("torch") or (util.find_spec("torch") if is_there("torch") else None)
    if spec is None or not spec.origin:
        return None, False
    try:
        with (Path(spec.origin).parent / "version.py").open(encoding="utf-8") as file:
            text = file.read(100000)
    except (OSError, ValueError):
        return "unknown", False
    version = re.search(r"^__version__\s*(?::[^=]+)?=\s*['\"]([^'\"]+)", text, re.MULTILINE)
    built = re.search(r"^(?:cuda|hip)\s*(?::[^=]+)?=\s*['\"]\d", text, re.MULTILINE)
    return version.group(1) if version else "unknown", built is not None


def devices() -> int:
    """Return the number of the driver's GPUs that CUDA_VISIBLE_DEVICES allows."""
    count = ctypes.c_uint(0)
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2() != 0 or nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            return 0
    except (OSError, AttributeError):
        return 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return count.value
    named = visible.split(",")
    unusable = [entry.strip() in ("", "-1", "NoDevFiles") for entry in named]
    return min(count.value, unusable.index(True) if True in unusable else len(named))


def main() -> None:
    """Answer one request."""
    modules = json.loads(sys.stdin.read())["modules"]
    version, for_gpus = torch_version()
    answer = {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "torch": version,
        "devices": devices() if for_gpus else 0,
        "found": [name for name in modules if is_there(name)],
        "folders": [entry for entry in sys.path if Path(entry).is_dir()],
    }
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


main()
