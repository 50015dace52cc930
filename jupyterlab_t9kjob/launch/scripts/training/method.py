"""Library that distributes a script's training: DDP, FSDP, DeepSpeed, Accelerate, Lightning and so on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from ...model import ScriptOption
from ...model import TrainingMethod as Method
from ..observed import Call
from .flow import Flow

MANUAL: Final = frozenset({"ddp", "fsdp", "process_group", "deepspeed", "horovod"})
"""Methods whose scripts themselves decide which process reads, writes and downloads."""


@dataclass(frozen=True)
class Evidence:
    """The call that tells how a script trains.

    Attributes
    ----------
    method
        How it trains.
    line
        Line of the call, from 1.
    path
        Path of the module with the call; None for the script itself.
    """

    method: Method
    line: int
    path: str | None


def _of(*roots: str) -> Callable[[Call], bool]:
    return lambda call: call.name.lstrip(".").partition(".")[0] in roots


def _any(_call: Call) -> bool:
    return True


_LIGHTNING: Final = ("lightning", "pytorch_lightning", "pl", "L")
_RULES: Final[tuple[tuple[Method, tuple[str, ...], Callable[[Call], bool]], ...]] = (
    ("lightning", ("Trainer", "LightningCLI", "from_argparse_args"), _of(*_LIGHTNING)),
    ("fabric", ("Fabric",), _of(*_LIGHTNING, "lightning_fabric")),
    ("trainer", (), _of("transformers", "trl", "sentence_transformers", "setfit")),
    ("accelerate", ("Accelerator",), _of("accelerate")),
    ("horovod", ("init",), _of("horovod", "hvd")),
    ("deepspeed", ("initialize", "init_distributed", "init_inference"), _of("deepspeed")),
    ("fsdp", ("FullyShardedDataParallel", "fully_shard", "FSDP"), _any),
    ("ddp", ("DistributedDataParallel", "DDP", "DistributedDataParallelCPU"), _any),
    ("rpc", ("init_rpc",), _any),
    ("process_group", ("init_process_group", "init_device_mesh", "DeviceMesh"), _any),
)


_TRAINER: Final = re.compile(r"(?:lightning|lightning\.pytorch|pytorch_lightning)(?:\.[a-z_]\w*)*\.Trainer$")
_BASES: Final[dict[Method, re.Pattern[str]]] = {
    "lightning": re.compile(rf"(?:.*\.)?LightningCLI$|{_TRAINER.pattern}"),
    "fabric": re.compile(r"(?:.*\.)?(?:LightningLite|Fabric)$"),
}
"""Full names of the classes from which scripts derive their own."""


def training_method(flow: Flow) -> Evidence | None:
    """Return the method that distributes a script's training, with the call that tells it; None if none is found.

    Libraries that distribute the training themselves come first, since such scripts may also use DDP's names.
    """
    for method, names, fits in _RULES:
        if method == "trainer":
            names = _trainers(flow)
        derived = _derived(flow, _BASES[method]) if method in _BASES else ()
        for path, _module, call in flow.calls(*names, *derived):
            if method == "trainer" or fits(call) or call.last in derived:
                return Evidence(method, call.line, path)
    return None


def configured_method(options: Iterable[ScriptOption]) -> Evidence | None:
    """Return the method of the trainer that a configuration names (``_target_: lightning.Trainer``)."""
    for option in options:
        if option.dest.rpartition(".")[2] == "_target_" and _TRAINER.match(option.default or ""):
            return Evidence("lightning", option.line, option.path)
    return None


def _derived(flow: Flow, bases: re.Pattern[str]) -> tuple[str, ...]:
    """Return the classes of the script that derive from one of a library's classes."""
    return tuple(
        sorted(
            name
            for _path, _facts, module in flow.modules
            for name, found in module.classes.items()
            if any(bases.match(base) for base in found)
        )
    )


def _trainers(flow: Flow) -> tuple[str, ...]:
    """Return Hugging Face's trainers that a script imports, and the classes that derive from them."""
    fits = _of("transformers", "trl", "sentence_transformers", "setfit")
    found = {
        call.last
        for _path, _facts, module in flow.modules
        for call in module.calls
        if call.last.endswith("Trainer") and fits(call)
    }
    for _ in range(3):
        for _path, _facts, module in flow.modules:
            for name, bases in module.classes.items():
                libraries = [base for base in bases if base.endswith("Trainer") and base.partition(".")[0] in _HF]
                if libraries or found & {base.rpartition(".")[2] for base in bases}:
                    found.add(name)
    return tuple(sorted(found))


_HF: Final = frozenset({"transformers", "trl", "sentence_transformers", "setfit"})
