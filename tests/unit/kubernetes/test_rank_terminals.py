"""A shell or program in the environment of a rank: the command in the container, run on this machine, and refusals."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote_plus

import pytest

from jupyterlab_t9kjob.core.errors import JobError
from jupyterlab_t9kjob.core.translation import translated
from jupyterlab_t9kjob.engines.kubernetes.client.api import KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.exec.remote_command import Completed, Target
from jupyterlab_t9kjob.engines.kubernetes.commands import rank_terminals
from jupyterlab_t9kjob.engines.kubernetes.commands.rank_shell import GONE, MARK
from jupyterlab_t9kjob.engines.kubernetes.commands.rank_terminals import PYTHON, arguments, demand_rank, source

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="containers run Linux")
RANK = 700_000_000 + os.getpid()  # No job of another test has it.
# A rank whose data loader has a worker, which inherits the variables.
PROGRAM = """
import subprocess, sys
worker = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd="/")
print(flush=True)
input()
worker.stdin.close()
worker.wait()
"""


@pytest.fixture
def rank(tmp_path: Path) -> Iterator[None]:
    variables = {"RANK": str(RANK), "LOCAL_RANK": "0", "NOTE": "two\nlines = 2", "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.communicate("\n")


def run(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command of a terminal as the container does."""
    start = f"export {MARK}=token TERM=dumb; {PYTHON}"
    return subprocess.run(
        ["sh", "-c", start, *words],
        env={"PATH": os.environ["PATH"], "ONLY": "here"},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("rank")
def test_a_program_has_the_variables_the_folder_and_the_python_of_the_rank(tmp_path: Path) -> None:
    seen = 'pwd; echo "$RANK/$LOCAL_RANK/$NOTE/$T9KJOB_TERMINAL/$TERM/$ONLY"; command -v python; exit 7'
    done = run(*arguments(RANK, ["sh", "-c", seen]))
    python = Path(sys.executable).parent / "python"
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout == f"{tmp_path}\n{RANK}/0/two\nlines = 2/token/dumb/\n{python}\n"
    shell = run(*arguments(RANK, []), typed='pwd; echo "$RANK"; exit 5\n')
    assert (shell.returncode, shell.stdout) == (5, f"{tmp_path}\n{RANK}\n")
    missing = run(*arguments(RANK, ["/no/such/program"]))
    assert (missing.returncode, missing.stderr) == (127, "/no/such/program: No such file or directory\n")
    assert run(*arguments(RANK + 1, ["true"])).returncode == GONE


@pytest.mark.usefixtures("rank")
def test_the_ranks_of_a_container_are_found() -> None:
    assert RANK in json.loads(run(source(), "look", "0").stdout)["ranks"]


def test_the_source_is_short_and_runs_with_old_versions_of_python() -> None:
    ast.parse(source(), feature_version=(3, 8))
    assert len(quote_plus(source())) < 6000  # Proxies allow 8 KiB for the line of a request.


@pytest.mark.parametrize(
    ("code", "output", "message", "hint"),
    [
        (0, {"ranks": [2, 3], "refused": 0}, "", ""),
        (0, {"ranks": [0, 1], "refused": 1}, "Rank 3 does not run in the replica worker-1.", "Ranks there: 0 and 1."),
        (0, {"ranks": [], "refused": 0}, "Rank 3 does not run", "No process that torchrun started runs there."),
        (0, {"ranks": [], "refused": 2}, "does not allow reading the environments", "in the replica itself."),
        (127, {}, "The container has no Python.", "in the replica itself."),
        (1, {}, "The answer of the command in the pod was not understood.", ""),
        (0, {"ranks": [[]], "refused": 0}, "The answer of the command in the pod was not understood.", ""),
    ],
)
@pytest.mark.asyncio
async def test_why_a_rank_has_no_terminal(
    monkeypatch: pytest.MonkeyPatch, code: int, output: dict[str, Any], message: str, hint: str
) -> None:
    async def answer(*_given: Any, **_options: Any) -> Completed:
        return Completed(code, json.dumps(output).encode() if output else b"", b"words")

    monkeypatch.setattr(rank_terminals, "run", answer)
    told = ("", "")
    try:
        await demand_rank(cast(KubeApi, None), Target("n", "p", "c"), "worker-1", 3)
    except JobError as error:
        told = (translated(error.message), translated(error.hint) if error.hint is not None else "")
    assert message in told[0] and hint in told[1] and bool(message) == bool(told[0])
