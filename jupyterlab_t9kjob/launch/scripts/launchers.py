"""Detection of launchers, such as torchrun and accelerate, in the command lines that a module runs."""

from __future__ import annotations

import ast
import os.path
import re
from collections.abc import Iterator, Mapping
from typing import Final

from .tree_walk import Context, Nodes

LAUNCH_COMMAND: Final = re.compile(
    r"(?:^|[\s/;&|])(?:torchrun(?:\s|$)|torch\.distributed\.(?:run|launch)\b|accelerate\s+launch\b|deepspeed\s"
    r"|horovodrun\s|mpirun\s|mpiexec\s|srun\s)"
)
"""A command line that starts the processes of a training."""
_LAUNCH_MODULE: Final = re.compile(
    r"torch\.distributed\.(?:run|launch)|accelerate\.commands\.launch|deepspeed\.launcher"
)

STARTS_PROGRAMS: Final = frozenset(
    (
        *("subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call", "subprocess.check_output"),
        *("os.system", "os.popen", "os.execv", "os.execve", "os.execvp", "os.execvpe", "os.execl", "os.execlp"),
        *("os.spawnv", "os.spawnvp", "os.posix_spawn", "asyncio.create_subprocess_exec"),
        *("asyncio.create_subprocess_shell", "_t9kjob.system", "_t9kjob.output", "_t9kjob.script"),  # of notebooks
    )
)
_SAYS: Final = frozenset(
    (
        *("print", "warn", "warning", "info", "debug", "error", "critical", "exception", "log", "echo", "secho"),
        *("add_argument", "ArgumentParser", "add_parser", "add_argument_group", "set_usage", "exit", "fail", "write"),
        *("option", "argument", "command", "Option", "Argument", "Typer", "Panel", "Markdown", "display"),
    )
)
"""Functions that show a text and run nothing."""
_PYTHON_RUNS: Final = re.compile(
    r"(?:^|[;&|]\s*)(?:\w+=\S*\s+)*(?:[^\s;&|]*/)?(?:python[\d.]*|\{sys\.executable\})\s+(?:-[uOBI]+\s+)*(?P<path>[^\s;&|-]\S*\.py)\b"
)
_INTERPRETERS: Final = re.compile(r"(?:python[\d.]*|bash|sh|env|nohup|sudo|exec|time)$")


def find_launcher(
    nodes: Nodes, calls: list[tuple[ast.Call, Context]], assigned: Mapping[str, ast.expr]
) -> tuple[int, Context] | None:
    """Return line and context of the first launcher that a module starts as a program; None if it starts none.

    Command lines that are only shown (``raise RuntimeError("Start it with torchrun …")``) are ignored.

    Parameters
    ----------
    nodes
        Nodes of the module.
    calls
        The module's calls of functions in `STARTS_PROGRAMS`.
    assigned
        Expressions that are assigned to the module's names.
    """
    unknown: Context | None = None
    for call, context in sorted(calls, key=lambda found: found[0].lineno):
        for command in _commands(call):
            line = _launching(command, assigned)
            if line is not None:
                return line, context
            if unknown is None and not _known(command, assigned):
                unknown = context
    files = _written(nodes, calls)
    if unknown is None and not files:
        return None
    shown = _shown(nodes)
    lines = [
        node.lineno
        for node, _ in nodes.of(ast.Constant)
        if isinstance(node.value, str)
        and 4 < len(node.value) < 10_000
        and (id(node) in files or (unknown is not None and id(node) not in shown))
        and LAUNCH_COMMAND.search(node.value)
    ]
    return (min(lines), unknown or Context()) if lines else None


def starts_ranks(nodes: Nodes, calls: list[tuple[ast.Call, Context]]) -> tuple[int, Context] | None:
    """Return line and context of a loop's call that starts a program with the variables of a rank; None if none does.

    Parameters
    ----------
    nodes
        Nodes of the module.
    calls
        The module's calls of functions in `STARTS_PROGRAMS`.
    """
    inside = [
        (call.lineno, context)
        for call, context in calls
        if context.loop and any(keyword.arg == "env" for keyword in call.keywords)
    ]
    named = {node.value for node, _ in nodes.of(ast.Constant) if isinstance(node.value, str)} if inside else set()
    return min(inside, key=lambda found: found[0]) if named >= {"RANK", "WORLD_SIZE"} else None


