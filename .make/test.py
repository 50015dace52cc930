"""Run the checks and tests, one after the other, and add them up: the last line is `N passed, N failed, N skipped`."""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

import cluster

REPORTS = Path("build/reports")
CI = os.environ.get("CI") == "true"

# Tests that failed once and were repeated, a name a line: the runners of tests append to it.
REPEATED = REPORTS / "repeated"
MOST_REPEATED = 3

# What CI may skip: a reason begins with the marker of what the machine lacks.
ALLOWED_SKIPS = ("gpu:", "root:", "cluster:")


# Two tests at a time, for most of them wait. A file is one worker's, which makes once what its tests share.
WORKERS = "-n 2 --dist loadfile --no-loadscope-reorder"


@dataclass
class Step:
    """A command; with a report (JUnit's XML) it counts as its tests, else as one."""

    name: str
    command: str
    report: str = ""
    needs_chromium: bool = False
    needs_cluster: bool = False
    computes: bool = False  # It waits for nothing, so such steps run side by side, one a core.


STEPS = [
    # the longest ones first
    Step("jest", "jlpm test", "jest.xml", computes=True),
    Step("tsc", "jlpm lint:types", computes=True),
    Step("eslint", "jlpm lint:check", computes=True),
    Step("mypy", "mypy", computes=True),
    Step("docs", "sphinx-build -E -a -W --keep-going -q -d build/doctrees docs build/docs", computes=True),
    Step("types", "jlpm types --check && python .make/constants.py --check", computes=True),
    Step("imports", "lint-imports", computes=True),
    Step("ruff", "ruff check .", computes=True),
    Step("format", "ruff format --check .", computes=True),
    Step("pytest", f"pytest {WORKERS} -m 'not cluster' --junitxml={REPORTS}/pytest.xml", "pytest.xml"),
    Step(
        "ui",
        "make -s ui-envs && cd tests/ui && jlpm playwright test --project=newest --project=oldest",
        "ui.xml",
        needs_chromium=True,
    ),
    # the last ones, for the cluster that they start stays up
    Step(
        "cluster",
        f"pytest {WORKERS} tests/kubernetes -m 'cluster and not alone' --junitxml={REPORTS}/cluster.xml",
        "cluster.xml",
        needs_cluster=True,
    ),
    Step(
        "cluster-alone",
        f"pytest tests/kubernetes -m 'cluster and alone' --junitxml={REPORTS}/cluster-alone.xml",
        "cluster-alone.xml",
        needs_cluster=True,
    ),
    Step(
        "cluster-ui",
        "make -s ui-envs && cd tests/ui && T9KJOB_UI_REPORT=cluster-ui.xml jlpm playwright test --project=cluster",
        "cluster-ui.xml",
        needs_chromium=True,
        needs_cluster=True,
    ),
]


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: list[str] = field(default_factory=list)
    tests: list[tuple[float, str]] = field(default_factory=list)  # seconds and name of each

    def add(self, other: "Count") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.notes += other.notes
        self.tests += other.tests

    def fail(self, name: str, reason: str = "") -> None:
        self.failed += 1
        self.notes.append(f"FAILED  {name}" + (reason and f": {reason}"))

    def skip(self, name: str, reason: str, allowed: tuple[str, ...] = ALLOWED_SKIPS) -> None:
        """Count a skip; one that CI does not expect is a failure there."""
        if CI and not reason.startswith(allowed):
            self.fail(name, f"skipped in CI: {reason}")
        else:
            self.skipped += 1
            self.notes.append(f"skipped {name}: {reason}")

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_report(step: Step, environment: dict[str, str]) -> Count:
    count = Count()
    has_cluster = "KUBECONFIG" in environment
    allowed = tuple(marker for marker in ALLOWED_SKIPS if not (has_cluster and marker == "cluster:"))
    for case in ElementTree.parse(REPORTS / step.report).iter("testcase"):
        name = f"{step.name} {case.get('classname')} {case.get('name')}"
        count.tests.append((float(case.get("time") or 0), name))
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            count.fail(name)
        elif skipped is not None:
            said = case.find("properties/property[@name='skip']")  # so does Playwright
            reason = skipped.get("message") or (said is not None and said.get("value")) or "no reason given"
            count.skip(name, reason, allowed)
        else:
            count.passed += 1
    return count


@dataclass
class Result:
    """How a step ended, and after how long."""

    step: Step
    count: Count
    seconds: float
    output: bytes | None
    busy: float | None = None  # Cores of the machine that were busy on average, also with what others ran.

    def __str__(self) -> str:
        return f"{self.step.name}: {self.count} in {self.seconds:.0f} s"


def run(step: Step, arguments: list[str], environment: dict[str, str], capture: bool = False) -> Result:
    started, used = time.monotonic(), cpu_seconds()
    report = REPORTS / step.report
    if step.report:
        report.unlink(missing_ok=True)
    command = " ".join([step.command, *arguments])
    stdout, stderr = (subprocess.PIPE, subprocess.STDOUT) if capture else (None, None)
    ended = subprocess.run(command, shell=True, env=environment, stdout=stdout, stderr=stderr)
    count = (
        read_report(step, environment) if step.report and report.exists() else Count(passed=int(not ended.returncode))
    )
    if ended.returncode and not count.failed:
        count.fail(step.name, f"exit status {ended.returncode}")
    seconds = time.monotonic() - started
    busy = (cpu_seconds() - used) / seconds if used else None
    return Result(step, count, seconds, ended.stdout, busy)


