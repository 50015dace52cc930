"""Run the checks and tests, one after the other, and add them up: the last line is `N passed, N failed, N skipped`."""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import cluster

REPORTS = Path("build/reports")
CI = os.environ.get("CI") == "true"

# What CI may skip: a reason begins with the marker of what the machine lacks.
ALLOWED_SKIPS = ("gpu:", "cluster:")


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


STEPS = [
    Step("ruff", "ruff check ."),
    Step("format", "ruff format --check ."),
    Step("mypy", "mypy"),
    Step("eslint", "jlpm lint:check"),
    Step("tsc", "jlpm lint:types"),
    Step("types", "jlpm types --check"),
    Step("pytest", f"pytest {WORKERS} -m 'not cluster' --junitxml={REPORTS}/pytest.xml", "pytest.xml"),
    Step("jest", "jlpm test", "jest.xml"),
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

    def add(self, other: "Count") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.notes += other.notes

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
    allowed = ("gpu:",) if "KUBECONFIG" in environment else ALLOWED_SKIPS
    for case in ElementTree.parse(REPORTS / step.report).iter("testcase"):
        name = f"{step.name} {case.get('classname')} {case.get('name')}"
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


def run(step: Step, arguments: list[str], environment: dict[str, str]) -> Count:
    print(f"\n── {step.name} {'─' * (100 - len(step.name))}", flush=True)
    started = time.monotonic()
    report = REPORTS / step.report
    if step.report:
        report.unlink(missing_ok=True)
    status = subprocess.run(" ".join([step.command, *arguments]), shell=True, env=environment).returncode
    count = read_report(step, environment) if step.report and report.exists() else Count(passed=int(status == 0))
    if status and not count.failed:
        count.fail(step.name, f"exit status {status}")
    print(f"{step.name}: {count} in {time.monotonic() - started:.0f} s", flush=True)
    return count


def fold(notes: list[str]) -> list[str]:
    """Make one of the skips that have the same reason."""
    reasons = Counter(note.split(": ", 1)[1] for note in notes if note.startswith("skipped "))
    folded = [note for note in notes if not note.startswith("skipped ") or reasons[note.split(": ", 1)[1]] == 1]
    return folded + [f"skipped {count} tests: {reason}" for reason, count in reasons.items() if count > 1]


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
    # A kubeconfig of the user's own is for the step that needs one, and for that only if it is asked for by name.
    kubeconfig = os.environ.pop("KUBECONFIG", None)
    total = Count()
    for step in STEPS:
        if only and step.name not in only:
            continue
        if step.needs_chromium:
            chromium = find_chromium()
            if chromium is None:
                total.skip(step.name, "no Chromium: `sudo apt-get install chromium`, or CHROMIUM=/path/to/a/browser")
                continue
            os.environ["CHROMIUM"] = chromium
        environment = dict(os.environ)
        if step.needs_cluster and (program := cluster.find()):
            try:
                environment |= cluster.start(program)
            except cluster.NotStarted as error:
                total.fail(step.name, str(error))
                continue
        elif step.needs_cluster and kubeconfig and step.name in only:
            environment["KUBECONFIG"] = kubeconfig
        total.add(run(step, args.arguments, environment))

    (REPORTS / "summary").write_text(f"{total}\n")
    print("", *fold(total.notes), str(total), sep="\n", flush=True)
    return int(total.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
