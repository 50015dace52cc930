"""Functions that run the cells of a notebook in a job.

The text of this module is part of each script that is made from a notebook. It needs only the standard library, and
Python 3.8 or newer, because a kernel's Python may be old. Each process of the job runs each chosen cell. The processes
of one machine run shell commands one after the other, except commands that start Python or a launcher: the processes
of such a command may wait for each other. Packages are installed once on each node.

The functions for IPython's commands take the text after the command, the notebook's global variables `names`, and the
local variables `own` at the command. The text's variables are replaced first, a local one before a global one of the
same name.
"""

import __future__

# ruff: noqa: D102, E741, S102, S307, S602, T201, UP031
# ruff: noqa: PTH100, PTH105, PTH109, PTH110, PTH111, PTH118, PTH120, PTH123
import ast
import asyncio
import contextlib
import linecache
import os
import re
import runpy
import shlex
import string
import subprocess
import sys
import tempfile
import time as clock
import timeit as timing
import traceback
from collections.abc import Iterator
from typing import Any

BEFORE = r"(?:^|[;&|(\n])\s*(?:(?:sudo|time|nohup|env|exec|timeout\s+\S+)\s+|\w+=\S*\s+)*[\"']?"
PROGRAMS = re.compile(
    BEFORE + r"(?:(?:[^\s;&|]*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed|horovodrun|mpirun|mpiexec|srun|ray"
    r"|lightning|fabric|composer|make|bash|sh|source)[\"']?(?=\s|$)|\.{0,2}/\S+)"
)
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag
AWAITS = 0x80  # inspect.CO_COROUTINE
CELLS = "--t9kjob-cells"
NO_INSTALL = "--t9kjob-no-install"
state: "dict[str, Any]" = {
    **{"folder": "", "flags": 0, "loop": None, "cell": "", "chosen": None, "left_out": (), "install": True},
    **{"after": None, "values": {}},
}


def begin(path: "str | None", left_out: Any = (), parameters: Any = (), after: "str | None" = None) -> None:
    """Read the job's arguments, and make tracebacks begin in the cells.

    Parameters
    ----------
    path
        Path of the script; None if it is not a file.
    left_out
        Keys of the cells that run only if the arguments choose them.
    parameters
        Kind of each parameter of the notebook: ``bool``, ``int``, ``float``, ``str`` or ``literal``.
    after
        Key of the cell after which the parameters are assigned.
    """
    state["folder"] = os.path.dirname(os.path.abspath(path)) if path else os.getcwd()
    state.update(left_out=left_out, after=after)
    sys.argv[1:] = arguments(sys.argv[1:], dict(parameters))
    before = sys.excepthook

    def hook(kind: Any, error: Any, trace: Any) -> None:
        while trace is not None and ".ipynb, cell " not in trace.tb_frame.f_code.co_filename:
            trace = trace.tb_next
        if trace is None:  # The error was not raised in a cell.
            before(kind, error, error.__traceback__)
        else:  # Python's own hook does not find the lines of cells.
            traceback.print_exception(kind, error.with_traceback(trace), trace)

    sys.excepthook = hook


def arguments(words: "list[str]", parameters: "dict[str, str]") -> "list[str]":
    """Take the arguments of this script out of the job's arguments, and return those for the notebook.

    Parameters
    ----------
    words
        The job's arguments; the list is changed.
    parameters
        Kind of each parameter, as in `begin`.
    """
    rest: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            return [*rest, word, *words]
        name, equals, value = word.partition("=")
        off = name[5:] if name.startswith("--no-") and not equals else ""
        if name == NO_INSTALL:
            state["install"] = False
        elif parameters.get(off) == "bool":
            state["values"][off] = False
        elif name == CELLS or (name.startswith("--") and name[2:] in parameters):
            kind = parameters.get(name[2:], "str")
            if kind == "bool" and not equals:
                value = "True"
            elif not equals:
                value = words.pop(0) if words else ""
            if name == CELLS:
                state["chosen"] = value.split(",")
            else:
                state["values"][name[2:]] = value_of(name[2:], kind, value)
        else:
            rest.append(word)
    return rest


