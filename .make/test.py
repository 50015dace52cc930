"""Run the checks and tests, and add them up: the last line is `N passed, N failed, N skipped`.

What only computes runs first, one step a core. The others mostly wait, so they run in lanes side by side.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import chromium
import cluster
from report import REPEATED, REPORTS, Count, Result, print_summary, read

# A file is one worker's, which makes once what its tests share.
PYTEST = "pytest --dist loadfile --no-loadscope-reorder"
# A folder that stands in neither is run by both of their steps.
LONG = ("tests/local", "tests/server", "tests/packaging")
SHORT = ("tests/unit", "tests/kubernetes", "tests/tensorboard")

# The niceness of what runs beside the cluster, whose pods all together weigh as much as two processes.
BEHIND = 5


@dataclass
class Step:
    """A command; with a report (JUnit's XML) it counts as its tests, else as one."""

    name: str
    command: str
    lane: str = (
        ""  # The steps of a lane run one after the other. Without a lane: it computes, and runs before the lanes.
    )
    report: str = ""
    niceness: int = 0
    needs_chromium: bool = False
    needs_cluster: bool = False


def without_cluster(ignored: Iterable[str], report: str) -> str:
    """Return the command of the tests that need no cluster, apart from those of some folders.

    Parameters
    ----------
    ignored
        The folders.
    report
        Name of the report's file.
    """
    ignores = " ".join(f"--ignore={folder}" for folder in ignored)
    return f"{PYTEST} -n 2 -m 'not cluster' {ignores} --junitxml={REPORTS / report}"


# Its output is what the user waits for, so it is not held back.
READY = Step("ready", "make --no-print-directory -j2 ready")

# What several lanes take and would make at the same moment.
ENVIRONMENTS = Step("environments", "make -s -j2 ui-envs oldest-client")

STEPS = [
    # the longest ones first
    ENVIRONMENTS,
    Step("jest", "jlpm test", report="jest.xml"),
    Step("eslint", "jlpm lint:check"),
    Step("mypy", "mypy"),
    Step("docs", "sphinx-build -E -a -W --keep-going -q -d build/doctrees docs build/docs"),
    # The workers of pytest share the byte code of the tests that this makes.
    Step("collect", "pytest --collect-only -qqq"),
    Step("tsc", "jlpm lint:types"),
    Step("types", "jlpm types --check && python .make/constants.py --check"),
    Step("imports", "lint-imports"),
    Step("ruff", "ruff check ."),
    Step("format", "ruff format --check ."),
    Step("pytest", without_cluster(SHORT, "pytest.xml"), "pytest", "pytest.xml", BEHIND),
    Step(
        "ui",
        "cd tests/ui && jlpm playwright test --project=newest --project=oldest",
        "ui",
        "ui.xml",
        BEHIND,
        needs_chromium=True,
    ),
    Step("unit", without_cluster(LONG, "unit.xml"), "ui", "unit.xml", BEHIND),
    # the cluster that they start stays up
    Step(
        "cluster",
        f"{PYTEST} -n 4 tests/kubernetes -m 'cluster and not alone' --junitxml={REPORTS}/cluster.xml",
        "cluster",
        "cluster.xml",
        needs_cluster=True,
    ),
    Step(
        "cluster-alone",
        f"pytest tests/kubernetes -m 'cluster and alone' --junitxml={REPORTS}/cluster-alone.xml",
        "cluster",
        "cluster-alone.xml",
        needs_cluster=True,
    ),
    Step(
        "cluster-ui",
        "cd tests/ui && T9KJOB_UI_REPORT=cluster-ui.xml jlpm playwright test --project=cluster",
        "cluster",
        "cluster-ui.xml",
        needs_chromium=True,
        needs_cluster=True,
    ),
]

printing = Lock()


class Lacking(Exception):
    """The machine lacks what a step needs; `fails` where that is a failure and no reason to skip."""

    def __init__(self, reason: str, *, fails: bool = False) -> None:
        super().__init__(reason)
        self.fails = fails


@dataclass
class Runner:
    """Runs steps.

    Attributes
    ----------
    arguments
        Passed on to the steps that run tests.
    kubeconfig
        The user's own cluster, for the steps that were asked for by name; None if there is none.
    capture
        True to print a step's output when it has ended, because other steps run beside it.
    """

    arguments: list[str]
    kubeconfig: str | None
    capture: bool

    def __call__(self, step: Step) -> Result:
        """Run a step, or count it as skipped or failed where the machine lacks what it needs."""
        line = f"── {step.name} {'─' * (100 - len(step.name))}"
        print(f"\n── {step.name} starts" if self.capture else f"\n{line}", flush=True)
        started = time.monotonic()
        try:
            result = self._run(step)
        except Lacking as lacking:
            result = Result(step.name, Count())
            add = result.count.fail if lacking.fails else result.count.skip
            add(step.name, str(lacking))
        result.seconds = time.monotonic() - started
        with printing:
            if self.capture:
                print(f"\n{line}", flush=True)
                sys.stdout.buffer.write(result.output)
            print(result, flush=True)
        return result

    def _run(self, step: Step) -> Result:
        environment = self._environment(step)
        report = REPORTS / step.report
        if step.report:
            report.unlink(missing_ok=True)
        command = " ".join([step.command, *(self.arguments if step.report else [])])
        stdout, stderr = (subprocess.PIPE, subprocess.STDOUT) if self.capture else (None, None)
        words = ["nice", "-n", str(step.niceness), "sh", "-c", command]
        process = subprocess.Popen(words, env=environment, stdout=stdout, stderr=stderr)
        output = process.stdout.read() if process.stdout else b""
        _pid, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        count = Count(passed=int(not process.returncode))
        if step.report and report.exists():
            count = read(step.name, report, "KUBECONFIG" in environment)
        if process.returncode and not count.failed:
            count.fail(step.name, f"exit status {process.returncode}")
        return Result(step.name, count, cpu_seconds=usage.ru_utime + usage.ru_stime, output=output)

    def _environment(self, step: Step) -> dict[str, str]:
        """Return the variables for a step, with the browser and the cluster that it needs."""
        environment = dict(os.environ)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each of the many servers would compile the package
        if step.needs_chromium:
            browser = chromium.find()
            if browser is None:
                raise Lacking(
                    "no Chromium: `sudo apt-get install chromium-headless-shell` (or `chromium`),"
                    " or CHROMIUM=/path/to/a/browser"
                )
            environment["CHROMIUM"] = browser
        if step.needs_cluster and (program := cluster.find()):
            try:
                environment |= cluster.start(program)
            except cluster.NotStarted as error:
                raise Lacking(str(error), fails=True) from error
        elif step.needs_cluster and self.kubeconfig:
            environment["KUBECONFIG"] = self.kubeconfig
        return environment


def run_lanes(lanes: Iterable[list[Step]], run: Callable[[Step], Result], width: int) -> list[Result]:
    """Run lanes side by side.

    Parameters
    ----------
    lanes
        Steps that run one after the other, for each lane.
    run
        Function that runs a step.
    width
        Number of lanes that run at a time.

    Returns
    -------
    list
        The results of all steps, in the order of the lanes.
    """
    with ThreadPoolExecutor(max(width, 1)) as pool:
        done = pool.map(lambda lane: [run(step) for step in lane], lanes)
        return [result for results in done for result in results]


def cpu_seconds() -> float:
    """Return how long the machine's cores have been busy since its start; 0 where that can't be read."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0
    user, nice, system, _idle, _wait, irq, softirq, *_rest = map(int, stat.read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def wanted_steps(only: list[str]) -> list[Step]:
    """Return the steps that are asked for, all if none is, with the environments that they share."""
    wanted = [step for step in STEPS if not only or step.name in only]
    lanes = {step.lane for step in wanted} - {""}
    shared = len(lanes) > 1 or any(step.needs_chromium for step in wanted)
    return [step for step in STEPS if step in wanted or (step is ENVIRONMENTS and shared)]


def prepare_machine(steps: list[Step], program: Path | None, ready: Future[Result]) -> None:
    """Install the browser, start the cluster and build the image of its pods, while other steps run.

    The steps that need them ask again, and tell what went wrong.

    Parameters
    ----------
    steps
        The steps of this run.
    program
        Starts the cluster; None if there is none.
    ready
        The environment of the checks, from which the image is made.
    """
    if any(step.needs_chromium for step in steps):
        chromium.find()
    if program and not (ready.done() and ready.result().count.failed):
        cluster.prepare(program)
        if not ready.result().count.failed and not all(step.lane for step in steps):
            cluster.start(program)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the names of the steps to run")
    parser.add_argument("arguments", nargs="*", help="passed on to the steps that run tests")
    args = parser.parse_args()
    only = args.only.split()
    if unknown := set(only) - {step.name for step in STEPS}:
        parser.error(f"no step is called {', '.join(unknown)}; there are {', '.join(step.name for step in STEPS)}")

    REPORTS.mkdir(parents=True, exist_ok=True)
    REPEATED.unlink(missing_ok=True)
    started, used = time.monotonic(), cpu_seconds()
    # A kubeconfig of the user's own is for the step that needs one, and for that only if it is asked for by name.
    kubeconfig = os.environ.pop("KUBECONFIG", None)
    steps = wanted_steps(only)
    program = cluster.find() if any(step.needs_cluster for step in steps) else None
    run = Runner(args.arguments, kubeconfig if only else None, capture=len(steps) > 1)
    lanes = {name: [step for step in steps if step.lane == name] for name in (step.lane for step in steps) if name}
    with ThreadPoolExecutor() as pool:
        ready = pool.submit(Runner([], None, capture=False), READY)
        machine = pool.submit(prepare_machine, steps, program, ready)
        results = [ready.result()]
        if not results[0].count.failed:
            results += run_lanes([[step] for step in steps if not step.lane], run, os.cpu_count() or 1)
            wait([machine])
            results += run_lanes(lanes.values(), run, len(lanes))
    seconds = time.monotonic() - started
    return print_summary(results, seconds, cpu_seconds() - used if used else 0)


if __name__ == "__main__":
    sys.exit(main())
