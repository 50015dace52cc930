"""Tables, durations, the choice of jobs and streams, and the language of the command line."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from jupyterlab_t9kjob.cli import output
from jupyterlab_t9kjob.cli.__main__ import run_program
from jupyterlab_t9kjob.cli.commands.actions import act_on
from jupyterlab_t9kjob.cli.commands.jobs import _spans, status_of
from jupyterlab_t9kjob.cli.group import COMMANDS, t9kjob
from jupyterlab_t9kjob.cli.language import languages
from jupyterlab_t9kjob.cli.output import Column, has_colors, plain, short_duration, table, width_of
from jupyterlab_t9kjob.client.display import data
from jupyterlab_t9kjob.client.log_lines import LogChoice
from jupyterlab_t9kjob.client.lookup import find_job, matching, short_name
from jupyterlab_t9kjob.core import translation
from jupyterlab_t9kjob.core.errors import Conflict, NotFound
from jupyterlab_t9kjob.core.job import JobSummary, LogStream, Reason, job_id
from jupyterlab_t9kjob.core.translation import Text, _, sentences

COLUMNS = [Column("NAME"), Column("ENGINE", rank=2), Column("AGE", rank=1, right=True)]


def job(name: str, engine: str = "local", namespace: str = "", **values: Any) -> JobSummary:
    uid = f"uid-{name}"
    fields: dict[str, Any] = {"phase": "Running", "created_at": 0.0}
    ident = job_id(engine, namespace, name, uid)
    return JobSummary(id=ident, engine=engine, namespace=namespace, name=name, uid=uid, **{**fields, **values})


def test_a_table_in_a_pipe_is_complete() -> None:
    assert table(COLUMNS, [["train-1", "local", "5s"], ["a", "kubeflow/team", ""]], None) == [
        "NAME     ENGINE         AGE",
        "train-1  local           5s",
        "a        kubeflow/team    -",
    ]


def test_a_table_fits_the_terminal() -> None:
    rows = [["训练" * 10, "kubeflow/a-very-long-namespace", "5s"], ["x" * 200, "local", "1m"]]
    for width in (80, 40, 20):
        lines = table(COLUMNS, rows, width)
        assert max(map(width_of, lines)) <= width
        assert len(lines) == 3
    assert "ENGINE" not in table(COLUMNS, rows, 40)[0]
    assert "AGE" in table([Column("NAME"), Column("AGE", rank=1)], [["a", "5s"]], 40)[0]


def test_a_name_can_not_control_the_terminal() -> None:
    assert plain("a\x1b[2J\nb") == "a [2J b"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (-3, "0s"), (38, "38s"), (252, "4m12s"), (1200, "20m"), (9960, "2h46m"), (4e4, "11h"), (3e5, "3d")],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert short_duration(seconds) == text


def test_no_colors_where_nobody_sees_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert has_colors(terminal) and not has_colors(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colors(terminal)


def test_a_translated_state_has_the_color_of_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    chinese = {"{state} (deleted)": "{state}（已删除）", "Succeeded": "成功"}
    monkeypatch.setattr(translation, "_current", lambda: SimpleNamespace(gettext=lambda text: chinese.get(text, text)))
    monkeypatch.setattr(output, "has_colors", lambda _stream: True)
    ended = job("train-1", phase="Succeeded", deleted=True)
    lines = table([Column("STATUS", colored=True)], [[status_of(ended)], [""]], None)
    assert lines[1] == click.style("成功（已删除）", fg="green")


@pytest.mark.parametrize(
    ("phase", "ended_by", "code", "shown"),
    [
        ("Failed", "user", "Stopped", "Stopped"),
        ("Failed", "platform", "SweepPruned", "Stopped"),
        ("Failed", "platform", "Evicted", "Failed"),
        ("Failed", "itself", "ExitCode", "Failed"),
        ("Paused", "user", "PausedByUser", "Paused"),
        ("Succeeded", "itself", "Succeeded", "Succeeded"),
    ],
)
def test_a_job_that_was_stopped_on_purpose_has_not_failed(phase: str, ended_by: str, code: str, shown: str) -> None:
    ended = job("train-1", phase=phase, ended_by=ended_by, reason=Reason(code=code, sentence=Text.verbatim("Why")))
    assert status_of(ended) == shown
    in_a_notebook = data(ended)
    assert in_a_notebook["text/plain"] == f"train-1: {shown}, Why"
    assert ("--jp-error-color1" in in_a_notebook["text/html"]) is (shown == "Failed")


def test_an_error_names_its_job_once(capsys: pytest.CaptureFixture[str]) -> None:
    said = {
        "train-1": sentences(_("{name} has ended.", name="train-1"), _("It can't be stopped.")),
        "train-2": _("It can't be stopped."),
        "job": _("Another user owns the job."),
    }
    jobs = [job(name) for name in said]

    async def act(ident: str, _action: str) -> None:
        raise Conflict(next(said[each.name] or Text.verbatim("") for each in jobs if each.id == ident))

    session: Any = SimpleNamespace(jobs=SimpleNamespace(act=act))
    assert asyncio.run(act_on(session, jobs, "stop", _("{job} is being stopped.", job=""))) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Error: train-1 has ended. It can't be stopped.",
        "Error: train-2: It can't be stopped.",
        "Error: job: Another user owns the job.",
    ]


def test_ranks_as_spans() -> None:
    assert [_spans(ranks) for ranks in ([], [0], [0, 1, 2, 5, 7, 8])] == ["", "0", "0-2,5,7-8"]


def test_jobs_are_found_by_name_or_id() -> None:
    one, two, other = job("train-1"), job("train-1", "kubeflow", "team"), job("eval")
    assert find_job("eval", [one, two, other]) is other
    assert find_job(two.id, [one, two, other]) is two
    assert (short_name(other, [one, two, other]), short_name(one, [one, two])) == ("eval", one.id)
    with pytest.raises(Conflict, match="train-1"):
        find_job("train-1", [one, two])
    with pytest.raises(NotFound):
        find_job("train", [one])
    old = job("train-2", deleted=True)
    assert find_job("train-2", [old]) is old
    # “list --deleted -o name | xargs t9kjob delete” must not act on the job that runs under the same name now.
    new = job("train-2", created_at=1.0).model_copy(update={"id": "local/train-2/new"})
    assert (short_name(old, [old, new]), short_name(new, [old, new])) == (old.id, "train-2")
    assert short_name(old, [old]) == "train-2"
    assert matching([one, two, other], namespace="elsewhere") == [one, other]


def stream(replica: str, source: Any, rank: int | None = None) -> LogStream:
    return LogStream(id=f"{replica}.{source}.{rank}", replica=replica, attempt=1, source=source, rank=rank, size=1)


def test_rank_0_is_shown_unless_others_are_asked_for() -> None:
    launcher, ranks = stream("worker-0", "launcher"), [stream(f"worker-{rank // 2}", "rank", rank) for rank in range(4)]
    streams = [launcher, *ranks]
    assert LogChoice().streams(streams, ended=False) == [ranks[0]]
    assert LogChoice(ranks=(1, 3)).streams(streams, ended=False) == [ranks[1], ranks[3]]
    assert LogChoice(replicas=("worker-1",)).streams(streams, ended=False) == ranks[2:]
    assert LogChoice(every=True).streams(streams, ended=False) == streams
    assert LogChoice(ranks=(9,)).streams(streams, ended=True) == []
    assert LogChoice().streams([launcher], ended=False) == []
    assert LogChoice().streams([launcher], ended=True) == [launcher]  # The job ended before a rank started.


def test_the_display_of_a_job_escapes_its_texts() -> None:
    reason = Reason(code="X", sentence=Text.verbatim("<script>alert(1)</script>"))
    shown = data(job("train-1", phase="Failed", reason=reason))
    assert "<script>" not in shown["text/html"] and "&lt;script&gt;" in shown["text/html"]
    assert shown["text/plain"].startswith("train-1: Failed")


def test_the_display_of_a_job_does_not_count_pauses() -> None:
    paused = job("train-1", phase="Succeeded", started_at=100.0, ended_at=700.0, ran_seconds=120.0)
    assert "2 min" in data(paused)["text/html"]
    of_ends_only = job("train-1", phase="Succeeded", started_at=100.0, ended_at=700.0)
    assert "10 min" in data(of_ends_only)["text/html"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, []),
        ({"LANG": "C.UTF-8"}, []),
        ({"LANG": "en_US.UTF-8"}, []),
        ({"LANG": "zh_CN.UTF-8"}, ["zh_CN"]),
        ({"LANG": "de_DE", "LC_ALL": "zh_CN.UTF-8"}, ["zh_CN"]),
        ({"LANGUAGE": "zh_CN:en", "LANG": "de_DE"}, ["zh_CN", "en"]),
    ],
)
def test_the_language_of_the_environment(environment: dict[str, str], expected: list[str]) -> None:
    assert languages(environment) == expected


@pytest.mark.parametrize("words", [[], ["top"]])
def test_no_command_prints_only_the_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run_program(words)
    captured = capsys.readouterr()
    shown = captured.out + captured.err
    assert shown.startswith("Usage:") and shown.count("Usage:") == 1 and "Error" not in shown


INNER = {"top": ["nodes", "jobs"], "data": ["list"], "runs": ["list", "get"]}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    for inner in INNER.get(name, [""]):
        result = CliRunner().invoke(t9kjob, [name, *filter(None, [inner]), "--help"], terminal_width=80)
        assert result.exit_code == 0
        assert "Usage:" in result.output and "Examples:" in result.output


@pytest.mark.parametrize(
    "words",
    [
        ["no-such-command"],
        ["submit"],
        ["submit", "a.py", "--nodes", "0"],
        ["submit", "a.py", "--procs", "auto"],
        ["submit", "a.py", "--procs", "0"],
        ["submit", "a.py", "--set", "novalue"],
        ["submit", "a.py", "--label", "novalue"],
        ["submit", "a.py", "--branch", "main"],
        ["submit", "a.py", "--clean-up", "Some"],
        ["exec"],
        ["exec", "a", "-i", "-1"],
        ["submit", "a.py", "--env", "T9KJOB_NOT_SET_ANYWHERE"],
        ["submit", "-f", "a.yaml", "--module", "b"],
        ["submit", "--command", "echo", "--", "b"],
        ["logs", "x", "--since", "soon"],
        ["logs", "x", "-i", "3-0"],
        ["list", "--phase", "ended"],
        ["prune"],
        ["wait"],
    ],
)
def test_wrong_use_has_code_2(words: list[str]) -> None:
    assert CliRunner().invoke(t9kjob, words).exit_code == 2


def test_a_number_of_processes_may_be_that_of_the_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["submit", "a.py", "--procs", "auto"]) == 2
    said = capsys.readouterr().err
    assert "“auto” is no number of processes" in said and "or gpu" in said


def test_the_help_imports_nothing_heavy() -> None:
    code = """
import sys
from jupyterlab_t9kjob.cli.__main__ import run_program
for name in ("submit", "list", "logs", "get", "stop", "exec", "wait"):
    run_program([name, "--help"])
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {name.split(".")[0] for name in done.stderr.split()} & {"pydantic", "httpx", "traitlets", "yaml"}
    assert "jupyterlab_t9kjob.engines" not in done.stderr
