"""Time to take the stacks of 64 ranks, and the longest pause of a rank while its stack is taken.

The ranks are plain Python processes, each of which notes the longest gap between two turns of a loop.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyterlab_t9kjob.core.stacks import taker

RANKS = 64
# Each rank sleeps 10 ms a turn; the files have the longest turn since the start or the reset.
RANK = """
import sys, time
from pathlib import Path
folder, rank = Path(sys.argv[1]), sys.argv[2]
longest, last = 0.0, time.monotonic()
(folder / f"{rank}.ready").touch()
while not (folder / "end").exists():
    if (folder / "reset").exists() and not (folder / f"{rank}.reset").exists():
        (folder / f"{rank}.reset").write_text(str(longest))
        longest, last = 0.0, time.monotonic()
    for _turn in range(100):
        time.sleep(0.01)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    (folder / f"{rank}.longest").write_text(str(longest))
"""


def wait(folder: Path, pattern: str) -> None:
    while len(list(folder.glob(pattern))) < RANKS:
        time.sleep(0.1)


def longest(folder: Path, suffix: str) -> list[float]:
    return sorted(float(path.read_text() or 0) for path in folder.glob(f"*.{suffix}"))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ranks = [
            subprocess.Popen(
                [sys.executable, "-c", RANK, name, str(rank)],
                env={**os.environ, "T9KJOB_UID": name, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            )
            for rank in range(RANKS)
        ]
        try:
            wait(folder, "*.ready")
            time.sleep(6)  # The starts are over.
            (folder / "reset").touch()
            wait(folder, "*.reset")
            time.sleep(4)
            wait(folder, "*.longest")
            before = longest(folder, "longest")
            begun = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-I", "-S", taker.__file__],
                input=json.dumps({"uid": name, "program": str(Path(sys.prefix, "bin", "py-spy"))}).encode(),
                capture_output=True,
                check=True,
            )
            seconds = time.monotonic() - begun
            time.sleep(3)
            after = longest(folder, "longest")
            answer = json.loads(done.stdout)
            taken = sum(bool(rank["threads"]) for rank in answer["ranks"])
            print(f"stacks of {taken} ranks: {seconds:.2f} s")
            print("longest turn of 10 ms, median and maximum of the ranks, in ms:")
            for label, turns in (("before", before), ("while the stacks were taken", after)):
                print(f"  {label}: {turns[RANKS // 2] * 1000:.0f} and {turns[-1] * 1000:.0f}")
        finally:
            (folder / "end").touch()
            for rank in ranks:
                rank.wait()


if __name__ == "__main__":
    main()
