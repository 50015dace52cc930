"""Mistakes of scripts that several processes run, found in the facts about the script and its modules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ...model import ScriptOption
from ...model import TrainingMethod as Method
from ..observed import Call, Observed, Ref, Value
from .finding import Finding
from .flow import Flow, Origin
from .method import MANUAL
from .paths import paths

_DOWNLOADS: Final = (
    *("urlretrieve", "download_url", "download_and_extract_archive", "download_file_from_google_drive"),
    "download_url_to_file",
)
_PREPARES: Final = re.compile(r"^prepare_data$")
"""Method of Lightning's data modules that one process of a node runs."""
_LOCK: Final = re.compile(r"(?<![A-Za-z])(?:file|f)?lock(?:ed|er)?(?:$|[_.])|Lock(?:er)?$")
"""Identifiers of locks, by which one process after the other runs some code."""
_STARTS: Final = {"init_process_group": "", "init_distributed": "deepspeed.", "initialize": "ignite."}
"""Functions that start a process group, each with the library whose function it is; the empty one for all."""
_ARGUMENTS: Final = "TrainingArguments"
"""End of the names of the classes of arguments of Hugging Face's trainers."""
_ONCE: Final = frozenset({"barrier", "wait_for_everyone", "monitored_barrier", "synchronize_processes"})
_OF_PROCESS: Final = re.compile(
    r"getpid|uuid|tempfile|mkdtemp|mkstemp|TemporaryDirectory|gethostname|BytesIO|StringIO|random"
)
_HAS_GPU: Final = re.compile(r"cuda|gpu|nccl|is_available|platform|win32|^nt$", re.IGNORECASE)
_GPU_TEST: Final = re.compile(r"^(?:is_available|device_count)$")
SPLITTERS: Final = frozenset(
    (
        *("accelerate", "deepspeed", "lightning", "lightning_fabric", "pytorch_lightning", "horovod", "composer"),
        *("ignite", "ray", "fastai", "colossalai", "megatron", "webdataset", "streaming", "litdata", "ffcv"),
    )
)
"""Libraries that split the data among the processes themselves."""
_OTHER_LAUNCHER: Final = re.compile(
    r"^(?:debug|RANK|WORLD_SIZE|LOCAL_RANK)$|slurm|(?:^|_)(?:open)?mpi(?:_|$)|^OMPI_|^PMI|jsrun|lsf|itp|azureml|sagemaker",
    re.IGNORECASE,
)
"""Identifiers of conditions and functions by which a script serves other launchers, or runs without torchrun."""
_TCP: Final = re.compile(r"tcp://[\w.]+:\d+$")
_PARALLEL_DATA: Final = re.compile(
    r"rank|world_?size|num_?replicas|shard|distributed|dist_|gpu_id|process", re.IGNORECASE
)
_SHARE: Final = re.compile(r"(?:^|_)rank|world_?size|num_?replicas|shard", re.IGNORECASE)
"""Arguments by which a data set gets its process's share."""


def find_mistakes(flow: Flow, method: Method | None, options: Sequence[ScriptOption] = ()) -> list[Finding]:
    """Return the likely mistakes of a script, at most one for each rule and value.

    Parameters
    ----------
    flow
        The script with its modules and options.
    method
        How the script trains; None if that is not known.
    options
        Options of the script.
    """
    found = [*_launchers(flow), *_workers(flow), *_configured_workers(options), *paths(flow), *_nccl(flow)]
    if method in MANUAL or method in ("accelerate", "rpc"):
        found += _addresses(flow)
    if method in MANUAL or method in ("accelerate", "fabric"):
        found += _events(flow)
    if method in MANUAL or method in ("accelerate", "lightning", "fabric"):
        found += _downloads(flow)
    if method in MANUAL or method in ("accelerate", "trainer", "lightning", "fabric"):
        found += _writes(flow, method)
    if method in MANUAL:
        found += _loaders(flow)
    return _first(found)


def _first(found: list[Finding]) -> list[Finding]:
    kept: dict[tuple[object, ...], Finding] = {}
    for finding in found:
        key = (finding.rule, finding.option, finding.value) if finding.rule == "path" else (finding.rule,)
        kept.setdefault(key, finding)
    return list(kept.values())


# -- process groups ----------------------------------------------------------------------------------------------------


