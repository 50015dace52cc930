"""Folders to which a script writes TensorBoard events and checkpoints, and the options that set them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ...model import OptionRole as Role
from ..observed import Call, Observed, Value
from .flow import Flow, Origin

_EVENTS: Final[dict[str, tuple[tuple[int | None, tuple[str, ...]], ...]]] = {
    "SummaryWriter": ((0, ("log_dir", "logdir")),),
    "TensorBoardLogger": ((0, ("save_dir", "root_dir")),),
    "TensorboardLogger": ((None, ("log_dir", "logdir")), (0, ())),
    "create_file_writer": ((0, ("logdir",)),),
    "Accelerator": ((None, ("logging_dir",)), (None, ("project_dir",))),
}
"""Functions that write events, each with the arguments that name the folder: position and keywords."""
_TRAINING_ARGUMENTS: Final = re.compile(r"(?:TrainingArguments|SFTConfig|DPOConfig|GRPOConfig|RewardConfig|PPOConfig)$")
_SAVES: Final[dict[str, tuple[int | None, tuple[str, ...]]]] = {
    "save": (1, ("f",)),
    "save_file": (1, ("filename",)),
    "save_pretrained": (0, ("save_directory", "output_dir")),
    "save_state": (0, ("output_dir",)),
    "save_checkpoint": (0, ("save_dir",)),
    "ModelCheckpoint": (0, ("dirpath",)),
    "FileSystemWriter": (0, ("path",)),
    "Trainer": (None, ("default_root_dir",)),
}
_MAKES_FOLDER: Final = frozenset({"save_pretrained", "save_state", "save_checkpoint", "ModelCheckpoint", "Trainer"})
_EVENTS_NAMES: Final = (
    *("log_dir", "logdir", "tensorboard_dir", "tb_dir", "tb_log_dir", "tensorboard_log_dir", "tensorboard_logdir"),
    *("logging_dir", "default_root_dir"),
)
_CHECKPOINT_NAMES: Final = (
    *("output_dir", "out_dir", "outdir", "save_dir", "checkpoint_dir", "ckpt_dir", "default_root_dir", "work_dir"),
    *("exp_dir", "save_path", "output_path", "output", "save_folder", "save", "out"),
    *(
        "dump_dir",
        "run_dir",
        "results_dir",
        "result_dir",
        "experiment_dir",
        "save_root",
        "output_folder",
        "results_folder",
    ),
)
_RESUME: Final = re.compile(
    r"^(?:resume(?!_(?:id|name|key|mode|opt\w*)$)(?:_\w+)?|continue_from|load_from|load(?:_checkpoint|_ckpt|_path"
    r"|_model)?|ckpt_path|restore(?:_from|_path|_file)?|restart_from|checkpoint(?:_path|_file)?|start_from|auto_resume"
    r"|resume_from_checkpoint|init_checkpoint|from_checkpoint)$"
)
_NAME: Final = re.compile(
    r"^(?:name|(?:exp|run|experiment|project|job|model|log)_?name|exp|experiment|run|tag|run_id|exp_id|version)$"
)

_FOLDER: Final = re.compile(r"dir|path|out|log|save|folder|root|project|exp|work|checkpoint|ckpt|file|run|model_name")


@dataclass(frozen=True)
class Destination:
    """A folder or file that a script writes.

    Attributes
    ----------
    line
        Line of the call that writes it, from 1.
    path
        Path of the module with the call; None for the script itself.
    option
        Destination of the option that decides the folder; None if no option does.
    is_file
        True if the option is the path of a file.
    constant
        The folder, if the script always writes to it.
    """

    line: int
    path: str | None
    option: str | None = None
    is_file: bool = False
    constant: str | None = None


@dataclass
class Outputs:
    """Folders and files that a script writes, and the options that concern them.

    Attributes
    ----------
    writes_events
        True if the script writes TensorBoard events.
    events
        Where it writes events; None if that is not known.
    checkpoints
        Where it writes checkpoints; None if that is not known.
    makes_folders
        True if the script creates the folder of its checkpoints.
    roles
        Roles of options, by destination.
    """

    writes_events: bool = False
    events: Destination | None = None
    checkpoints: Destination | None = None
    makes_folders: bool = False
    roles: dict[str, list[Role]] = field(default_factory=dict)


def read_outputs(flow: Flow, *, library_options: frozenset[str] = frozenset()) -> Outputs:
    """Return what a script writes.

    Parameters
    ----------
    flow
        The script with its modules and options.
    library_options
        Destinations of options that a library defines, such as those of `TrainingArguments`.
    """
    found = Outputs()
    _read_events(flow, found)
    _read_checkpoints(flow, found)
    if "output_dir" in library_options:
        found.writes_events = True
        found.events = found.events or Destination(1, None, "output_dir")
        found.checkpoints = found.checkpoints or Destination(1, None, "output_dir")
        found.makes_folders = True
    by_name = {name.rpartition(".")[2].lower(): name for name in flow.options.values()}
    if found.events is None or found.events.option is None:
        name = next((by_name[name] for name in _EVENTS_NAMES if name in by_name), None)
        found.events = Destination(1, None, name) if name else found.events
    if found.checkpoints is None or found.checkpoints.option is None:
        name = next((by_name[name] for name in _CHECKPOINT_NAMES if name in by_name), None)
        file = name is not None and name.endswith("path")
        found.checkpoints = Destination(1, None, name, is_file=file) if name else found.checkpoints
    roles: tuple[tuple[Role, Destination | None], ...] = (
        ("events", found.events),
        ("checkpoints", found.checkpoints),
    )
    for role, destination in roles:
        if destination is not None and destination.option:
            found.roles.setdefault(destination.option, []).append(role)
    for name in _resume(flow):
        found.roles.setdefault(name, []).append("resume")
    return found


def _read_events(flow: Flow, found: Outputs) -> None:
    for path, module, call in flow.calls(*_EVENTS):
        if call.last == "Accelerator" and call.argument(None, "log_with") is None:
            continue
        found.writes_events = True
        for position, names in _EVENTS[call.last]:
            value = call.argument(position, *names)
            if value is not None:
                found.events = _better(found.events, _destination(flow, value, call, module, path, found))
                break
    for path, module, call in _training_arguments(flow):
        found.writes_events = True
        value = call.argument(None, "logging_dir") or call.argument(0, "output_dir")
        if value is not None:
            found.events = _better(found.events, _destination(flow, value, call, module, path, found))
    for path, module, call in flow.calls("Trainer", "LightningCLI"):
        logger = call.argument(None, "logger")
        if not call.name.startswith(("lightning.", "pytorch_lightning.", "pl.", "L.")) or logger is not None:
            continue
        found.writes_events = True
        value = call.argument(None, "default_root_dir")
        if value is not None:
            found.events = _better(found.events, _destination(flow, value, call, module, path, found))
        else:
            found.events = found.events or Destination(call.line, path, constant="lightning_logs")


def _training_arguments(flow: Flow) -> Iterator[tuple[str | None, Observed, Call]]:
    names = {
        call.last for _p, _f, module in flow.modules for call in module.calls if _TRAINING_ARGUMENTS.search(call.last)
    }
    return flow.calls(*sorted(names))


def _read_checkpoints(flow: Flow, found: Outputs) -> None:
    found.makes_folders = any(True for _ in flow.calls("makedirs", "mkdir", *_MAKES_FOLDER))
    places: list[tuple[str | None, Observed, Call, Value | None]] = []
    for path, module, call in flow.calls(*_SAVES):
        if call.last == "save" and not _is_torch_save(call):
            continue
        position, names = _SAVES[call.last]
        places.append((path, module, call, call.argument(position, *names)))
    for path, module, call in _training_arguments(flow):
        places.append((path, module, call, call.argument(0, "output_dir")))
    for path, module, call, value in places:
        if value is not None:
            found.checkpoints = _better(found.checkpoints, _destination(flow, value, call, module, path, found))


def _is_torch_save(call: Call) -> bool:
    root = call.name.partition(".")[0]
    return len(call.args) + len(call.keywords) > 1 and root not in ("np", "numpy", "cv2", "plt")


def _better(first: Destination | None, second: Destination) -> Destination:
    """Return the destination that an option decides, else the first one."""
    if first is None or (first.option is None and second.option is not None):
        return second
    return first


def _destination(
    flow: Flow, value: Value, call: Call, module: Observed, path: str | None, found: Outputs
) -> Destination:
    origins = flow.trace(value, call.scope, module)
    options = [str(origin.value) for origin in origins if origin.kind == "option"]
    folders = [name for name in options if _is_folder(name.rpartition(".")[2].lower())]
    first = next((origin for origin in origins if origin.kind in ("option", "constant") and origin.value), None)
    constant = _folder(first)
    name = next((name for name in options if _NAME.match(name.rpartition(".")[2].lower())), None)
    if not folders and name is not None:
        found.roles.setdefault(name, []).append("run_name")
    if not folders:
        return Destination(call.line, path, constant=constant)
    single = value.single and len([origin for origin in origins if origin.kind != "rank"]) == 1
    return Destination(call.line, path, folders[0], is_file=single and call.last in ("save", "save_file"))


def _folder(origin: Origin | None) -> str | None:
    if origin is None or origin.kind != "constant" or not isinstance(origin.value, str):
        return None
    folder = origin.value.removeprefix("./").rstrip("/")
    return folder if re.match(r"[\w/][\w./-]*$", folder) and folder not in (".", "..") else None


def _is_folder(name: str) -> bool:
    """Return True if an option's name fits a folder or file for outputs."""
    return _FOLDER.search(name) is not None and not _NAME.match(name) and not _RESUME.match(name)


def _resume(flow: Flow) -> list[str]:
    return sorted({name for name in flow.options.values() if _RESUME.match(name.rpartition(".")[2].lower())})
