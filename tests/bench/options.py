"""Time for reading the options of a script with 10 000 lines, compared with `ast.parse`.

Run: python tests/bench/options.py
"""

from __future__ import annotations

import ast
import tempfile
import time
from pathlib import Path

from jupyterlab_t9kjob.launch.options.program import Program

OPTIONS = 400
LINES = 10_000


def script() -> str:
    """Return a script with 400 options and 10 000 lines of functions that do not matter for them."""
    lines = ["import argparse", "parser = argparse.ArgumentParser()"]
    lines += [f"parser.add_argument('--option-{n}', type=int, default={n}, help='Option {n}')" for n in range(OPTIONS)]
    lines.append("args = parser.parse_args()")
    while len(lines) < LINES:
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


def main() -> None:
    """Print both times and their ratio, which must be at most 3 (parsing included)."""
    source = script()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.py")
        found = sum(len(parser.actions) for parser in Program(Path(folder), path, source).run.parsers)
        parse = fastest(lambda: ast.parse(source))
        read = fastest(lambda: Program(Path(folder), path, source).run)
    print(f"{found} options; ast.parse {parse:.0f} ms, parse and read {read:.0f} ms, ratio {read / parse:.2f}")


if __name__ == "__main__":
    main()