def _nccl(flow: Flow) -> Iterator[Finding]:
    for path, module, call in flow.calls(*_STARTS):
        value = call.argument(0, "backend", "dist_backend")
        library = _STARTS[call.last]
        if value is None or not call.name.startswith(library) or _if_gpu(flow, call, module):
            continue
        if _has_alternative(call, module):
            continue
        if value.single and isinstance(value.parts[0], Ref) and value.parts[0].name.rpartition(".")[2] == "NCCL":
            value = Value(("nccl",), single=True)  # dist.Backend.NCCL
        origins = flow.trace(value, call.scope, module)
        constants = {origin.value for origin in origins if origin.kind == "constant"}
        options = [str(origin.value) for origin in origins if origin.kind == "option"]
        tested = any(
            _HAS_GPU.search(part.name) for part in value.parts if not isinstance(part, str | int | float | None)
        )
        if tested or any(isinstance(x, str) and x != "nccl" and not x.startswith("tcp") for x in constants):
            continue
        if options:
            yield Finding("nccl", call.line, path, option=options[0])
        elif constants == {"nccl"} and not _conditional(flow, value, module):
            yield Finding("nccl", call.line, path, value="nccl")


def _if_gpu(flow: Flow, call: Call, module: Observed) -> bool:
    """Return True if a call runs only where there is a GPU."""
    if flow.only_if(call.scope, _GPU_TEST):
        return True
    for name in call.conditions:
        if name in flow.options and name.startswith(("no_", "disable_")):
            continue  # An option that switches the GPU off is not a test for one.
        assigns = [*module.names.get(name, []), *module.attributes.get(name, [])]
        if _HAS_GPU.search(name) and (name not in flow.enabled or assigns):
            return True  # ``if args.cuda`` is no such condition if the option is true by default.
        if any(x.value.parts == (False,) and any(map(_HAS_GPU.search, x.conditions)) for x in assigns):
            return True
    return False


def _has_alternative(call: Call, module: Observed) -> bool:
    """Return True if a handler of exceptions calls the same function, such as with the backend gloo."""
    handlers = [handler for tried, handler in module.attempts if call.line in tried]
    return any(other.line in handler for other in module.calls if other.last == call.last for handler in handlers)


def _conditional(flow: Flow, value: Value, module: Observed) -> bool:
    """Return True if a variable of a value is assigned under a condition about GPUs."""
    return any(
        any(map(_HAS_GPU.search, assigned.conditions))
        for name in value.names
        for assigned in [*module.names.get(name, []), *module.attributes.get(name, [])]
    )


def _addresses(flow: Flow) -> Iterator[Finding]:
    for path, facts, module in flow.modules:
        for name, assigned in module.environment:
            if name not in ("MASTER_ADDR", "MASTER_PORT") or assigned.conditions & {"MASTER_ADDR", "MASTER_PORT"}:
                continue
            if any(map(_OTHER_LAUNCHER.search, assigned.conditions)) or flow.only_if(assigned.scope, _OTHER_LAUNCHER):
                continue
            origins = flow.trace(assigned.value, assigned.scope, module)
            constants = [origin.value for origin in origins if origin.kind == "constant"]
            certain = {origin.kind for origin in origins} == {"constant"} and len(constants) == 1
            main = "__name__" in assigned.conditions
            given = constants[:1] not in ([], [None], [""])
            if certain and given and flow.reaches(facts, assigned.line, assigned.scope, main=main):
                yield Finding("address", assigned.line, path, what=name, value=str(constants[0]))
    for path, module, call in flow.calls("init_process_group"):
        value = call.argument(1, "init_method")
        if value is None or call.conditions & {"RANK", "WORLD_SIZE", "LOCAL_RANK"}:
            continue  # Without torchrun's variables, the script has an address of its own.
        origins = flow.trace(value, call.scope, module)
        constants = [str(o.value) for o in origins if o.kind == "constant" and isinstance(o.value, str)]
        options = [str(origin.value) for origin in origins if origin.kind == "option"]
        if len(options) == 1 and not constants:
            yield Finding("address", call.line, path, what="init_method", option=options[0])
        elif constants[:1] == ["tcp://"] and options and origins[1:2] == [Origin("option", options[0])]:
            yield Finding("address", call.line, path, what="init_method", option=options[0], value="tcp://")
        elif (
            {origin.kind for origin in origins} <= {"constant", "rank"}
            and len(constants) == 1
            and _TCP.match(str(constants[0]))
        ):
            yield Finding("address", call.line, path, what="init_method", value=constants[0])


