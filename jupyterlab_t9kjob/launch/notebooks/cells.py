"""Runs a notebook's cells. Its text is part of each script that is made of a notebook; only the standard library.

Runs on any Python 3.8 or newer, since a kernel may be old. Every process of the job runs every cell, as it would run
the code of a script. Commands of one machine's processes take turns, except those that start Python or a launcher,
whose processes may wait for each other.
"""

import __future__

# ruff: noqa: D102, D103, E741, S102, S307, S602, T201, UP031
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
state: "dict[str, Any]" = {"folder": "", "flags": 0, "loop": None, "cell": ""}


def begin(path: "str | None") -> None:
    """Remember where the notebook lies, and have tracebacks begin in its cells."""
    state["folder"] = os.path.dirname(os.path.abspath(path)) if path else os.getcwd()
    before = sys.excepthook

    def hook(kind: Any, error: Any, trace: Any) -> None:
        while trace is not None and ".ipynb, cell " not in trace.tb_frame.f_code.co_filename:
            trace = trace.tb_next
        if trace is None:  # no cell has a part in it
            before(kind, error, error.__traceback__)
        else:  # Python's own hook would not find the lines of cells
            traceback.print_exception(kind, error.with_traceback(trace), trace)

    sys.excepthook = hook


def run(name: str, text: str, names: "dict[str, Any]") -> None:
    """Run a cell as Jupyter does: `await` and `from __future__` work in it."""
    name = os.path.join(state["folder"], name)
    state["cell"] = name
    text = text[1:]  # the script begins it on a line of its own
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
    """Puts variables into a command as IPython does: ``{expression}``, ``$name``, ``$$``."""

    known: "dict[str, Any]"

    def get_field(self, field: str, _args: Any, names: Any) -> Any:
        return eval(field, names), field

    def parse(self, text: Any) -> Any:
        for literal, *rest in super().parse(text):
            position = 0
            # Not within single quotes, where a shell would not either.
            for found in re.finditer(r"\$(\$?[\w.]+)(?=([^']*'[^']*')*[^']*$)", literal):
                yield literal[position : found.start()], None, None, None
                word, position = found.group(1), found.end()
                if word.startswith("$"):
                    yield word, None, None, None
                else:
                    yield ("", word, "", None) if word.split(".")[0] in self.known else ("$" + word, None, None, None)
            yield (literal[position:], *rest)


def filled(text: str, names: "dict[str, Any]", own: "dict[str, Any]") -> str:
    """Return a command with its variables; as it is where that fails, as in IPython."""
    formatter, known = Names(), {**names, **own}
    formatter.known = known
    try:
        return formatter.vformat(text, (), known)
    except Exception:
        return text


def starts_program(command: str) -> bool:
    """Return True for a command that runs code: its failure is the job's, and its processes may wait for each other."""
    return PROGRAMS.search(command) is not None and not re.search(r"\s-m\s+pip\s", command)


@contextlib.contextmanager
def turn(command: str) -> "Iterator[None]":
    """Wait until no other process of the job on this machine runs a command."""
    run_id = os.environ.get("TORCHELASTIC_RUN_ID")
    if run_id is None or starts_program(command):
        yield
        return
    import fcntl

    name = "t9kjob-%d-%s" % (os.getuid(), re.sub(r"\W", "-", run_id)[:100])
    with open(os.path.join(tempfile.gettempdir(), name), "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def call(command: str, **options: Any) -> Any:
    sys.stdout.flush()
    sys.stderr.flush()
    with turn(command):
        done = subprocess.run(command, shell=True, **options)
    if done.returncode:
        said = "%s: the command ended with exit code %d: %s" % (state["cell"], done.returncode, command[:500])
        if starts_program(command):
            raise RuntimeError(said)
        print(said, file=sys.stderr, flush=True)
    return done


def system(command: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Run ``!command``. A program that fails fails the job, other commands are reported."""
    call(filled(command, names, own))


def pip(arguments: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Run ``%pip arguments`` with the Python that runs this."""
    call(shlex.quote(sys.executable) + " -m pip " + filled(arguments, names, own))


def script(text: str, program: str, names: "dict[str, Any]") -> None:
    """Run a cell by a shell."""
    call(filled(program, names, {}), input=text.encode())


class Lines(list[str]):
    """Lines of a command's output, as IPython's SList."""

    l = list = property(lambda self: self)
    n = nlstr = property("\n".join)
    s = spstr = property(" ".join)


def output(command: str, names: "dict[str, Any]", own: "dict[str, Any]") -> Lines:
    """Return the lines that ``x = !command`` prints."""
    done = call(filled(command, names, own), stdout=subprocess.PIPE)
    return Lines(done.stdout.decode(errors="replace").splitlines())


def env(text: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Set a variable: ``%env A=b``."""
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
    """Write a cell to a file, whole: processes of one job may do so at the same time."""
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
    """Say how long a statement takes: ``%time statement``."""
    wall, used = clock.perf_counter(), clock.process_time()
    try:
        yield
    finally:
        print("CPU time: %.3g s, wall time: %.3g s" % (clock.process_time() - used, clock.perf_counter() - wall))


def timeit(statement: str, names: "dict[str, Any]") -> None:
    """Run a statement many times: ``%timeit statement``."""
    timer = timing.Timer(statement, globals=names)
    count, _ = timer.autorange()
    print("%.3g s per loop (best of 3, %d loops each)" % (min(timer.repeat(3, count)) / count, count))


def run_file(text: str, names: "dict[str, Any]", own: "dict[str, Any]") -> None:
    """Run a script as ``%run script.py arguments`` does: in names of its own, which are then the notebook's too."""
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
