"""The launcher of a training's processes and its process group, read from the source of the training's modules."""

from __future__ import annotations

import re
from typing import Final

from .facts import Facts, Place
from .packages import STARTS_NO_GROUP
from .workspace import Closure

STARTS_GROUP: Final = frozenset(
    (
        *("init_process_group", "init_device_mesh", "DistributedDataParallel", "FullyShardedDataParallel"),
        *("fully_shard", "DeviceMesh", "init_rpc"),
    )
)
MAY_START_GROUP: Final = re.compile(
    r"(?i:distribut(?!ions?$|ion_)|(?:^|_)(?:ddp(?!g)|fsdp)|process_group|local_rank)|DDP(?!G)|FSDP",
)
"""Identifiers of scripts that may start a process group."""


PLAIN_LOOP: Final = frozenset(("backward", "zero_grad", "step"))
MAY_DISTRIBUTE: Final = frozenset(
    (
        *("accelerate", "deepspeed", "lightning", "lightning_fabric", "pytorch_lightning", "horovod", "composer"),
        *("ignite", "ray", "fastai", "colossalai", "megatron", "fairscale", "torch_xla", "apex", "byteps", "mpi4py"),
        *("bagua", "dlrover", "torchx", "mmengine", "mmcv", "detectron2", "fairseq", "dora", "flashy", "speechbrain"),
    )
)
"""Modules that may start a process group although the script has a plain training loop."""


def starts_group(closure: Closure) -> bool | None:
    """Return True if a script starts a process group, False if it does not; None if its text does not tell."""
    names = closure.names
    if names & STARTS_GROUP:
        return True
    trainers = any("Trainer" in name or "TrainingArguments" in name for name in names)
    trains = trainers and "transformers" in closure.foreign
    if not closure.complete or trains or any(map(MAY_START_GROUP.search, names)):
        return None
    # A script with the steps of a plain training loop calls no trainer of the modules that are not known.
    plain = names >= PLAIN_LOOP and not closure.foreign & MAY_DISTRIBUTE
    return False if plain or closure.foreign <= STARTS_NO_GROUP else None


def own_launch(closure: Closure) -> tuple[Place, str | None] | None:
    """Return the call by which a script, or one of its modules, starts the training's processes itself.

    Returns
    -------
    place
        The call.
    path
        Path of the module with the call; None for the script itself.
    """
    for path, facts in [(None, closure.script), *closure.modules.items()]:
        for place in facts.launches:
            if place.what == "Process" and not _starts_ranks(closure):
                continue
            if closure.reach.runs(facts, place):
                return place, path
    return None


def used(closure: Closure, facts: Facts, place: Place) -> bool:
    """Return True if other code names the function with a call, so that the call is likely to run.

    Parameters
    ----------
    closure
        The script with its modules.
    facts
        Facts of the module with the call.
    place
        The call.
    """
    if place.main and facts is not closure.script and all(facts is not closure.modules[x] for x in closure.executed):
        return False  # The call runs only if the module is run as a script.
    if place.inside is None:
        return True
    names = closure.names
    inner = place.function or place.inside
    if inner != place.inside and inner not in names and not inner.startswith("__"):
        return False
    return any(other.refers(place.inside) if other is facts else place.inside in other.names for other in closure.facts)


def _starts_ranks(closure: Closure) -> bool:
    names = closure.names
    return bool(names & STARTS_GROUP)
