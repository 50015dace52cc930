"""The launcher of a training's processes and its process group, read from the source of the training's modules."""

from __future__ import annotations

import re
from typing import Final

from .facts import Facts, Place
from .packages import MAY_DISTRIBUTE, STARTS_NO_GROUP
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


PLAIN_LOOP: Final = frozenset(("backward", "step"))
"""Names of the methods that every training loop calls."""
_HUGGING_FACE: Final = frozenset({"transformers", "trl", "sentence_transformers", "setfit"})
_DISTRIBUTING_PARTS: Final = {
    "ignite": frozenset({"distributed"}),
    "apex": frozenset({"parallel", "transformer", "contrib"}),
}
"""Modules by which a library distributes a training; its other modules do not."""
_LIGHTNING: Final = frozenset(
    ("seed_everything", "LightningModule", "LightningDataModule", "Callback", "callbacks", "loggers", "utilities")
)
_HARMLESS_PARTS: Final = {
    "accelerate": frozenset(
        (
            *("dispatch_model", "init_empty_weights", "infer_auto_device_map", "load_checkpoint_and_dispatch"),
            *("load_checkpoint_in_model", "cpu_offload", "disk_offload", "big_modeling", "logging", "utils"),
        )
    ),
    "deepspeed": frozenset({"ops", "zero", "utils", "accelerator", "GatheredParameters"}),
    "lightning": _LIGHTNING,
    "pytorch_lightning": _LIGHTNING,
    "lightning_fabric": frozenset({"seed_everything", "utilities"}),
}
"""Names of a library that distribute no training."""
_TRAINS: Final = re.compile(
    r"(?i:distribut(?!ions?$|ion_)|(?:^|_)(?:ddp|fsdp)(?:$|_)|(?:^|_)(?:train|fit|learn|launch|main|run|cli|start|execute|pretrain|finetune|setup|init)(?:$|_))"
    r"|(?:Trainer|Runner|Engine|Learner|Experiment|Launcher|Trial|Strategy|CLI)$"
)
"""Functions, methods and classes that may train, or prepare the training for several processes."""
_TRAINING_METHODS: Final = re.compile(r"^(?:fit|learn|train|run|launch)$")
_OTHER_METHODS: Final = re.compile(
    r"(?:init|setup|start|launch)\w*_(?:distributed|ddp|dist)|(?:distributed|ddp)_(?:init|setup)"
)
"""Methods that start a process group."""
_ANY: Final = re.compile("")


def starts_group(closure: Closure) -> bool | None:
    """Return True if a script starts a process group, False if it does not; None if its text does not tell."""
    running = closure.reach.names
    loop = running >= PLAIN_LOOP
    # In a script with a training loop of its own, code that does not seem to run starts no group.
    if (running if loop else closure.names) & STARTS_GROUP:
        return True
    if closure.unread or closure.starts_elsewhere or _has_trainer(closure) or _distributing(closure):
        return None
    launcher = any(
        place.what == "a launcher" and closure.reach.runs(facts, place)
        for facts in closure.facts
        for place in facts.launches
    )
    if launcher or _calls(closure, closure.foreign - {"torch"}, MAY_START_GROUP, _OTHER_METHODS):
        return None
    if "_t9kjob" in closure.script.names and closure.script.opaque and not loop:
        return None  # A notebook whose work is done by the programs that its cells start.
    unknown = closure.foreign - STARTS_NO_GROUP - _DISTRIBUTING_PARTS.keys() - _HARMLESS_PARTS.keys()
    if loop or not unknown:
        return False
    trains = _ANY if "torch" in closure.foreign else _TRAINS
    return None if _calls(closure, unknown, trains, _TRAINING_METHODS) else False


def _has_trainer(closure: Closure) -> bool:
    """Return True if a module imports a trainer of Hugging Face's libraries."""
    return any(
        imported.module.partition(".")[0] in _HUGGING_FACE and "Train" in name
        for facts in closure.facts
        for imported in facts.imports
        for name in imported.names
    ) or any(
        use.root in _HUGGING_FACE and "Train" in use.name
        for facts in closure.facts
        for uses in facts.uses.values()
        for use in uses
    )


def _distributing(closure: Closure) -> set[str]:
    """Return the libraries of a script that may distribute its training by themselves."""
    found = closure.foreign & MAY_DISTRIBUTE
    if not found & (_DISTRIBUTING_PARTS.keys() | _HARMLESS_PARTS.keys()):
        return found
    names: dict[str, list[list[str]]] = {top: [] for top in found}
    running = closure.reach.names
    for facts in closure.facts:
        read = {name for alias, name in facts.imported.items() if alias in running or alias == "*"}
        used = [f"{each.module}.{name}" for each in facts.imports for name in each.names if name in read]
        for uses in facts.uses.values():
            used += (f"{facts.imported[use.root]}.{use.name}" for use in uses if use.root in facts.imported)
        for name in used:
            top, *parts = name.split(".")
            if top in names:
                names[top].append(parts)
    return {top for top in found if _is_distributing(top, names[top])}


def _is_distributing(top: str, names: list[list[str]]) -> bool:
    """Return True if some names of a library may distribute a training.

    Parameters
    ----------
    top
        The library's top-level module.
    names
        Names of the library that a script uses, each as its parts.
    """
    if top in _DISTRIBUTING_PARTS:
        return any(not _DISTRIBUTING_PARTS[top].isdisjoint(parts) for parts in names)
    return top not in _HARMLESS_PARTS or any(_HARMLESS_PARTS[top].isdisjoint(parts) for parts in names)


def _calls(closure: Closure, tops: set[str], words: re.Pattern[str], methods: re.Pattern[str]) -> bool:
    """Return True if a script is likely to call a function of another library.

    Parameters
    ----------
    closure
        The script with its modules.
    tops
        Top-level modules of the libraries.
    words
        Words in the names of the functions.
    methods
        Names of methods that may be the libraries', if no class of the script has them.
    """
    own = set().union(*(facts.training.parameters for facts in closure.facts))
    for facts in closure.facts:
        for call in facts.training.calls:
            top = call.name.partition(".")[0]
            # A module's name tells of process groups too: ``library.distributed_utils.initialize``.
            name = call.name if words is MAY_START_GROUP else call.last
            of_other = words.search(name) is not None if top else methods.search(call.last) is not None
            if of_other and (top in tops or (not top and call.last not in own)):
                place = Place(call.line, "", *call.scope, main=call.main)
                if closure.reach.runs(facts, place):
                    return True
    return False


def own_launch(closure: Closure) -> tuple[Place, str | None] | None:
    """Return the call by which a script, or one of its modules, starts the training's processes itself.

    Returns
    -------
    place
        The call.
    path
        Path of the module with the call; None for the script itself.
    """
    starts = bool(closure.reach.names & STARTS_GROUP)
    for path, facts in [(None, closure.script), *closure.modules.items()]:
        for place in facts.launches:
            if place.what == "Process" and not _starts_ranks(closure):
                continue
            if place.what == "a launcher" and path is not None and path not in closure.executed and starts:
                continue  # The script is one of the processes; the module starts another job, such as an evaluation.
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
