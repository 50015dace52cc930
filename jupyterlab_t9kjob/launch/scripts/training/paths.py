"""Absolute paths that a script names, which the place where the job runs may lack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..observed import Value
from .finding import Finding
from .flow import Flow

_READERS: Final = frozenset(
    (
        *(
            "open",
            "load",
            "read_csv",
            "read_parquet",
            "read_json",
            "read_pickle",
            "ImageFolder",
            "DatasetFolder",
            "File",
        ),
        *("from_pretrained", "listdir", "glob", "iglob", "memmap", "load_dataset", "load_from_disk", "imread", "rglob"),
        *("chdir", "walk", "scandir", "loadtxt", "safe_load", "append", "insert", "CIFAR10", "CIFAR100", "MNIST"),
        *("ImageNet", "FashionMNIST", "CocoDetection", "join", "Path", "load_file", "LMDB", "makedirs", "mkdir"),
    )
)
_PATH_NAMES: Final = re.compile(
    r"dir|path|root|file|folder|data|ckpt|checkpoint|corpus|cache|home|save|log", re.IGNORECASE
)
_KEY: Final = re.compile(
    r"(?:^|(?<!ssh)(?<!ssl)(?<!tls)(?<!private)[_-])(?:key|topic|route|endpoint)s?$", re.IGNORECASE
)
_FILE: Final = re.compile(
    r"\.(?:pth?|ckpt|bin|safetensors|npy|npz|h5|hdf5|csv|tsv|jsonl?|parquet|pkl|txt|ya?ml|zip|tar)$"
)
_PATH: Final = re.compile(r"^/[\w.+-]+(?:/[\w.@+ -]+)+/?$")
_OF_MACHINE: Final = re.compile(
    r"platform|host_?name|uname|getnode|^node$|cluster|^exists$|^is_?(?:dir|file)$", re.IGNORECASE
)
"""Identifiers of conditions by which a script tells one machine from another, or looks for a file."""
_SYSTEM: Final = re.compile(
    r"^/(?:dev|proc|sys|tmp|etc|usr|bin|sbin|lib|lib64|run|var|opt|api|v1|v2|kaggle/working|content)(?:/|$)"
)


def paths(flow: Flow) -> Iterator[Finding]:
    """Yield the absolute paths that a script and its modules name; only the script's own if it has many modules."""
    for path, _facts, module in flow.modules if len(flow.modules) < 40 else flow.modules[:1]:
        for name, assigns in [*module.names.items(), *module.attributes.items()]:
            for assigned in assigns:
                text = _absolute(assigned.value)
                elsewhere = any(map(_OF_MACHINE.search, assigned.conditions))
                if text is not None and not elsewhere and (_names_path(name) or _FILE.search(text)):
                    yield Finding("path", assigned.line, path, value=text)
        for call in module.calls:
            values = call.args if call.last in _READERS else ()
            named = [value for name, value in call.keywords if name and _names_path(name)]
            for value in (*values, *(named if call.last != "add_argument" else ())):
                text = _absolute(value)
                if text is not None and not any(map(_OF_MACHINE.search, call.conditions)):
                    yield Finding("path", call.line, path, value=text)


def _names_path(name: str) -> bool:
    return _PATH_NAMES.search(name) is not None and not names_key(name)


def names_key(name: str) -> bool:
    """Return True for the name of a key in a file, or of something else that only looks like a path."""
    return _KEY.search(name) is not None


def _absolute(value: Value) -> str | None:
    first = value.parts[0] if value.parts else None
    if not isinstance(first, str) or not first.startswith("/") or len(first) > 300:
        return None
    return first if absolute_path(first) else None


def absolute_path(text: str) -> bool:
    """Return True for an absolute path that does not belong to the system."""
    return _PATH.match(text) is not None and _SYSTEM.match(text) is None
