"""The command line as a program, with real jobs of this machine: one job serves many commands."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import io
import json
import os
import secrets
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from jupyterlab_t9kjob import Client
from jupyterlab_t9kjob.cli.__main__ import run_program
from jupyterlab_t9kjob.cli.commands import lab
from jupyterlab_t9kjob.core.errors import JobError
from tests.local.lab import Lab
from tests.patience import PATIENCE

PROGRAM = [sys.executable, "-m", "jupyterlab_t9kjob.cli"]
# Without torchrun, whose start takes longer than all the rest.
PLAIN = ["--set", "torchrun=null"]
SETTINGS = {
    "git_protocols": ["file"],
    "presets": [{"name": "three", "values": {"/run_policy/backoff_limit": 3}, "args": ["--lines", "9"]}],
}
MANIFEST = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: given-1}
spec:
  pytorchReplicaSpecs:
    Master:
      template: {spec: {containers: [{name: pytorch, image: i, command: [python, /w/train.py]}]}}
"""
SCRIPT = """
import argparse, os, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("--lines", type=int, default=3)
parser.add_argument("--fail", action="store_true")
parser.add_argument("--hold", help="file that has to appear before the script ends")
options = parser.parse_args()
for number in range(options.lines):
    print(f"line {number} {os.environ.get('GREETING', '')}", flush=True)
while options.hold and not os.path.exists(options.hold):
    time.sleep(0.05)
if options.fail:
    raise ValueError("no data")
"""

pytestmark = pytest.mark.timeout(600)


@dataclass
class Done:
    code: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("command-line")
    (folder / "work").mkdir()
    (folder / "work" / "train.py").write_text(SCRIPT)
    (folder / "config").mkdir()
    (folder / "config" / "jupyter_config.json").write_text(json.dumps({"T9kJobApp": SETTINGS}))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "work")
        patch.setenv("HOME", str(folder))
        patch.setenv("JUPYTER_CONFIG_DIR", str(folder / "config"))
        patch.setenv("KUBECONFIG", str(folder / "none"))
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
        for name in ("LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "T9KJOB_ENGINE", "T9KJOB_NAMESPACE"):
            patch.delenv(name, raising=False)
        yield folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    """Run a command within this process, which has imported everything already."""

    def run(*words: str, code: int | None = 0) -> Done:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _stream in range(2))
        home = [] if words[0] == "completion" else ["--home", str(folder / "home")]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            done = run_program([words[0], *home, *words[1:]])
        texts = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
        assert code in (None, done), (done, texts)
        return Done(done, *texts)

    return run