def value_of(name: str, kind: str, text: str) -> Any:
    """Return the value of a parameter with the type that it has in the notebook.

    An ``int`` parameter may get a ``float``. A text that is no Python literal is a string.

    Parameters
    ----------
    name
        Name of the parameter, for the message.
    kind
        Kind of the parameter, as in `begin`.
    text
        The value in the arguments.

    Raises
    ------
    SystemExit
        If the text is not of that kind.
    """
    if kind == "str":
        return text
    if kind == "bool" and text.lower() in ("true", "false", "1", "0"):
        return text.lower() in ("true", "1")
    if kind in ("int", "float"):
        for convert in (int, float) if kind == "int" else (float,):
            with contextlib.suppress(ValueError):
                return convert(text)
    if kind == "literal":
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text
    sys.stderr.write("parameter %s: %r is not of type %s\n" % (name, text, kind))
    raise SystemExit(2)


def run(name: str, text: str, names: "dict[str, Any]", key: str = "") -> None:
    """Run a cell if the job chose it, then assign the parameters if the cell declares them.

    Parameters
    ----------
    name, text
        Name of the cell in tracebacks, and its code after a line break.
    names
        The notebook's global variables.
    key
        Key of the cell.
    """
    chosen = state["chosen"]
    if key not in state["left_out"] if chosen is None else key in chosen:
        run_cell(name, text, names)
    if key == state["after"]:
        names.update(state["values"])