def cpu_seconds() -> float:
    """Return how long the machine's cores have been busy since its start; 0 where that can't be read."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0
    user, nice, system, _idle, _wait, irq, softirq, *_rest = map(int, stat.read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def run_beside(steps: list[Step], arguments: list[str]) -> Iterator[Result]:
    """Run steps side by side; each one's output is printed when it has ended."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(run, step, arguments, dict(os.environ), capture=True) for step in steps]
        for result in (future.result() for future in as_completed(running)):
            print_title(result.step)
            sys.stdout.buffer.write(result.output or b"")
            print(result, flush=True)
            yield result


def run_one(step: Step, arguments: list[str], kubeconfig: str | None) -> Result:
    """Run a step, or count it as skipped or failed where the machine lacks what it needs.

    A kubeconfig is for a step that was asked for by name.
    """
    if step.needs_chromium:
        chromium = find_chromium()
        if chromium is None:
            count = Count()
            count.skip(step.name, "no Chromium: `sudo apt-get install chromium`, or CHROMIUM=/path/to/a/browser")
            return Result(step, count, 0, None)
        os.environ["CHROMIUM"] = chromium
    environment = dict(os.environ)
    if step.needs_cluster and (program := cluster.find()):
        try:
            environment |= cluster.start(program)
        except cluster.NotStarted as error:
            count = Count()
            count.fail(step.name, str(error))
            return Result(step, count, 0, None)
    elif step.needs_cluster and kubeconfig:
        environment["KUBECONFIG"] = kubeconfig
    print_title(step)
    result = run(step, arguments, environment)
    print(result, flush=True)
    return result


def print_title(step: Step) -> None:
    print(f"\n── {step.name} {'─' * (100 - len(step.name))}", flush=True)


def print_times(results: list[Result], tests: list[tuple[float, str]]) -> None:
    """Print a table of the steps, and the tests that took longest."""
    rows = [
        (
            r.step.name,
            r.count.passed,
            r.count.failed,
            r.count.skipped,
            f"{r.seconds / 60:.1f}",
            "" if r.busy is None else f"{r.busy:.1f}",
        )
        for r in results
    ]
    print("")
    for name, *cells in [("step", "passed", "failed", "skipped", "minutes", "cores"), *rows]:
        print(f"{name:<14}", *(f"{cell:>8}" for cell in cells))
    if tests:
        print("\nslowest:", *(f"  {seconds:4.0f} s  {name}" for seconds, name in sorted(tests)[:-11:-1]), sep="\n")


def fold(notes: list[str]) -> list[str]:
    """Make one of the skips that have the same reason."""
    reasons = Counter(note.split(": ", 1)[1] for note in notes if note.startswith("skipped "))
    folded = [note for note in notes if not note.startswith("skipped ") or reasons[note.split(": ", 1)[1]] == 1]
    return folded + [f"skipped {count} tests: {reason}" for reason, count in reasons.items() if count > 1]


def count_repeats(total: Count) -> None:
    """Print the tests that were repeated; too many of them are a failure of their own."""
    names = REPEATED.read_text().splitlines() if REPEATED.exists() else []
    if names:
        print(f"\nrepeated: {len(names)}", *(f"  {name}" for name in names), sep="\n")
    if len(names) > MOST_REPEATED:
        total.fail("repeated", f"{len(names)} tests failed at first, at most {MOST_REPEATED} may")


def find_chromium() -> str | None:
    """Find Chromium, or install Debian's where that is possible."""
    names = ("chromium", "chromium-browser", "google-chrome")

    def find() -> str | None:
        return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)

    if not find() and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium", flush=True)
        subprocess.run("apt-get -qq update && apt-get -qq install --yes chromium > /dev/null", shell=True)
    return find()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the names of the steps to run")
    parser.add_argument("arguments", nargs="*", help="passed on to the steps")
    args = parser.parse_args()
    only = args.only.split()
    if unknown := set(only) - {step.name for step in STEPS}:
        parser.error(f"no step is called {', '.join(unknown)}; there are {', '.join(step.name for step in STEPS)}")

    REPORTS.mkdir(parents=True, exist_ok=True)
    REPEATED.unlink(missing_ok=True)
    # A kubeconfig of the user's own is for the step that needs one, and for that only if it is asked for by name.
    kubeconfig = os.environ.pop("KUBECONFIG", None)
    results: list[Result] = []
    wanted = [step for step in STEPS if not only or step.name in only]
    for beside, steps in groupby(wanted, key=lambda step: step.computes):
        if beside:
            results += run_beside(list(steps), args.arguments)
        else:
            results += [run_one(step, args.arguments, kubeconfig if step.name in only else None) for step in steps]
    total = Count()
    for result in results:
        total.add(result.count)

    print_times(results, total.tests)
    count_repeats(total)
    (REPORTS / "summary").write_text(f"{total}\n")
    print("", *fold(total.notes), str(total), sep="\n", flush=True)
    return int(total.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