def _launchers(flow: Flow) -> Iterator[Finding]:
    reads = set().union(*(module.reads for _path, _facts, module in flow.modules))
    for path, _module, call in flow.calls("init"):
        if not {"horovod", "hvd"}.isdisjoint(call.name.split(".")):
            yield Finding("launcher", call.line, path, what="horovodrun")
    for path, facts, _module in flow.modules:
        for imported in facts.imports:
            if imported.module.partition(".")[0] == "mpi4py" and not imported.guarded and not imported.level:
                yield Finding("launcher", imported.line, path, what="mpirun")
    for path, module, call in flow.calls("init_process_group"):
        value = call.argument(0, "backend")
        if value is not None and [x.value for x in flow.trace(value, call.scope, module)] == ["mpi"]:
            yield Finding("launcher", call.line, path, what="mpirun")
        own = next(flow.calls("spawn", "start_processes"), None) is not None
        if "SLURM_PROCID" in reads and not own and not reads & {"RANK", "LOCAL_RANK", "WORLD_SIZE"}:
            rank = call.argument(None, "rank")
            if rank is not None and any(x.value == "SLURM_PROCID" for x in flow.trace(rank, call.scope, module)):
                yield Finding("launcher", call.line, path, what="srun")


# -- files -------------------------------------------------------------------------------------------------------------


def _downloads(flow: Flow) -> Iterator[Finding]:
    for path, facts, module in flow.modules:
        waits = {call.scope for call in module.calls if call.last in _ONCE}
        for call in flow.calls_in(facts, module, {*_DOWNLOADS, *_with_download(module)}):
            if call.scope in waits or flow.one_process(call, module) or flow.only_if(call.scope, _PREPARES):
                continue
            if _is_locked(flow, call):
                continue
            if call.last in _DOWNLOADS or _is_true(flow, call, module):
                yield Finding("download", call.line, path, what=call.last)


def _is_locked(flow: Flow, call: Call) -> bool:
    """Return True if one process after the other makes a call."""
    return any(map(_LOCK.search, call.conditions)) or flow.only_if(call.scope, _LOCK)


def _with_download(module: Observed) -> set[str]:
    return {call.last for call in module.calls if any(name == "download" for name, _ in call.keywords)}


def _is_true(flow: Flow, call: Call, module: Observed) -> bool:
    value = call.argument(None, "download")
    return value is not None and flow.trace(value, call.scope, module) == [Origin("constant", True)]


def _writes(flow: Flow, method: Method | None) -> Iterator[Finding]:
    for path, module, call in flow.calls("save", "save_pretrained"):
        if call.last == "save":
            if call.name != "torch.save":
                continue
            value = call.argument(1, "f")
        else:
            value = call.argument(0, "save_directory")
            owner = call.name.rpartition(".")[0].rpartition(".")[2].lower()
            if method not in ("ddp", "process_group", "trainer") or (method == "trainer" and "model" not in owner):
                continue  # The files of a configuration or tokenizer are small and equal.
            if any("main" in (name or "") for name, _ in call.keywords):
                continue
        if value is None or flow.one_process(call, module) or _of_one_process(flow, value, call, module):
            continue
        if _is_locked(flow, call):
            continue
        yield Finding("write", call.line, path, what=call.name.lstrip("."))


def _events(flow: Flow) -> Iterator[Finding]:
    for path, module, call in flow.calls("SummaryWriter", "create_file_writer"):
        value = call.argument(0, "log_dir", "logdir")
        if flow.one_process(call, module) or (value is not None and _of_one_process(flow, value, call, module)):
            continue
        yield Finding("events", call.line, path, what=call.last)


def _of_one_process(flow: Flow, value: Value, call: Call, module: Observed) -> bool:
    """Return True if a path differs between processes, or may differ."""
    for origin in flow.trace(value, call.scope, module):
        if origin.kind == "rank" or (origin.kind == "call" and _OF_PROCESS.search(str(origin.value))):
            return True
        if origin.kind == "environment" and "RANK" in str(origin.value):
            return True
    return False


# -- data --------------------------------------------------------------------------------------------------------------


