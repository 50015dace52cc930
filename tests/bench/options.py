"""Time for reading the options of a script with 10 000 lines, and for its whole analysis, compared with `ast.parse`.

Run: python tests/bench/options.py
"""

from __future__ import annotations

import ast
import tempfile
import time
from pathlib import Path

from jupyterlab_t9kjob.launch.options.program import Program
from jupyterlab_t9kjob.launch.scripts.script import _read_text, read_script
from jupyterlab_t9kjob.launch.scripts.workspace import Workspace

OPTIONS = 400
LINES = 10_000


def script(length: int = LINES) -> str:
    """Return a script with 400 options, and with functions that do not matter for them up to its number of lines."""
    lines = ["import argparse", "parser = argparse.ArgumentParser()"]
    lines += [f"parser.add_argument('--option-{n}', type=int, default={n}, help='Option {n}')" for n in range(OPTIONS)]
    lines.append("args = parser.parse_args()")
    while len(lines) < length:
        number = len(lines)
        lines += [f"def step_{number}(x, y):", "    for i in range(x):", "        y = y * i + x", "    return y, x"]
    return "\n".join(lines)


def fastest(work: object, times: int = 7) -> float:
    """Return the least CPU time of some runs, in milliseconds."""
    found: list[float] = []
    for _ in range(times):
        start = time.thread_time()
        work()  # type: ignore[operator]
        found.append(time.thread_time() - start)
    return min(found) * 1000


def analyse(source: str, path: Path) -> None:
    """Read all that the launch form knows about a script, without the result of an earlier reading."""
    _read_text.cache_clear()
    read_script(source, path.name, Workspace(path.parent, path))


def main() -> None:
    """Print the times and their ratios; the one of the options must be at most 3 (parsing included)."""
    source = script()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.py")
        found = sum(len(parser.actions) for parser in Program(Path(folder), path, source).run.parsers)
        parse = fastest(lambda: ast.parse(source))
        read = fastest(lambda: Program(Path(folder), path, source).run)
        whole = fastest(lambda: analyse(source, path), 3)
    print(f"{found} options; ast.parse {parse:.0f} ms, parse and read {read:.0f} ms, ratio {read / parse:.2f}")
    print(f"the whole analysis, with Python's compiler: {whole:.0f} ms, ratio {whole / parse:.2f}")


if __name__ == "__main__":
    main()