def runs_launcher(called: str, call: ast.Call) -> bool:
    """Return True for ``runpy.run_module("torch.distributed.run")``.

    Parameters
    ----------
    called
        Full name of the called function.
    call
        The call.
    """
    if called != "runpy.run_module" or not call.args or not isinstance(call.args[0], ast.Constant):
        return False
    return isinstance(call.args[0].value, str) and _LAUNCH_MODULE.match(call.args[0].value) is not None


def scripts_run(called: str, call: ast.Call) -> Iterator[str]:
    """Yield the scripts that a notebook's command runs: ``%run train.py``, ``!python train.py``.

    Parameters
    ----------
    called
        Full name of the called function.
    call
        The call. Its command must be a constant text.
    """
    text = _word(call.args[0]) if call.args else None
    if text and called == "_t9kjob.run_file":
        name = text.split()[0]
        yield name if name.endswith(".py") else f"{name}.py"
    elif text and called == "_t9kjob.system":
        yield from (found["path"] for found in _PYTHON_RUNS.finditer(text))


def _commands(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that are the command line."""
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "args")]


def _launching(node: ast.expr, assigned: Mapping[str, ast.expr], depth: int = 0) -> int | None:
    """Return the line in which a command line names a launcher; None if it names none."""
    for line, text in _texts(node):
        if 4 < len(text) < 10_000 and LAUNCH_COMMAND.search(text):
            return line
    for part in ast.walk(node) if depth < 3 else ():
        if isinstance(part, ast.Name) and part.id in assigned:
            found = _launching(assigned[part.id], assigned, depth + 1)
            if found is not None:
                return found
    return None


def _texts(node: ast.expr) -> Iterator[tuple[int, str]]:
    """Yield the texts of an expression, each with its line; a list of words is also joined to a command line."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.lineno, part.value
        elif isinstance(part, ast.List | ast.Tuple):
            yield part.lineno, " ".join(_word(item) or "?" for item in part.elts) + " "


def _word(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    return "python" if isinstance(node, ast.Attribute) and node.attr == "executable" else None


def _known(node: ast.expr, assigned: Mapping[str, ast.expr]) -> bool:
    """Return True if the program of a command line is known from its text."""
    if isinstance(node, ast.Name) and isinstance(assigned.get(node.id), ast.Constant | ast.JoinedStr):
        node = assigned[node.id]
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str) or not re.match(r"\s*[{$]", node.value)
    if isinstance(node, ast.JoinedStr):
        first = node.values[0] if node.values else None
        return isinstance(first, ast.Constant) and len(str(first.value).split(" ")) > 1
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("globals", "locals")
    if not isinstance(node, ast.List | ast.Tuple):
        return False
    words: list[str] = []
    for item in node.elts:
        word = _word(item)
        if word is None:
            break
        words.append(word)
    while words and (_INTERPRETERS.match(os.path.basename(words[0])) or words[0].startswith("-")):  # noqa: PTH119
        words.pop(0)
    return bool(words)


def _written(nodes: Nodes, calls: list[tuple[ast.Call, Context]]) -> set[int]:
    """Return the ids of the texts that a notebook writes to shell scripts which its commands name."""
    commands = [text for call, _ in calls for argument in call.args for _, text in _texts(argument)]
    found: set[int] = set()
    for call, _ in nodes.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "writefile" and len(call.args) > 1:
            name = _word(call.args[0])
            if name and name.endswith((".sh", ".bash")) and any(name in command for command in commands):
                found.add(id(call.args[1]))
    return found


def _shown(nodes: Nodes) -> set[int]:
    """Return the ids of the texts that are only shown, or written to a file."""
    showing: list[ast.AST] = [node for kind in (ast.Raise, ast.Assert) for node, _ in nodes.of(kind)]
    for call, _ in nodes.of(ast.Call):
        name = str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))
        if name in _SAYS or name == "writefile" or name.startswith("DEFINE_"):
            showing.append(call)
    return {id(part) for node in showing for part in ast.walk(node) if isinstance(part, ast.Constant)}