@pytest.fixture(scope="module")
def job(folder: Path) -> str:
    """Submit a job with the program, follow it to its end, and return its name."""
    words = ["train.py", "--name", "hello-1", "--env", "GREETING=hi", *PLAIN, "--follow", "-o", "name"]
    done = subprocess.run(
        [*PROGRAM, "submit", "--home", str(folder / "home"), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["hello-1", "line 0 hi", "line 1 hi", "line 2 hi"]
    assert "Succeeded" in done.stderr
    return "hello-1"


def test_a_dry_run_creates_nothing(run: Run, folder: Path) -> None:
    done = run("submit", "train.py", "--name", "dry-1", "--dry-run", "--procs", "3")
    assert "--nproc-per-node=3" in done.stdout and "train.py" in done.stdout
    filled = json.loads(run("submit", "train.py", "--name", "dry-1", "--dry-run", "-o", "json").stdout)
    assert filled["spec"]["working_dir"] == str(folder / "work")
    assert "dry-1" not in run("list", "-o", "name").stdout
    # The fields of a job can be kept in a file, and submitted with changes.
    (folder / "job.json").write_text(json.dumps(filled))
    again = run("submit", "-f", str(folder / "job.json"), "--set", "name=dry-2", "--dry-run", "-o", "json")
    assert json.loads(again.stdout)["spec"]["name"] == "dry-2"


@pytest.mark.parametrize("form", ["fields", "manifest"])
def test_a_preset_changes_the_job_of_a_file(run: Run, folder: Path, form: str) -> None:
    file = folder / "given.yaml"
    fields = run("submit", "train.py", "--dry-run", "-o", "yaml").stdout
    file.write_text(fields if form == "fields" else MANIFEST)
    words = ["submit", "-f", str(file), "-E", "local", "--dry-run"]
    assert "There is no preset “nosuch”" in run(*words, "--preset", "nosuch", code=1).stderr
    filled = json.loads(run(*words, "-o", "json", "--preset", "three", "--", "--fail", code=None).stdout)
    assert filled["spec"]["run_policy"]["backoff_limit"] == 3
    assert filled["spec"]["args"] == ["--lines", "9", "--fail"]
    changed = json.loads(run(*words, "-o", "json", "--preset", "three", "--retry", "2", code=None).stdout)
    assert changed["spec"]["run_policy"]["backoff_limit"] == 2  # What is given replaces the preset's values.


def test_one_job_in_all_forms(run: Run, job: str) -> None:
    table = run("list").stdout.splitlines()
    assert table[0].split()[:3] == ["NAME", "STATUS", "ENGINE"]
    assert job in run("list", "--namespace", "team-a").stdout  # This machine has no namespaces.
    assert any(line.split()[:3] == [job, "Succeeded", "local"] for line in table)
    assert job in run("list", "-o", "name").stdout.split()
    assert run("list", "--phase", "Paused", "-o", "name").stdout == ""
    shown = json.loads(run("get", job, "-o", "json").stdout)
    assert shown["phase"] == "Succeeded" and shown["replicas_view"][0]["exit_code"] == 0
    assert "Succeeded" in run("get", job, "--events").stdout
    assert json.loads(run("events", job, "-o", "json").stdout)["events"]
    assert "env:" in run("get", job, "--manifest").stdout


def test_the_states_are_in_the_language_of_the_environment(run: Run, job: str, folder: Path) -> None:
    subprocess.run([sys.executable, Path(__file__).parents[2] / ".make" / "catalogue.py", "compile"], check=True)
    environment = {**os.environ, "LANG": "zh_CN.UTF-8", "PYTHONUTF8": "1"}

    def chinese(*words: str) -> str:
        command = [*PROGRAM, words[0], "--home", str(folder / "home"), *words[1:]]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return done.stdout + done.stderr

    assert [job, "成功", "local"] in [line.split()[:3] for line in chinese("list").splitlines()]
    shown = chinese("get", job)
    assert "成功" in shown and "Succeeded" not in shown
    assert chinese("wait", job).startswith(f"{job}: 成功")


@pytest.mark.parametrize("lab_in", [None, ".", "work"])
def test_the_run_of_a_job_is_listed_in_its_folder(
    run: Run, job: str, folder: Path, lab_in: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = [] if lab_in is None else [{"url": "http://x/", "root_dir": str(folder / lab_in)}]
    monkeypatch.setattr(lab, "running_servers", lambda: servers)
    assert run("runs", "--job", job, "-o", "name").stdout == f"{job}\n"
    assert run("runs", "..", "--job", job, "-o", "name").stdout == f"{job}\n"
    (folder / "work" / "none").mkdir(exist_ok=True)
    assert run("runs", "none", "--job", job, "-o", "name").stdout == ""


def test_the_log_of_a_job(run: Run, job: str) -> None:
    assert run("logs", job, "-t", "1").stdout == "line 2 hi\n"
    assert run("logs", job, "--grep", "line [01]").stdout == "line 0 hi\nline 1 hi\n"
    assert run("logs", job, "--since", "1d", "-t", "2", "--grep", "0").stdout == "line 0 hi\n"
    stamped = run("logs", job, "--all-ranks", "--timestamps").stdout.splitlines()
    assert all(line.startswith("[") for line in stamped)
    at = run("logs", job, "--timestamps").stdout.splitlines()[1].split()[0]  # without a zone, as it is printed
    assert run("logs", job, "--since-time", at).stdout.endswith("line 1 hi\nline 2 hi\n")
    assert run("logs", job, "--since-time", "2999-01-01T00:00:00.123456789+08:00").stdout == ""
    assert "is no time" in run("logs", job, "--since-time", "yesterday", code=2).stderr
    assert "either" in run("logs", job, "--since-time", at, "--since", "1d", code=2).stderr
    assert "rank" in run("logs", job, "--rank", "7", code=1).stderr
    assert "regular expression" in run("logs", job, "--grep", "(", code=1).stderr
    for wrong in ("", "one", "3-0", "1,", "-1", "0-9999999999"):
        assert "such as 0-3,8" in run("logs", job, "-i", wrong, code=2).stderr


def test_the_logs_of_several_ranks(run: Run) -> None:
    run("submit", "train.py", "--name", "ranks-1", "--procs", "4", "--wait", "--", "--lines", "1")
    for words, ranks in ((["-i", "0,2-3"], "023"), (["-i", "1 - 2, 1", "-i", "9"], "12"), (["-i", "3"], "")):
        lines = run("logs", "ranks-1", *words).stdout.splitlines()
        assert sorted(lines) == ([f"[rank {rank}] line 0 " for rank in ranks] or ["line 0 "])
    run("delete", "ranks-1", "--purge")


def test_a_last_line_without_its_end_counts_as_a_line(run: Run) -> None:
    run("submit", "--command", r"printf 'one\ntwo\nthree'", "--name", "endless-1", *PLAIN, "--wait")
    assert run("logs", "endless-1").stdout == "one\ntwo\nthree\n"
    for words in ([], ["-f"]):
        assert run("logs", "endless-1", "-t", "1", *words).stdout == "three\n"
        assert run("logs", "endless-1", "-t", "2", *words).stdout == "two\nthree\n"
        assert run("logs", "endless-1", "-t", "1", "--grep", "e$", *words).stdout == "three\n"
        assert run("logs", "endless-1", "-t", "0", *words).stdout == ""


def test_errors_are_sentences(run: Run, job: str) -> None:
    assert "There is no job “nope”" in run("logs", "nope", code=1).stderr
    assert "no-such.py" in run("submit", "no-such.py", code=1).stderr
    assert "engine" in run("list", "--engine", "nowhere", code=1).stderr
    nowhere = run("submit", "train.py", "-E", "nowhere", code=1).stderr
    assert "Available engines: local" in nowhere and "imported" not in nowhere
    assert "engine" in run("doctor", "--engine", "nowhere", code=1).stderr
    assert "shares CPU, memory and GPUs" in run("doctor", "--engine", "local").stdout
    assert run("list", "--engine", "kubeflow", code=1).stderr.startswith("Error:")
    assert job in run("submit", "train.py", "--name", job, *PLAIN, code=1).stderr
    assert "Traceback" not in run("submit", "train.py", "--set", "nodes=2", code=1).stderr


def test_a_failed_job_ends_with_code_1(run: Run) -> None:
    done = run("submit", "train.py", "--name", "bad-1", *PLAIN, "--wait", "--", "--fail", code=1)
    assert "bad-1: Failed" in done.stderr and "no data" in done.stderr
    run("wait", "bad-1", code=1)
    run("wait", "bad-1", "--for", "Failed", "--timeout", "0s")


def test_a_stopped_job_has_not_failed(run: Run, folder: Path) -> None:
    """The words are those of JupyterLab; the fields of the objects stay as they are."""
    names = {kind: f"{kind}-{secrets.token_hex(3)}" for kind in ("stopped", "deleted")}
    for name in names.values():
        run("submit", "train.py", "--name", name, *PLAIN, "--", "--hold", str(folder / "never"))
        run("wait", name, "--for", "Running")
    run("stop", names["stopped"])
    assert f"{names['stopped']}: Stopped" in run("wait", names["stopped"], code=1).stderr
    run("wait", names["stopped"], "--for", "stopped")
    run("wait", names["stopped"], "--for", "Failed", code=1)
    rows = [line.split() for line in run("list", "-o", "wide").stdout.splitlines()]
    assert [names["stopped"], "Stopped", "local"] in [row[:3] for row in rows]
    assert "Status:      Stopped\n" in run("get", names["stopped"]).stdout
    assert names["stopped"] in run("list", "--phase", "stopped", "-o", "name").stdout.split()
    assert names["stopped"] not in run("list", "--mine", "--phase", "Failed", "-o", "name").stdout.split()
    shown = json.loads(run("get", names["stopped"], "-o", "json").stdout)
    assert (shown["phase"], shown["ended_by"]) == ("Failed", "user")

    run("delete", names["deleted"])
    run("wait", names["deleted"], code=1)
    rows = [line.split() for line in run("list", "--deleted").stdout.splitlines()]
    assert [names["deleted"], "Stopped", "(deleted)"] in [row[:3] for row in rows]
    refused = run("stop", names["deleted"], code=1).stderr
    assert refused == f"Error: {names['deleted']} is deleted. It can't be stopped.\n"
    run("delete", *names.values(), "--purge")


def test_a_command_can_be_pasted(run: Run, folder: Path) -> None:
    (folder / "work" / "训练 脚本.py").write_text("")
    given = ["it's", '"$HOME"', "two\nlines", "; echo no"]
    run("submit", "训练 脚本.py", "--name", "odd-1", *PLAIN, "--wait", "--", *given)
    line = next(line for line in run("get", "odd-1").stdout.splitlines() if line.startswith("Command:"))
    printed = ["bash", "-c", f"printf '%s\\0' {line.partition(':')[2]}"]
    words = subprocess.run(printed, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]
    assert words == json.loads(run("get", "odd-1", "-o", "json").stdout)["command"]
    assert words[-4:] == given
    run("delete", "odd-1", "--purge")


def test_no_job_is_not_the_same_as_no_match(run: Run, job: str, folder: Path) -> None:
    empty = ["--home", str(folder / "empty")]
    for words in (["--phase", "paused"], ["--mine", "--phase", "paused"], ["-E", "imported"]):
        assert run("list", *words).stderr == "No job matches.\n"
    assert run("list", *empty).stderr == "There are no jobs.\n"
    assert "You have no jobs." in run("get", *empty, code=1).stderr
    assert "None of your jobs matches." in run("get", "-E", "imported", code=1).stderr


def test_a_job_is_tried_again(run: Run) -> None:
    run("submit", "train.py", "--name", "again-1", *PLAIN, "--retry", "1", "--wait", "--", "--fail", code=1)
    assert json.loads(run("get", "again-1", "-o", "json").stdout)["restarts"] == 1


def test_a_shell_runs_a_command(run: Run, folder: Path) -> None:
    run("submit", "--command", "echo 'a  b' > made.txt", "--name", "shell-1", *PLAIN, "--wait")
    assert (folder / "work" / "made.txt").read_text() == "a  b\n"
    # A job that ends before its streams are listed a second time.
    assert run("submit", "--command", "echo short", "--name", "short-1", *PLAIN, "--follow").stdout.endswith("short\n")
    refused = run("submit", "--command", "echo", "--name", "shell-2", "-n", "Team_A", code=1).stderr
    assert refused.startswith("Error:") and "Namespace" in refused
    assert run("submit", "--module", "", code=1).stderr.startswith("Error:")
    assert "either" in run("list", "-A", "--namespace", "team", code=2).stderr
    assert run("list", "-A").stdout.startswith("NAME")
    for text in ("spec: hello", "spec:", "engine: Bad Engine\nspec: {}"):
        (folder / "bad.yaml").write_text(text)
        assert run("submit", "-f", str(folder / "bad.yaml"), code=1).stderr.startswith("Error:")


def _interruptible() -> None:
    """Undo what a shell does to programs that it starts in the background, as it may have done to the tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def without_output_it_says_so(run: Run, job: str, folder: Path) -> None:
    """A job that has written nothing for longer than the setting says."""
    assert "No output" not in run("get", job).stdout
    settings = folder / "config" / "jupyter_config.json"
    usual = settings.read_text()
    settings.write_text(json.dumps({"T9kJobApp": {"no_output_seconds": 1}}))
    try:
        assert "Reason: No output for" in " ".join(run("get", job).stdout.split())
        assert "No output for" in run("list", "-o", "wide").stdout
        assert json.loads(run("get", job, "-o", "json").stdout)["stalled"]["kind"] == "output"
    finally:
        settings.write_text(usual)


def commands_in_a_job(run: Run, job: str, folder: Path) -> None:
    """Run commands in a job: plain streams, exit codes, and a terminal of ours."""
    done = run("exec", job, "--", "sh", "-c", "echo $GREETING $T9KJOB_NAME; pwd; echo bad >&2; exit 7", code=7)
    assert done.stdout.splitlines() == [f"you {job}", str(folder / "work")] and done.stderr == "bad\n"
    assert "Replicas: worker-0" in run("exec", job, "--rank", "5", "--", "true", code=1).stderr
    assert "have no containers" in run("exec", job, "-c", "beside", "--", "true", code=1).stderr
    with Client(home=folder / "home") as client:
        ended = client.get(job).exec("cat; exit 3", stdin="é")
        assert (ended.returncode, ended.stdout, ended.stderr) == (3, "é", "")

    command = 'trap "stty size" WINCH; tty >/dev/null && stty size; while :; do sleep 0.1; done'
    ours, theirs = os.openpty()

    def resize(columns: int, rows: int) -> None:
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    resize(97, 23)
    program = subprocess.Popen(
        [*PROGRAM, "exec", job, "--home", str(folder / "home"), "--", "sh", "-c", command],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    before = termios.tcgetattr(theirs)
    shown = b""

    def until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            assert select.select([ours], [], [], 300)[0], shown
            shown += os.read(ours, 4096)

    try:
        until(b"23 97")
        resize(40, 12)
        until(b"12 40")
        os.write(ours, b"\x03")  # Ctrl-C goes to the command, which ends.
        assert program.wait(300) == 130
        assert termios.tcgetattr(theirs) == before
    finally:
        program.kill()
        os.close(ours)
        os.close(theirs)


def test_a_lab_and_the_command_line_see_the_same_jobs(run: Run, job: str, folder: Path) -> None:
    """An interrupted command leaves the job alone; the job is ended, run again, deleted and pruned."""
    lab = Lab(folder, kubernetes=False)
    lab.start()
    family = f"long-{secrets.token_hex(3)}"  # A repeat of this test must not meet the jobs of the first try.
    first, second = f"{family}-1", f"{family}-2"
    try:
        hold = folder / "work" / family
        words = ["--name", first, *PLAIN, "--retry", "0", "--env", "GREETING=you"]
        run("submit", "train.py", *words, "--", "--hold", str(hold))
        program = f"{' '.join(PROGRAM)} logs {first} -f --home {folder / 'home'}"
        piped = ["bash", "-c", f"{program} | head -1; echo ${{PIPESTATUS[0]}}"]
        left = subprocess.run(piped, capture_output=True, text=True, check=True, timeout=300)
        assert left.stdout == "line 0 you\n141\n", left
        follower = subprocess.Popen(
            [*PROGRAM, "logs", first, "-f", "--home", str(folder / "home")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_interruptible,
        )
        assert follower.stdout is not None
        assert follower.stdout.readline() == "line 0 you\n"
        follower.send_signal(signal.SIGINT)
        _rest, said = follower.communicate(timeout=240)
        assert follower.returncode == 130 and f"t9kjob stop {first}" in said, said
        run("wait", first, "--timeout", "1s", code=124)
        without_output_it_says_so(run, first, folder)
        shown = lab.ask("GET", "jobs", name=first).json["jobs"]
        assert [job["phase"] for job in shown] == ["Running"]
        run("prune", "--finished-before", "0s", "--dry-run")
        commands_in_a_job(run, first, folder)
        cut_off = subprocess.Popen(
            [*PROGRAM, "exec", first, "--home", str(folder / "home"), "--", "sh", "-c", "echo begun; exec sleep 86400"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert cut_off.stdout is not None and cut_off.stdout.readline() == "begun\n"
        assert first in run("stop", first).stdout
        run("wait", first, code=1)
        _rest, said = cut_off.communicate(timeout=240)
        assert cut_off.returncode == 255 and "no longer runs" in said, said
        assert "does not run" in run("exec", first, "--", "true", code=1).stderr
        hold.touch()
        assert run("rerun", first, "-o", "name").stdout == f"{second}\n"
        run("wait", second)
        assert "Error" in run("pause", second, code=1).stderr
        run("delete", first, second, "--purge")
        end = time.monotonic() + PATIENCE
        while {first, second} & {job["name"] for job in lab.ask("GET", "jobs", deleted="true").json["jobs"]}:
            assert time.monotonic() < end, "The lab has not seen that the records are gone."
            time.sleep(0.1)
        assert "hello-1" in run("prune", "--finished-before", "0s", "--yes").stdout
        assert json.loads(run("list", "-o", "json").stdout) == {"jobs": []}
    finally:
        lab.kill()


def test_a_tensorboard_until_it_is_interrupted(run: Run, folder: Path) -> None:
    (folder / "work" / "runs").mkdir()
    board = subprocess.Popen(
        [*PROGRAM, "tensorboard", "runs", "--home", str(folder / "home")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,
    )
    try:
        assert board.stdout is not None
        address = board.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}data/environment", timeout=300) as answer:
            assert "version" in json.load(answer)
        with urllib.request.urlopen(address, timeout=300) as answer:
            assert b"TensorBoard" in answer.read()
        secret = address.rstrip("/").rpartition("/")[2]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address.replace(secret, "guess"), timeout=300)
        board.send_signal(signal.SIGINT)
        _rest, said = board.communicate(timeout=240)
        assert board.returncode == 130 and "Ctrl-C" in said and "Traceback" not in said, said
    finally:
        board.kill()


def test_a_pipe_that_closes_is_no_error(folder: Path) -> None:
    program = " ".join(PROGRAM)
    command = ["bash", "-c", f"{program} --help | head -c 1; echo ${{PIPESTATUS[0]}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout[1:].strip() in ("0", "141") and "Traceback" not in done.stderr
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("Error:") and "Traceback" not in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, "completion", "bash"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.returncode == 141, done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_without_standard_streams(closed: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(PROGRAM)} completion bash {closed}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("_T9KJOB_COMPLETE" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))


def test_the_code_of_a_git_repository(run: Run, folder: Path) -> None:
    """A script of the user's own clone at the commit, and one that only the repository has."""
    clone = folder / "clone"
    (clone / "part").mkdir(parents=True)
    (clone / "part" / "there.py").write_text("print('committed')")
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"], ["remote", "add", "origin", str(clone)]):
        subprocess.run([*git, *words], check=True)
    (clone / "part" / "there.py").write_text("print('edited')")
    address = f"file://{clone}"

    def source(*words: str) -> tuple[str, dict[str, str]]:
        spec = json.loads(run("submit", *words, "--dry-run", "-o", "json").stdout)["spec"]
        return spec["entrypoint"]["value"], spec["source"]

    script = str(clone / "part" / "there.py")
    for given in (".", address):
        value, found = source(script, "--git", given)
        assert value == script and found["worktree"] == str(clone)
        assert (found["address"], found["ref"], found["folder"]) == (address, "main", "part")
    value, found = source("part/there.py", "--git", address, "--branch", "dev", "--git-folder", "lib", "--submodules")
    assert (value, found["ref"], found["folder"], found["submodules"]) == ("part/there.py", "dev", "lib", True)
    done = run("submit", "there.py", "--git", address, "--git-folder", "part", "--name", "git-1", *PLAIN, "--follow")
    assert "committed" in done.stdout.splitlines()
    assert "no git repository" in run("submit", "train.py", "--git", ".", code=1).stderr
    assert "in no clone of" in run("submit", str(folder / "work" / "train.py"), "--git", address, code=1).stderr
    assert "address" in run("submit", "train.py", "--git", "--upload-pack=x", code=1).stderr


def test_a_folder_that_can_not_be_used_is_named(run: Run, folder: Path) -> None:
    (folder / "no-folder").write_text("")
    for words in (["list"], ["get", "train-1"], ["wait", "train-1"], ["stop", "train-1"]):
        code = 0 if words == ["list"] else 1
        assert "Warning:" in run(*words, "--home", str(folder / "no-folder"), code=code).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run: Run, shell: str) -> None:
    assert "_T9KJOB_COMPLETE" in run("completion", shell).stdout


def test_the_python_client(run: Run, folder: Path) -> None:
    """In a program whose own event loop runs, as a notebook's does."""

    async def program() -> None:
        with Client(home=folder / "home") as client:
            job = client.submit("train.py", name="api-1", values={"torchrun": None}, env={"GREETING": "you"})
            assert list(job.logs(follow=True)) == ["line 0 you", "line 1 you", "line 2 you"]
            assert job.wait(500).summary.phase == "Succeeded"
            assert "api-1" in [each.name for each in client.jobs()]
            assert client.get("api-1").phase == "Succeeded"
            assert "api-1" in [each.name for each in client.jobs(phases=["Succeeded"])]
            with pytest.raises(JobError, match="no phase 'succeeded'"):
                client.jobs(phases=["succeeded"])
            with pytest.raises(TypeError, match="phases"):
                client.jobs(phases="Succeeded")
            with pytest.raises(TypeError, match="args"):
                client.submit("train.py", args="--lines 3")
            # What the handle knows of the job may be old.
            job.summary = job.summary.model_copy(update={"phase": "Pending"})
            assert len(list(job.logs(follow=True))) == 3
            with pytest.raises(JobError):
                client.submit("train.py", namespace="Team_A")
            with pytest.raises(JobError):
                client.submit(command="echo", args=["--lost"])
            job.delete(purge=True)

    asyncio.run(program())
    assert "api-1" not in run("list", "--deleted", "-o", "name").stdout


def test_the_display_in_a_notebook_follows_the_job(folder: Path) -> None:
    """The cell has ended when the job changes; two changes that come together are both shown in the end."""
    work = folder / "work"
    submit = "client.submit('train.py', name='shown-1', args=['--hold', 'go'], values={'torchrun': None})"
    code = f"from jupyterlab_t9kjob import Client\nclient = Client(home={str(folder / 'home')!r})\n{submit}"
    manager, kernel = start_new_kernel(kernel_name="python3", cwd=str(work), startup_timeout=PATIENCE)
    try:
        kernel.execute(code)
        ident, seen = None, ""
        while "Succeeded" not in seen:
            message = kernel.get_iopub_msg(timeout=PATIENCE)
            content = message["content"]
            assert message["msg_type"] != "error", content
            if message["msg_type"] not in ("display_data", "update_display_data"):
                continue
            ident = ident or content["transient"]["display_id"]
            assert content["transient"]["display_id"] == ident
            seen = content["data"]["text/html"]
            if "Running" in seen:
                assert "since 20" in seen
                (work / "go").touch()
        assert "since" not in seen
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    with Client(home=folder / "home") as client:
        client.get("shown-1").delete(purge=True)
