"""Writes manifests as YAML, with keys in the usual order and multi-line texts as blocks."""

from __future__ import annotations

from typing import Any, Final

import yaml

from .yaml_reader import plain_scalar

_FIRST: Final = (
    "apiVersion", "kind", "metadata",
    "type", "name", "generateName", "namespace", "labels", "annotations",
    "enabled", "enable",
    "spec",
    "runtimeRef", "numNodes", "numProcPerNode", "trainer", "manager", "targetJobs",
    "torchrunConfig", "nprocPerNode", "elastic", "elasticPolicy", "replicaSpecs", "pytorchReplicaSpecs",
    "Master", "Worker",
    "replicatedJobs", "replicas", "restartPolicy", "scalingWeight", "template",
    "image", "imagePullPolicy", "workingDir", "command", "args", "env", "value", "valueFrom", "ports", "resources",
    "limits", "requests", "cpu", "memory",
    "volumeMounts", "mountPath", "subPath", "readOnly",
    "securityContext", "imagePullSecrets", "nodeSelector", "tolerations", "initContainers", "containers", "volumes",
    "runMode", "runPolicy", "scheduler", "tensorboardSpec",
)  # fmt: skip
_LAST: Final = ("status",)
_RANKS: Final = {
    **{key: rank for rank, key in enumerate(_FIRST)},
    **{key: 10_000 + rank for rank, key in enumerate(_LAST)},
}
_RESOLVER: Final = yaml.SafeLoader("")
# The order of keys that users choose is kept.
_FREE: Final = frozenset({"labels", "annotations", "nodeSelector", "matchLabels", "data"})


def to_yaml(manifest: Any, like: Any = None) -> str:
    """Return a manifest, or any JSON value, as YAML that reads back as the same value.

    Parameters
    ----------
    manifest
        The value.
    like
        A value whose order of keys is used where the order is free, so that a text comparison of two states of an
        object shows only changed values.
    """
    return yaml.dump(
        _ordered(_as_in(like, manifest)),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=10_000,
    )


def to_flow(value: Any) -> str:
    """Return a JSON value as YAML on one line, with brackets around lists and objects."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=True, width=10_000_000
    )
    return text.removesuffix("...\n").strip()


def in_order(keys: list[str]) -> list[str]:
    """Return the names of an object's fields in the usual order."""
    return sorted(keys, key=lambda key: _RANKS.get(key, 5_000))


def _as_in(other: Any, value: Any) -> Any:
    if isinstance(value, list) and isinstance(other, list):
        return [*map(_as_in, other, value), *value[len(other) :]]
    if not isinstance(value, dict) or not isinstance(other, dict):
        return value
    keys = [*(key for key in other if key in value), *(key for key in value if key not in other)]
    return {key: _as_in(other.get(key), value[key]) for key in keys}


def _ordered(value: Any, free: bool = False) -> Any:
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value) if free else in_order(list(value))
    return {key: _ordered(value[key], key in _FREE) for key in keys}


class _Dumper(yaml.SafeDumper):
    """Writes no aliases, and quotes texts that a YAML reader could take for another type."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: repeated values are written in full."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if any(not (letter.isprintable() or letter in "\n\t") for letter in text):
        style = '"'
    elif "\n" in text and not any(line != line.rstrip() for line in text.split("\n")):
        style = "|"
    elif _ambiguous(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _ambiguous(text: str) -> bool:
    """Return True if a YAML 1.1 or 1.2 reader takes the text for another type when it is not quoted."""
    if not isinstance(plain_scalar(text), str) or text in ("y", "Y", "n", "N", "<<", "="):
        return True
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return tag != "tag:yaml.org,2002:str"


_Dumper.add_representer(str, _text)
