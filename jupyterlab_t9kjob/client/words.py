"""Words in which a user writes a value of a job that has several parts: volumes, tolerations, secrets, config files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.errors import FieldError
from ..core.spec import MAX_CONFIG_BYTES
from ..core.translation import _

_FIELD = "/spec/config_files"


def demand_list(name: str, value: Sequence[str]) -> None:
    """Raise `TypeError` for a text instead of a list of texts, because each of its letters would count as one.

    Parameters
    ----------
    name
        Name of the value.
    value
        The value.
    """
    if isinstance(value, str):
        raise TypeError(f"{name} is a list of texts, not one text. Write {name}={value.split()}.")


def processes(word: int | str) -> int | str:
    """Return the number of processes per node, or ``gpu``.

    Raises
    ------
    FieldError
        If the word is none of the two.
    """
    if word == "gpu":
        return word
    text = str(word)
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise FieldError(
            _("“{text}” is no number of processes.", text=text[:40]),
            field="/spec/torchrun/proc_per_node",
            hint=_("Write a number, or gpu for one process for each GPU."),
        )
    return int(text)


def training_runtime(word: str, namespace: str) -> dict[str, Any]:
    """Return the runtime that ``name`` or ``namespace/name`` describes, for a job in a namespace.

    Parameters
    ----------
    word
        The word.
    namespace
        The job's namespace; empty if it has none.

    Raises
    ------
    FieldError
        If the runtime is in another namespace.
    """
    prefix, _slash, name = word.rpartition("/")
    if prefix and namespace and prefix != namespace:
        raise FieldError(
            _(
                "The training runtime {runtime} is in another namespace than the job, which is in {namespace}.",
                runtime=word[:200],
                namespace=namespace,
            ),
            field="/spec/runtime/training_runtime",
            hint=_(
                "A TrainJob can use the runtimes of its own namespace and those of the whole cluster. Submit the job in"
                " the namespace of the runtime, or choose another runtime."
            ),
        )
    return {"name": name, "in_namespace": bool(prefix)}


def secret_variable(item: tuple[str, str]) -> dict[str, Any]:
    """Return the variable of a name and a word such as ``wandb:key``, a Secret and its key.

    Raises
    ------
    FieldError
        If the word names no key.
    """
    name, (secret, _colon, key) = item[0], item[1].partition(":")
    if not secret or not key:
        raise FieldError(
            _("The variable {name} names no key of a secret.", name=name),
            field="/spec/env",
            hint=_("Write it as NAME=secret:key."),
        )
    return {"name": name, "secret": {"name": secret, "key": key}}


def toleration(word: str) -> dict[str, str]:
    """Return the toleration that a word such as ``dedicated=training:NoSchedule`` describes.

    Raises
    ------
    FieldError
        If the word is no toleration.
    """
    text, _comma, operator = word.partition(",")
    pair, _colon, effect = text.partition(":")
    key, equals, value = pair.partition("=")
    if text == "all":
        return {"operator": "Exists"}
    operator = operator or ("Equal" if equals else "Exists")
    if not key or operator not in ("Equal", "Exists"):
        raise FieldError(
            _("“{text}” is no toleration.", text=word[:200]),
            field="/spec/scheduling/tolerations",
            hint=_("Write it as key=value:effect, key:effect, key or all."),
        )
    given = {"key": key, "operator": operator, "value": value if operator == "Equal" else "", "effect": effect}
    return {name: part for name, part in given.items() if part}


def mount(word: str) -> dict[str, Any]:
    """Return the mount that a word such as ``data/imagenet:/data:ro`` describes.

    Raises
    ------
    FieldError
        If the word is no volume and path.
    """
    source, _colon, rest = word.partition(":")
    path, _colon, mode = rest.partition(":")
    claim, _slash, folder = source.partition("/")
    if not claim or not path.startswith("/") or mode not in ("", "ro", "rw"):
        raise FieldError(
            _("“{volume}” is no volume and path.", volume=word),
            field="/spec/mounts",
            hint=_("Write it as claim:/path, claim/folder:/path or claim:/path:ro."),
        )
    return {"claim": claim, "mount_path": path, "sub_path": folder or None, "read_only": mode == "ro"}


def config_file(word: str) -> dict[str, Any]:
    """Return the config file that a word such as ``nccl.conf:/etc/nccl.conf`` describes, with the file's content.

    Raises
    ------
    FieldError
        If the word names no file and path, or the file can't be read or is too large.
    """
    source, _colon, path = word.rpartition(":")
    if not source or not path.startswith("/"):
        raise FieldError(
            _("“{word}” is no file and path.", word=word[:200]),
            field=_FIELD,
            hint=_("Write it as FILE:/path."),
        )
    try:
        with Path(source).open("rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
        if len(content) > MAX_CONFIG_BYTES:
            raise FieldError(
                _("The config file {file} is larger than {size} KiB.", file=source, size=MAX_CONFIG_BYTES // 1024),
                field=_FIELD,
                hint=_("Put large files on a volume of the job."),
            )
        return {"path": path, "text": content.decode()}
    except (OSError, ValueError) as error:
        raise FieldError(
            _("The config file {file} can't be read: {problem}", file=source, problem=str(error)),
            field=_FIELD,
            hint=_("Config files are small files of text (UTF-8)."),
        ) from error
