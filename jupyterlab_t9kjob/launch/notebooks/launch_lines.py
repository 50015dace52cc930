"""Reads commands that start a training: ``!torchrun …``, ``!accelerate launch …``, ``!deepspeed …``.

Options: torch 2.9 ``torch/distributed/run.py``, accelerate 1.11 ``commands/launch.py``, DeepSpeed 0.18
``launcher/runner.py``. All of them accept dashes and underscores in the names of options, or did in some version.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Final, Literal

from ...core.manifests.kinds.torchrun.bare import FLAGS as TORCHRUN_FLAGS

Launcher = Literal["torchrun", "accelerate launch", "deepspeed"]

_MAX_LENGTH: Final = 64 * 1024
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*=")
_QUOTED: Final = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*\"""")
_COMMENT: Final = re.compile(r"(?<!\S)#.*")
# Variables of the notebook; then what a shell replaces.
_REPLACED: Final = re.compile(r"\{[^{}]+\}|\$\w+|\$\([^()]*\)|`[^`]*`")
_EXPANDED: Final = re.compile(r"(?<!\S)~[^\s;|&]*|[^\s;|&]*[*?][^\s;|&]*")
_FLAGS: Final[dict[Launcher, frozenset[str]]] = {
    "torchrun": TORCHRUN_FLAGS,
    "accelerate launch": frozenset(
        (
            *("cpu", "multi_gpu", "tpu", "ipex", "use_xpu", "quiet", "q", "debug", "use_deepspeed", "use_fsdp"),
            *("use_megatron_lm", "use_parallelism_config", "use_mps_device", "same_network", "enable_cpu_affinity"),
            *("module", "m", "no_python", "use_fp8", "tpu_cluster", "no_tpu_cluster", "downcast_bf16", "fp16"),
        )
    ),
    "deepspeed": frozenset(
        (
            *("module", "no_python", "no_local_rank", "no_ssh_check", "force_multi", "save_pid", "elastic_training"),
            *("enable_each_rank_log_dir", "bind_cores_to_rank", "ssh_check", "no_ssh"),
        )
    ),
}
"""Options without a value."""
_PROCESSES: Final = frozenset({"nproc_per_node", "num_gpus"})
_NODES: Final = frozenset({"nnodes", "num_nodes", "num_machines"})
_ENGINES: Final = frozenset(
    (
        *("standalone", "rdzv_backend", "rdzv_endpoint", "rdzv_id", "rdzv_conf", "node_rank", "master_addr"),
        *("master_port", "log_dir", "redirects", "r", "tee", "t", "multi_gpu", "main_process_ip", "use_env", "quiet"),
        *("main_process_port", "machine_rank", "same_network", "hostfile", "H", "launcher", "save_pid", "q"),
        *("num_processes", "module", "m", "no_local_rank", "enable_each_rank_log"),
    )
)
"""Options whose values the engine sets itself, or that need no counterpart."""


@dataclass(frozen=True)
class LaunchLine:
    """A command that starts the processes of a training.

    Attributes
    ----------
    text
        The command.
    line
        Its line in the cell, from 1.
    launcher
        The program that starts the processes.
    kind
        What it starts: a script, a module, or another program.
    value
        Path of the script as it is written, name of the module, or the program.
    args
        Arguments of the script.
    processes
        Processes on each node; None if the line does not say.
    nodes
        Number of nodes; None if the line does not say.
    max_restarts
        Number of torchrun's restarts; None if the line does not say.
    env
        Environment variables.
    dropped
        Options that have no counterpart in a job.
    variables
        What the notebook or a shell replaces in the command, as it is written: ``{lr}``, ``$(date)``, ``~/data``.
    """

    text: str
    line: int
    launcher: Launcher
    kind: Literal["script", "module", "command"]
    value: str
    args: list[str] = field(default_factory=list)
    processes: int | Literal["gpu"] | None = None
    nodes: int | None = None
    max_restarts: int | None = None
    env: dict[str, str] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)


def find_launch_line(source: str) -> LaunchLine | None:
    """Return the first command of a cell that starts the processes of a training; None if there is none.

    Parameters
    ----------
    source
        Text of the cell. Commands begin with ``!``, or are the lines of a cell for a shell.
    """
    if not any(word in source for word in ("torch", "accelerate", "deepspeed")):
        return None
    first = source.lstrip().split("\n", 1)[0]
    shell = re.match(r"%%(?:bash|sh|!|sx|system|script\s+(?:ba)?sh)\b", first) is not None
    lines = source.split("\n")
    index = 0
    while index < len(lines):
        number, text = index + 1, lines[index].strip()
        while text.endswith("\\") and index + 1 < len(lines):
            index += 1
            text = f"{text[:-1].rstrip()} {lines[index].strip()}"
        index += 1
        if not shell and not text.startswith("!"):
            continue
        found = read_launch_line(text.lstrip("!").strip(), number)
        if found is not None:
            return found
    return None