def run_cell(name: str, text: str, names: "dict[str, Any]") -> None:
    """Run a cell as Jupyter does: `await` and `from __future__` work in it. The parameters are those of `run`."""
    name = os.path.join(state["folder"], name)
    state["cell"] = name
    text = text[1:]  # In the script, the text begins with a line break.
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    code = compile(text, name, "exec", state["flags"] | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    state["flags"] |= code.co_flags & FUTURES
    if not code.co_flags & AWAITS:
        exec(code, names)
        return
    if state["loop"] is None:
        state["loop"] = asyncio.new_event_loop()
        asyncio.set_event_loop(state["loop"])
    state["loop"].run_until_complete(eval(code, names))


class Names(string.Formatter):
    """Formatter that replaces variables in a command as IPython does: ``{expression}``, ``$name``, ``$$``."""

    known: "dict[str, Any]"

    def get_field(self, field: str, _args: Any, names: Any) -> Any:
        return eval(field, names), field

    def parse(self, text: Any) -> Any:
        for literal, *rest in super().parse(text):
            position = 0
            # A shell replaces no variables between single quotes either.
            for found in re.finditer(r"\$(\$?[\w.]+)(?=([^']*'[^']*')*[^']*$)", literal):
                yield literal[position : found.start()], None, None, None
                word, position = found.group(1), found.end()
                if word.startswith("$"):
                    yield word, None, None, None
                else:
                    yield ("", word, "", None) if word.split(".")[0] in self.known else ("$" + word, None, None, None)
            yield (literal[position:], *rest)


def filled(text: str, names: "dict[str, Any]", own: "dict[str, Any]") -> str:
    """Return a command with the values of its variables; the unchanged command if that fails, as in IPython."""
    formatter, known = Names(), {**names, **own}
    formatter.known = known
    try:
        return formatter.vformat(text, (), known)
    except Exception:
        return text


def starts_program(command: str) -> bool:
    """Return True for a command that runs the user's code.

    The failure of such a command fails the job, and its processes may wait for each other.
    """
    return PROGRAMS.search(command) is not None and not re.search(r"\s-m\s+pip\s", command)


@contextlib.contextmanager
def turn(command: str) -> "Iterator[Any]":
    """Wait until no other process of the job on this machine runs a command; yield a file that they share.

    Yields None for a command whose processes may wait for each other, and without torchrun.
    """
    run_id = os.environ.get("TORCHELASTIC_RUN_ID")
    if run_id is None or starts_program(command):
        yield None
        return
    import fcntl

    name = "t9kjob-%d-%s" % (os.getuid(), re.sub(r"\W", "-", run_id)[:100])
    with open(os.path.join(tempfile.gettempdir(), name), "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def call(command: str, once: bool = False, **options: Any) -> Any:
    """Run a shell command. The failure of a program raises an error, that of another command is printed.

    Parameters
    ----------
    command
        The command, as a shell reads it.
    once
        True if only the first process of each node runs the command.
    **options
        Arguments of `subprocess.run`.

    Returns
    -------
    done
        The ended process; None if another process of the node ran the command.

    Raises
    ------
    RuntimeError
        If the command runs the user's code and its exit code is not 0.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with turn(command) as shared:
        if once and shared is not None:
            # All ranks of a node have the same parent, the node's torchrun.
            mark = "%d %s %r\n" % (os.getppid(), state["cell"], command)
            shared.seek(0)
            if mark in shared.read():
                return None
            shared.write(mark)
            shared.flush()
        done = subprocess.run(command, shell=True, **options)
    if done.returncode:
        said = "%s: the command ended with exit code %d: %s" % (state["cell"], done.returncode, command[:500])
        if starts_program(command):
            raise RuntimeError(said)
        print(said, file=sys.stderr, flush=True)
    return done


def system(command: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Run ``!command``."""
    call(filled(command, names, own))


def pip(words: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Run pip with the job's Python. An installation runs once on each node, or not at all if the job says so."""
    words = filled(words, names, own)
    installs = words.startswith("install")
    if installs and not state["install"]:
        print("%s: left out: pip %s" % (state["cell"], words), flush=True)
        return
    call(shlex.quote(sys.executable) + " -m pip " + words, once=installs)


def script(text: str, program: str, names: "dict[str, Any]") -> None:
    """Run the text of a cell as the input of the shell command `program`."""
    call(filled(program, names, {}), input=text.encode())


class Lines(list[str]):
    """Lines of a command's output, with the attributes of IPython's SList."""

    l = list = property(lambda self: self)
    n = nlstr = property("\n".join)
    s = spstr = property(" ".join)


def output(command: str, names: "dict[str, Any]", own: "dict[str, Any]") -> Lines:
    """Return the lines that ``x = !command`` prints."""
    done = call(filled(command, names, own), stdout=subprocess.PIPE)
    return Lines(done.stdout.decode(errors="replace").splitlines())


def env(text: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Set an environment variable: ``%env A=b``."""
    name, equals, value = text.partition("=")
    if not equals:
        name, _, value = text.partition(" ")
    os.environ[name.strip()] = filled(value.strip(), names, own)


def cd(path: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Change the working directory: ``%cd path``."""
    path = filled(path, names, own).strip().strip("\"'")
    before = os.getcwd()
    os.chdir(state.get("last", before) if path == "-" else os.path.expanduser(path or "~"))
    state["last"] = before
    print(os.getcwd())


def writefile(path: str, text: str, append: bool, names: "dict[str, Any]") -> None:
    """Write the text of a cell to a file. The file is replaced at once, because all processes of a job write it.

    Parameters
    ----------
    path, text
        Path of the file, in which variables are replaced, and its new text.
    append
        True to add the text at the end of the file instead.
    names
        The notebook's global variables.
    """
    path = os.path.expanduser(filled(path, names, {}).strip().strip("\"'"))
    if append:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    else:
        temporary = "%s.%d.tmp" % (path, os.getpid())
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    print("Wrote " + path)


@contextlib.contextmanager
def time() -> "Iterator[None]":
    """Print how long a statement takes: ``%time statement``."""
    wall, used = clock.perf_counter(), clock.process_time()
    try:
        yield
    finally:
        print("CPU time: %.3g s, wall time: %.3g s" % (clock.process_time() - used, clock.perf_counter() - wall))


def timeit(statement: str, names: "dict[str, Any]") -> None:
    """Run a statement many times and print how long it takes: ``%timeit statement``."""
    timer = timing.Timer(statement, globals=names)
    count, _ = timer.autorange()
    print("%.3g s per loop (best of 3, %d loops each)" % (min(timer.repeat(3, count)) / count, count))


def run_file(text: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Run a script: ``%run script.py arguments``. The names that it defines become names of the notebook."""
    path, *arguments = shlex.split(filled(text, names, own))
    path = os.path.expanduser(path)
    path = path if os.path.exists(path) else path + ".py"
    before, main, first = sys.argv, sys.modules["__main__"], os.path.dirname(os.path.abspath(path))
    sys.argv = [path, *arguments]
    sys.path.insert(0, first)
    try:
        found = runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
        found = {}
    finally:
        sys.argv, sys.modules["__main__"] = before, main
        with contextlib.suppress(ValueError):
            sys.path.remove(first)
    names.update({name: value for name, value in found.items() if not name.startswith("__")})