def _loaders(flow: Flow) -> Iterator[Finding]:
    """Yield the first loader without a sampler, unless the script splits the data in another way."""
    if flow.foreign & SPLITTERS:
        return
    names = set().union(*(facts.names for _path, facts, _module in flow.modules))
    samplers = {name for name in names if "Sampler" in name and ("Dist" in name or "RA" in name)}
    if samplers and not (samplers == {"DistributedSampler"} and _unused_sampler(flow)):
        return
    if names & {"split_dataset_by_node", "IterableDataset", "DistributedBatchSampler", "random_split_by_rank"}:
        return
    for path, module, call in flow.calls("DataLoader"):
        if len(call.args) > 3 or {name for name, _ in call.keywords} & {"sampler", "batch_sampler"}:
            continue
        if not all(_without_sampler(value, module) for name, value in call.keywords if name is None):
            continue
        dataset = call.argument(0, "dataset")
        parts = flow.trace(dataset, call.scope, module) if dataset else []
        own = dataset.names if dataset else frozenset[str]()
        if any(origin.kind == "rank" for origin in parts) or any(map(_PARALLEL_DATA.search, own)):
            continue
        if any(map(_SHARE.search, flow.arguments_of(parts))):
            continue
        if flow.one_process(call, module):
            continue
        yield Finding("sampler", call.line, path, what="DataLoader")


def _unused_sampler(flow: Flow) -> bool:
    """Return True if a script makes samplers, but gives none of them to a loader or to another function."""
    made: set[str] = set()
    for _path, _facts, module in flow.modules:
        for call in module.calls:
            if {name for name, _value in call.keywords} & {"sampler", "batch_sampler"}:
                return False
        kept = [one.value for group in module.attributes.values() for one in group]
        kept += [value for values in module.returns.values() for value in values]
        if any("DistributedSampler" in value.names for value in kept):
            return False
        made.update(
            name for name, group in module.names.items() for one in group if "DistributedSampler" in one.value.names
        )
    return bool(made) and not made & flow.given


def _without_sampler(value: Value, module: Observed) -> bool:
    """Return True if the dict of ``**kwargs`` certainly has no sampler."""
    names = value.names
    if len(names) != 1:
        return False
    keys = module.dicts.get(next(iter(names)))
    return keys is not None and not keys & {"sampler", "batch_sampler"}


def _workers(flow: Flow) -> Iterator[Finding]:
    names = {call.last for _p, _f, module in flow.modules for call in module.calls if call.last.endswith(_ARGUMENTS)}
    for path, module, call in flow.calls("DataLoader", *names):
        name = "num_workers" if call.last == "DataLoader" else "dataloader_num_workers"
        value = call.argument(5 if call.last == "DataLoader" else None, name) or _unpacked(call, module, name)
        if value is None:
            continue
        origins = flow.trace(value, call.scope, module)
        if (
            origins
            and origins[0].kind == "option"
            and (len(origins) == 1 or _chosen(value, str(origins[0].value), call, module))
        ):
            yield Finding("workers", call.line, path, option=str(origins[0].value))
        elif len(origins) == 1 and isinstance(origins[0].value, int) and value.single:
            yield Finding("workers", call.line, path, value=origins[0].value)


def _unpacked(call: Call, module: Observed, key: str) -> Value | None:
    """Return the value of a key in the dicts that a call unpacks (``**kwargs``); None if it is not known."""
    for name in (name for keyword, value in call.keywords if keyword is None for name in value.names):
        values = {one.value for one in module.attributes.get(key, []) if one.scope == call.scope}
        if key in (module.dicts.get(name) or ()) and len(values) == 1:
            return values.pop()
    return None


def _chosen(value: Value, option: str, call: Call, module: Observed) -> bool:
    """Return True for ``args.x if args.x else 4``, also through a variable: the option decides if it is given."""
    parts = [*value.parts]
    for part in value.parts:
        if isinstance(part, Ref) and part.kind == "name":
            parts += [
                inner for one in module.names.get(part.name, []) if one.scope == call.scope for inner in one.value.parts
            ]
    return any(isinstance(part, Ref) and part.kind == "test" and part.name == option for part in parts)


def _configured_workers(options: Sequence[ScriptOption]) -> Iterator[Finding]:
    """Yield the numbers of workers of the loaders that a configuration names (``_target_: …DataLoader``)."""
    loaders = {
        option.dest.rpartition(".")[0]
        for option in options
        if option.dest.endswith("._target_") and (option.default or "").endswith(".DataLoader")
    }
    for option in options:
        owner, _, name = option.dest.rpartition(".")
        if name == "num_workers" and owner in loaders:
            yield Finding("workers", option.line, option.path, option=option.dest)