def read_launch_line(text: str, line: int = 1) -> LaunchLine | None:
    """Return the parts of a command that starts a training; None for other commands.

    Parameters
    ----------
    text
        The command, as for a shell.
    line
        Its line in the cell.
    """
    if len(text) > _MAX_LENGTH:
        return None
    comment = _COMMENT.search(_unquoted(text))
    lexer = shlex.shlex(text[: comment.start()] if comment else text, posix=True, punctuation_chars=";|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # A quote is not closed.
        return None
    env: dict[str, str] = {}
    while words and _VARIABLE.match(words[0]):
        name, _, env[name] = words.pop(0).partition("=")
    launcher, rest = _launcher(words)
    if launcher is None:
        return None
    # Redirections belong to the shell; the job keeps its own log.
    end = next((index for index, word in enumerate(rest) if re.match(r"\d?>|[;|&]+$", word)), len(rest))
    then = next((index for index in range(end, len(rest)) if rest[index] in (";", "&&", "||", "|")), len(rest))
    rest, further = rest[:end], rest[then:]
    given, rest = _options(rest, _FLAGS[launcher])
    if not rest:
        return None
    kind: Literal["script", "module", "command"] = "script"
    if given.keys() & {"m", "module"}:
        kind = "module"
    elif "no_python" in given or not rest[0].endswith(".py"):
        kind = "command"
    nodes, processes = _size(given, launcher)
    precision = given.pop("mixed_precision", None)
    if launcher == "accelerate launch" and precision:
        env.setdefault("ACCELERATE_MIXED_PRECISION", precision)
    known = _PROCESSES | _NODES | _ENGINES | {"max_restarts", "no_python"}
    return LaunchLine(
        text=text,
        line=line,
        launcher=launcher,
        kind=kind,
        value=rest[0],
        args=rest[1:],
        processes=processes,
        nodes=nodes,
        max_restarts=_number(given.get("max_restarts")),
        env=env,
        dropped=[
            *(f"--{name} {value}".rstrip() for name, value in given.items() if name not in known),
            *([" ".join(further)] if len(further) > 1 else []),
        ],
        variables=_replaced(text),
    )


def _replaced(text: str) -> list[str]:
    """Return the parts of a command that a notebook or a shell replaces."""
    return sorted({*_REPLACED.findall(text), *_EXPANDED.findall(_unquoted(text))})


def _unquoted(text: str) -> str:
    """Return a command of the same length, without what is quoted."""
    return _QUOTED.sub(lambda found: "_" * len(found[0]), text)


def _launcher(words: list[str]) -> tuple[Launcher | None, list[str]]:
    name = words[0].rpartition("/")[2] if words else ""
    if name == "torchrun":
        return "torchrun", words[1:]
    if name == "deepspeed":
        return "deepspeed", words[1:]
    if name == "accelerate" and words[1:2] == ["launch"]:
        return "accelerate launch", words[2:]
    if re.fullmatch(r"python[\d.]*|\{sys\.executable\}", name):
        rest = [word for word in words[1:] if word not in ("-u", "-O", "-B")]
        if rest[:1] == ["-m"] and rest[1:2] in (["torch.distributed.run"], ["torch.distributed.launch"]):
            return "torchrun", rest[2:]
        if rest[:1] == ["-m"] and rest[1:2] in (["accelerate.commands.launch"], ["accelerate.launch"]):
            return "accelerate launch", rest[2:]
    return None, words


def _options(words: list[str], flags: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """Return the launcher's options by name, and the words after them."""
    given: dict[str, str] = {}
    index = 0
    while index < len(words) and words[index].startswith("-"):
        name, equals, value = words[index].lstrip("-").partition("=")
        name = name.replace("-", "_")
        index += 1
        if not equals and name not in flags:
            value = words[index] if index < len(words) else ""
            index += 1
        given[name] = value
    return given, words[index:]


def _size(given: dict[str, str], launcher: Launcher) -> tuple[int | None, int | Literal["gpu"] | None]:
    nodes = next((_number(value.partition(":")[2] or value) for name, value in given.items() if name in _NODES), None)
    per_node = next((value for name, value in given.items() if name in _PROCESSES), None)
    if per_node in ("gpu", "auto"):
        return nodes, "gpu"
    if launcher == "accelerate launch":  # num_processes counts the processes of all nodes.
        total = _number(given.get("num_processes"))
        return nodes, max(1, total // (nodes or 1)) if total else None
    include = given.get("include") or given.get("i")
    if launcher == "deepspeed" and per_node is None and include:
        hosts = include.split("@")
        given.pop("include", None)
        given.pop("i", None)
        return nodes or len(hosts), len(hosts[0].partition(":")[2].split(",")) if ":" in hosts[0] else "gpu"
    if launcher == "deepspeed" and per_node is None:
        return nodes, "gpu"  # DeepSpeed starts one process on each GPU of a node.
    return nodes, _number(per_node)


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[1-9]\d{0,3}|0", text) else None
