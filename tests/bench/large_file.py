"""Time and memory that the reader takes for one metrics file of a gigabyte, with what goes wrong in real files.

The file has NaN and infinity, steps that go back after a restart, the items of a second writer, and a cut-off end.

Run: ``python -m tests.bench.large_file --size 1000``
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from jupyter_server.services.contents.largefilemanager import LargeFileManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.experiments.curves import curves_of
from jupyterlab_t9kjob.experiments.facts import MetricLog
from jupyterlab_t9kjob.experiments.library.known import Known
from jupyterlab_t9kjob.experiments.library.library import Library
from jupyterlab_t9kjob.experiments.library.store import READ_SECONDS
from jupyterlab_t9kjob.experiments.model import CurvesRequest
from jupyterlab_t9kjob.experiments.sources.recorder import RecorderSource

ITEMS = 20_000


def item(step: int, loss: str, extra: str = "") -> str:
    hours, second = divmod(step // 10, 3600)
    moment = f"2026-01-{1 + hours // 24 % 28:02d}T{hours % 24:02d}:{second // 60:02d}:{second % 60:02d}"
    return (
        f"- value:\n    loss: {loss}\n    lr: 0.001\n{extra}"
        f"  sequence:\n    epoch: null\n    step: {step}\n    timestamp: '{moment}.000000+00:00'\n"
    )


def write(path: Path, megabytes: int) -> int:
    """Write the file; return the number of its items."""
    count = step = 0
    with path.open("w") as file:
        while file.tell() < megabytes * 1_000_000:
            lines = [item(step + number, f"{1 / (1 + number):.6f}") for number in range(ITEMS)]
            part = count // ITEMS
            if part % 20 == 3:
                lines[7], lines[8] = item(step + 7, ".nan"), item(step + 8, ".inf")
            if part % 50 == 5:  # A second process writes as well.
                lines[100:200] = [item(number, "0.5", "    other: 1.0\n") for number in range(100)]
            step = step // 2 if part % 100 == 60 else step + ITEMS
            file.write("".join(lines))
            count += ITEMS
        file.write(item(step, "0.25")[:60])
    return count


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000, help="megabytes")
    args = parser.parse_args()
    source = RecorderSource()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "metrics").mkdir()
        (folder / "metadata.yaml").write_text("kind: Run\nname: large\nstatus: Running\n")
        count = write(folder / "metrics/train.yaml", args.size)
        files, log = source.files(folder), MetricLog()
        before, begun, used, longest, calls = memory(), time.perf_counter(), time.process_time(), 0.0, 0
        while True:
            since = time.perf_counter()
            complete = source.metrics(folder, files, log, time.monotonic() + READ_SECONDS)
            longest, calls = max(longest, time.perf_counter() - since), calls + 1
            if complete:
                break
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        found = log.series["train.loss"]
        assert found.count == count, (found.count, count)
        print(
            f"{args.size} MB, {count} items: read in {seconds:.1f} s ({used:.1f} s of CPU), {calls} calls of at most"
            f" {longest:.2f} s; memory {before:.0f} MB before, {memory():.0f} MB at most; {found.bad} values not finite"
        )
        library = Library(ContentsRoot(LargeFileManager(root_dir=place)), None)
        known = Known("x", folder, "", source, files, log=log, read=True)
        last = found.last.position.step if found.last else None
        assert last is not None
        for part in (1.0, 0.1, 0.001):
            begun, used = time.perf_counter(), time.process_time()
            request = CurvesRequest(runs=["x"], metrics=["train.loss"], first=last * (1 - part), last=last)
            [curve] = curves_of([known], request, library)
            took = f"{time.perf_counter() - begun:.2f} s ({time.process_time() - used:.2f} s of CPU)"
            print(
                f"zoom to the last {part:.1%} of the steps: {len(curve.x)} points, {took}, truncated: {curve.truncated}"
            )
        print(f"memory {memory():.0f} MB at most")


if __name__ == "__main__":
    main()
