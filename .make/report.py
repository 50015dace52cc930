"""The results of steps: counts of tests, the table of times, the summary."""

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

CI = os.environ.get("CI") == "true"

REPORTS = Path("build/reports")

# Tests that failed once and were repeated, a name a line: the runners of tests append to it.
REPEATED = REPORTS / "repeated"
MOST_REPEATED = 3

# What CI may skip: a reason begins with the marker of what the machine lacks.
ALLOWED_SKIPS = ("gpu:", "root:", "cluster:")


@dataclass
class Count:
    """How many tests passed, failed and were skipped, with their times and what to say of them."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: list[str] = field(default_factory=list)
    tests: list[tuple[float, str]] = field(default_factory=list)  # seconds and name of each

    def add(self, other: "Count") -> None:
        """Add the tests of another step."""
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.notes += other.notes
        self.tests += other.tests

    def fail(self, name: str, reason: str = "") -> None:
        """Count a failure.

        Parameters
        ----------
        name
            Name of the test.
        reason
            Why it failed; empty if its own output says so.
        """
        self.failed += 1
        self.notes.append(f"FAILED  {name}" + (reason and f": {reason}"))

    def skip(self, name: str, reason: str, allowed: tuple[str, ...] = ALLOWED_SKIPS) -> None:
        """Count a skip; one that CI does not expect is a failure there.

        Parameters
        ----------
        name
            Name of the test.
        reason
            Why it was skipped.
        allowed
            Beginnings of the reasons that CI expects.
        """
        if CI and not reason.startswith(allowed):
            self.fail(name, f"skipped in CI: {reason}")
        else:
            self.skipped += 1
            self.notes.append(f"skipped {name}: {reason}")

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass
class Result:
    """How a step ended, after how many seconds, and how long its processes computed.

    `cpu_seconds` has no processes that outlive their parents, such as supervisors, and none of the cluster.
    """

    name: str
    count: Count
    seconds: float = 0
    cpu_seconds: float = 0
    output: bytes = b""

    def __str__(self) -> str:
        return f"{self.name}: {self.count} in {self.seconds:.0f} s"


def read(name: str, report: Path, has_cluster: bool) -> Count:
    """Count the tests in a step's report.

    Parameters
    ----------
    name
        Name of the step.
    report
        The report, in the XML of JUnit.
    has_cluster
        True if tests that need a cluster may not be skipped.
    """
    count = Count()
    allowed = tuple(marker for marker in ALLOWED_SKIPS if not (has_cluster and marker == "cluster:"))
    for case in ElementTree.parse(report).iter("testcase"):
        test = f"{name} {case.get('classname')} {case.get('name')}"
        count.tests.append((float(case.get("time") or 0), test))
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            count.fail(test)
        elif skipped is not None:
            said = case.find("properties/property[@name='skip']")  # so does Playwright
            reason = skipped.get("message") or (said is not None and said.get("value")) or "no reason given"
            count.skip(test, reason, allowed)
        else:
            count.passed += 1
    return count


def print_summary(results: list[Result], seconds: float, cpu_seconds: float) -> int:
    """Print the steps, the slowest tests, the repeats, failures and skips, and last the sum.

    Parameters
    ----------
    results
        The results of all steps.
    seconds
        How long the whole run took.
    cpu_seconds
        How long the machine's cores were busy meanwhile, also with other programs and the cluster; 0 if not known.

    Returns
    -------
    int
        The exit status.
    """
    total = Count()
    for result in results:
        total.add(result.count)
    rows = [_row(result.name, result.count, result.seconds, result.cpu_seconds) for result in results]
    rows.append(_row("all", total, seconds, cpu_seconds))
    print("")
    for name, *cells in [("step", "passed", "failed", "skipped", "minutes", "CPU min"), *rows]:
        print(f"{name:<14}", *(f"{cell:>8}" for cell in cells))
    if cpu_seconds:
        known = sum(result.cpu_seconds for result in results)
        print(
            f"\n{cpu_seconds / seconds:.1f} of {os.cpu_count()} cores were busy;"
            f" {(cpu_seconds - known) / 60:.1f} CPU minutes are of the cluster, detached and other processes"
        )
    if total.tests:
        print(
            "\nslowest:", *(f"  {seconds:4.0f} s  {name}" for seconds, name in sorted(total.tests)[:-11:-1]), sep="\n"
        )
    _count_repeats(total)
    (REPORTS / "summary").write_text(f"{total}\n")
    print("", *_folded(total.notes), str(total), sep="\n", flush=True)
    return int(total.failed > 0)


def _row(name: str, count: Count, seconds: float, cpu_seconds: float) -> tuple[str | int, ...]:
    minutes = (f"{seconds / 60:.1f}", f"{cpu_seconds / 60:.1f}")
    return (name, count.passed, count.failed, count.skipped, *minutes)


def _count_repeats(total: Count) -> None:
    """Print the tests that were repeated; too many of them are a failure of their own."""
    names = REPEATED.read_text().splitlines() if REPEATED.exists() else []
    if names:
        print(f"\nrepeated: {len(names)}", *(f"  {name}" for name in names), sep="\n")
    if len(names) > MOST_REPEATED:
        total.fail("repeated", f"{len(names)} tests failed at first, at most {MOST_REPEATED} may")


def _folded(notes: list[str]) -> list[str]:
    """Make one of the skips that have the same reason."""
    reasons = Counter(note.split(": ", 1)[1] for note in notes if note.startswith("skipped "))
    folded = [note for note in notes if not note.startswith("skipped ") or reasons[note.split(": ", 1)[1]] == 1]
    return folded + [f"skipped {count} tests: {reason}" for reason, count in reasons.items() if count > 1]
