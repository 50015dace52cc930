"""A job's life without torchrun: the state table of the job model, through the engine's door."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, NotFound
from jupyterlab_t9kjob.core.texts.wording import duration
from jupyterlab_t9kjob.engines.local.jobs import store
from jupyterlab_t9kjob.engines.local.supervisor.outcome import conclude
from jupyterlab_t9kjob.engines.local.supervisor.records.job_files import JobFiles
from tests.local.harness import Bench, carrying, make_engine

pytestmark = pytest.mark.asyncio

SLEEP = "import time; print('here', flush=True); time.sleep(600)"


def group(**fields: Any) -> list[dict[str, Any]]:
    return [fields]


async def test_a_job_succeeds_and_its_log_is_complete(bench: Bench) -> None:
    job = await bench.submit("for number in range(20_000): print(number)")
    assert job.phase in ("Pending", "Running")
    assert job.id == f"local::{job.name}:{job.uid}"
    done = await bench.ended(job.uid)
    assert (done.phase, done.reason and done.reason.code, done.ended_by) == ("Succeeded", "Succeeded", "itself")
    assert done.reason and done.reason.sentence.startswith("Ran ")
    assert done.started_at and done.ended_at and done.created_at <= done.started_at <= done.ended_at
    assert await bench.codes(job.uid) == ["Created", "Started", "Succeeded"]
    expected = "".join(f"{number}\n" for number in range(20_000)).encode()
    assert await bench.output(job.uid, "worker-0.1.container.out") == expected
    (replica,) = await bench.engine.replicas(job.uid)
    assert (replica.status, replica.exit_code, replica.attempts[0].ended) == ("Completed", 0, "Completed")
    (stream,) = [file.stream for file in await bench.engine.log_sources(job.uid)]
    assert stream.complete
    assert stream.size == len(expected)
    assert stream.first_time and stream.last_time and stream.first_time <= stream.last_time


class Witness(JobFiles):
    """Notes which state a reader of the record finds when an event is added."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.found: list[tuple[str, str]] = []

    def add_event(self, code: str, *args: Any, **more: Any) -> None:
        self.found.append((code, self.read_record()["outcome"]["phase"]))
        super().add_event(code, *args, **more)


async def test_the_event_of_the_end_is_there_when_the_end_is(bench: Bench) -> None:
    """Nothing is announced after the end, so a page that asks at once would never show what is written later."""
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    shutil.copytree(bench.home / "jobs" / job.uid, bench.root / "copy")
    witness = Witness(bench.root / "copy")
    outcome = witness.read_record()["outcome"]
    running = witness.read_record() | {"outcome": {**outcome, "phase": "Running"}}
    witness.events.unlink()
    for _try in ("cannot be recorded", "is recorded"):
        witness.write_record(running)  # type: ignore[arg-type]
        conclude(witness, witness.read_record(), outcome)
    assert witness.found == [("Succeeded", "Running")]
    assert [event["reason"] for event in witness.read_events()] == ["Succeeded"]


async def test_the_scripts_world(bench: Bench) -> None:
    job = await bench.submit(
        """
        import json, os, sys
        names = ["T9KJOB_UID", "T9KJOB_NAME", "T9KJOB_LOG_DIR", "PYTHONUNBUFFERED", "FROM_KERNEL", "MINE", "RANK"]
        names += ["EM_RUN_PARENT_DIR", "EM_ARTIFACT_PARENT_DIR"]
        print(json.dumps([{n: os.environ.get(n) for n in names}, os.getcwd(), sys.argv[1:]]))
        """,
        args=["--text", "a b", "$(id)", "'\"\n"],
        env=[{"name": "MINE", "value": "x=y"}],
    )
    await bench.ended(job.uid)
    env, cwd, args = json.loads(await bench.output(job.uid, "worker-0.1.container.out"))
    assert env == {
        "T9KJOB_UID": job.uid,
        "T9KJOB_NAME": job.name,
        "T9KJOB_LOG_DIR": str(bench.root / "runs" / job.name),
        "PYTHONUNBUFFERED": "1",
        "FROM_KERNEL": "yes",
        "MINE": "x=y",
        "RANK": None,
        "EM_RUN_PARENT_DIR": str(bench.root / ".em/runs"),
        "EM_ARTIFACT_PARENT_DIR": str(bench.root / ".em/artifacts"),
    }
    assert cwd == str(bench.root)
    assert args == ["--text", "a b", "$(id)", "'\"\n"]


async def test_a_module_and_a_command(bench: Bench) -> None:
    (bench.root / "package").mkdir()
    (bench.root / "package" / "__init__.py").write_text("")
    (bench.root / "package" / "run.py").write_text("print('module', __name__)")
    module = await bench.submit(entrypoint={"kind": "module", "value": "package.run"})
    command = await bench.submit(entrypoint={"kind": "command", "value": "echo"}, args=["$HOME", "*"])
    assert (await bench.ended(module.uid)).working_dir == str(bench.root)
    await bench.ended(command.uid)
    assert await bench.output(module.uid, "worker-0.1.container.out") == b"module __main__\n"
    assert await bench.output(command.uid, "worker-0.1.container.out") == b"$HOME *\n"


async def test_a_frame_of_a_cell_leads_to_its_notebook(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.root)
    (bench.root / "deep").mkdir()
    code = "exec(compile('raise ValueError(1)', '{}.ipynb, cell 2', 'exec'))\n"
    for notebook, path in (("n", "deep/n.ipynb"), ("another", None)):
        bench.script(code.format(notebook), "deep/n.t9kjob.py")
        job = await bench.submit(entrypoint={"kind": "notebook", "value": str(bench.root / "deep" / "n.ipynb")})
        failure = (await bench.ended(job.uid)).failure
        assert failure and [frame.path for frame in failure.frames] == ["deep/n.t9kjob.py", path]


async def test_a_failure_names_the_error_and_its_place_in_the_log(bench: Bench) -> None:
    job = await bench.submit("print('before')\ndef deep():\n    raise ValueError('no good')\ndeep()\n")
    done = await bench.ended(job.uid)
    assert (done.phase, done.reason and done.reason.code) == ("Failed", "ExitCode")
    assert done.reason and done.reason.sentence == "The script failed with exit code 1: ValueError: no good"
    failure = done.failure
    assert failure and (failure.exit_code, failure.error) == (1, "ValueError: no good")
    assert [(frame.line, frame.function) for frame in failure.frames] == [(4, "<module>"), (3, "deep")]
    assert failure.frames[0].path == Path(failure.frames[0].file).name
    assert failure.link and failure.link.stream == "worker-0.1.container.out"
    log = await bench.output(job.uid, failure.link.stream)
    assert log[failure.link.offset :].startswith(b"Traceback (most recent call last)")


async def test_colours_of_a_terminal_are_not_in_the_words(bench: Bench) -> None:
    job = await bench.submit("def deep():\n    raise ValueError('\x1b[1;31mno\x1b[0m \x1b]8;;x\x07good')\ndeep()\n")
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.sentence == "The script failed with exit code 1: ValueError: no good"
    job = await bench.submit("import sys; sys.exit('\x1b[1;31mno good\x1b[0m')")
    done = await bench.ended(job.uid)
    assert done.failure and done.failure.error == "no good"


@pytest.mark.parametrize(
    ("code", "script", "words"),
    [
        (3, "import sys; sys.exit(3)", "Error (3)"),
        (2, "import argparse; argparse.ArgumentParser(prog='train').parse_args(['--foo'])", "Error (2)"),
        (137, "import os; os.kill(os.getpid(), 9)", "Killed (137)"),
        (137, "import sys; sys.exit(137)", "Error (137)"),
        (127, "import sys; sys.exit(127)", "Error (127)"),
        (143, "import os; os.kill(os.getpid(), 15)", "Asked to end (143)"),
        (139, "import os; os.kill(os.getpid(), 11)", "Segmentation fault (139)"),
    ],
)
async def test_exit_codes_are_a_pods(bench: Bench, code: int, script: str, words: str) -> None:
    job = await bench.submit(script)
    done = await bench.ended(job.uid)
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.exit_code == code
    assert replica.attempts[0].ended == words
    if words.startswith("Error") and code != 2:
        assert done.reason and done.reason.sentence == f"The script ended with exit code {code}"
    elif code == 2:
        assert done.reason and done.reason.sentence == (
            "The script failed with exit code 2: train: error: unrecognized arguments: --foo"
        )


@pytest.mark.parametrize("document", ["3", "null", '["x"]', '"boom"', '{"message": null}', "{"])
async def test_an_odd_error_file_costs_no_restart(bench: Bench, document: str) -> None:
    job = await bench.submit(
        f"""
        import os, pathlib, sys
        logs = pathlib.Path({str(bench.home)!r}, "jobs", os.environ["T9KJOB_UID"], "logs")
        (logs / "worker-0.1" / "error.json").write_text({document!r})
        sys.exit(0 if (logs / "worker-0.2").exists() else 7)
        """,
        replica_specs=group(restart_policy="OnFailure"),
    )
    done = await bench.ended(job.uid)
    assert (done.phase, done.restarts) == ("Succeeded", 1)


async def test_a_failure_that_nothing_explains_is_one_with_its_exit_code(bench: Bench) -> None:
    """The text of the script's exit is nested too deep to be searched."""
    job = await bench.submit(
        f"import sys\nprint('bad')\nif sys.argv[1:]: sys.exit({' + '.join(['x'] * 1500)})\nsys.exit(1)"
    )
    done = await bench.ended(job.uid)
    assert (done.phase, done.reason and done.reason.code) == ("Failed", "ExitCode")
    assert done.reason and done.reason.sentence == "The script ended with exit code 1"


class TestSeveralReplicas:
    """Without torchrun each replica lives for itself, and the first one decides."""

    async def test_only_the_failed_one_restarts(self, bench: Bench) -> None:
        job = await bench.submit(
            """
            import os, pathlib, sys, time
            tried = pathlib.Path(os.environ["T9KJOB_REPLICA"])
            if os.environ["T9KJOB_REPLICA"] == "worker-1" and not tried.exists():
                tried.touch()
                sys.exit(7)
            if os.environ["T9KJOB_REPLICA"] == "worker-1":
                pathlib.Path("again").touch()
            while not pathlib.Path("again").exists():
                time.sleep(0.02)
            """,
            replica_specs=group(replicas=2, restart_policy="OnFailure"),
        )
        done = await bench.ended(job.uid)
        replicas = await bench.engine.replicas(job.uid)
        assert done.phase == "Succeeded"
        assert [len(replica.attempts) for replica in replicas] == [1, 2]
        assert [replica.restarts for replica in replicas] == [0, 1]

    async def test_another_one_failing_does_not_end_the_job(self, bench: Bench) -> None:
        job = await bench.submit(
            """
            import os, pathlib, sys, time
            if os.environ["T9KJOB_REPLICA"] == "worker-1":
                sys.exit(7)
            while not pathlib.Path("go").exists():
                time.sleep(0.02)
            """,
            replica_specs=group(replicas=2),
        )
        await bench.until_code(job.uid, "ReplicaFailed")
        await bench.until(job.uid, lambda job: job.replicas_running == 1)
        (bench.root / "go").touch()
        assert (await bench.ended(job.uid)).phase == "Succeeded"

    async def test_the_first_one_failing_ends_the_others(self, bench: Bench) -> None:
        job = await bench.submit(
            """
            import os, sys, time
            sys.exit(9) if os.environ["T9KJOB_REPLICA"] == "master-0" else time.sleep(600)
            """,
            replica_specs=[{"type": "master"}, {"type": "worker", "replicas": 2}],
        )
        done = await bench.ended(job.uid)
        assert (done.phase, done.failure and done.failure.replica) == ("Failed", "master-0")
        assert [replica.name for replica in await bench.engine.replicas(job.uid)] == [
            "master-0",
            "worker-0",
            "worker-1",
        ]
        assert carrying(job.uid) == []


async def test_deadline(bench: Bench) -> None:
    job = await bench.submit(SLEEP, run_policy={"active_deadline_seconds": 1})
    done = await bench.ended(job.uid)
    assert (done.phase, done.ended_by) == ("Failed", "deadline")
    assert done.reason and done.reason.code == "DeadlineExceeded"
    assert done.reason.sentence == "Ended at its deadline of 1 s"
    assert carrying(job.uid) == []


async def test_pause_and_resume(bench: Bench) -> None:
    job = await bench.submit(
        """
        import pathlib, time
        count = pathlib.Path("count")
        count.write_text(count.read_text() + "x" if count.exists() else "x")
        if len(count.read_text()) == 1:
            print("epoch 1/9", flush=True)
        while len(count.read_text()) < 2:
            time.sleep(0.02)
        """
    )
    await bench.written(bench.root / "count")
    await bench.until(job.uid, lambda job: job.progress is not None)
    running = await bench.engine.job(job.uid)
    (replica,) = await bench.engine.replicas(job.uid)
    assert (running.ran_seconds, running.running_since) == (0, replica.attempts[0].started_at)
    asked = await bench.engine.act(job.uid, "pause")
    assert asked.pending_action == "pausing"
    paused = await bench.until(job.uid, lambda job: job.phase == "Paused")
    assert (paused.reason and paused.reason.code, paused.pending_action) == ("PausedByUser", None)
    assert paused.actions == ["resume", "stop", "rerun", "delete"]
    assert carrying(job.uid) == []
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.status == "Terminated"
    assert paused.running_since is None and paused.ran_seconds > 0
    assert (await bench.engine.act(job.uid, "resume")).pending_action == "resuming"
    done = await bench.ended(job.uid)
    assert (done.phase, done.attempt, done.restarts) == ("Succeeded", 2, 0)
    assert done.progress is None, "the first attempt's"
    (replica,) = await bench.engine.replicas(job.uid)
    assert [attempt.ended for attempt in replica.attempts] == ["Paused by you", "Completed"]
    assert [attempt.restart for attempt in replica.attempts] == [None, None], "a resume is no restart"
    ran = sum((attempt.ended_at or 0) - (attempt.started_at or 0) for attempt in replica.attempts)
    assert done.ran_seconds == pytest.approx(ran)
    assert done.reason and done.reason.sentence == f"Ran {duration(ran)}"
    assert done.started_at and done.ended_at and done.ran_seconds < done.ended_at - done.started_at, "without the pause"
    assert done.running_since is None
    expected = ["Created", "Started", "PausedByUser", "ResumedByUser", "Started", "Succeeded"]
    assert await bench.codes(job.uid) == expected


@pytest.mark.parametrize("change", [3600.0, -3600.0])
async def test_a_change_of_the_time_of_day_changes_no_duration(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, change: float
) -> None:
    job = await bench.submit("import pathlib, time\nwhile not pathlib.Path('end').exists(): time.sleep(0.02)")
    await bench.until(job.uid, lambda job: job.phase == "Running")
    plain = time.time
    with monkeypatch.context() as context:
        context.setattr(time, "time", lambda: plain() + change)  # of this process: the supervisor's stays
        running = await bench.engine.job(job.uid)
        assert running.running_since is not None
        assert 0 <= time.time() - running.running_since + 1 < 1800
    (bench.root / "end").touch()
    await bench.ended(job.uid)
    await bench.engine.stop()
    path = bench.home / "jobs" / job.uid / "record.json"
    record = json.loads(path.read_text())
    record["replicas"][0]["attempts"][0]["ended_at"] += change  # as the supervisor would have it after the change
    path.write_text(json.dumps(record))
    bench.engine = make_engine(bench.home, bench.root)
    await bench.engine.start()
    done = await bench.engine.job(job.uid)
    assert 0 < done.ran_seconds < 60
    assert done.reason and done.reason.sentence == f"Ran {duration(done.ran_seconds)}"


async def test_created_paused_runs_when_resumed(bench: Bench) -> None:
    job = await bench.submit("print('ran')", paused=True)
    assert (job.phase, job.reason and job.reason.code) == ("Paused", "PausedByUser")
    await bench.engine.act(job.uid, "resume")
    assert (await bench.ended(job.uid)).phase == "Succeeded"


async def test_resume_may_bring_other_arguments(bench: Bench) -> None:
    job = await bench.submit(
        "import sys; print(sys.argv[1:])",
        args=["first"],
        paused=True,
        resume=[{"type": "worker", "args": ["--resume"]}],
    )
    await bench.engine.act(job.uid, "resume")
    await bench.ended(job.uid)
    assert await bench.output(job.uid, "worker-0.1.container.out") == b"['--resume']\n"


@pytest.mark.parametrize("paused", [False, True])
async def test_stop(bench: Bench, paused: bool) -> None:
    job = await bench.submit(SLEEP, paused=paused)
    if not paused:
        await bench.running(job.uid)
    await bench.engine.act(job.uid, "stop")
    done = await bench.ended(job.uid)
    assert (done.phase, done.ended_by, done.reason and done.reason.code) == ("Failed", "user", "Stopped")
    assert done.reason and done.reason.sentence.startswith("Stopped by you")
    assert done.actions == ["rerun", "delete", "remove"]
    with pytest.raises(Conflict, match="ended"):
        await bench.engine.act(job.uid, "stop")


async def test_delete_ends_the_job_and_keeps_the_record(bench: Bench) -> None:
    job = await bench.submit(SLEEP)
    await bench.running(job.uid)
    assert (await bench.engine.act(job.uid, "delete")).pending_action == "deleting"
    done = await bench.until(job.uid, lambda job: job.deleted)
    assert (done.phase, done.pending_action) == ("Failed", None)
    assert carrying(job.uid) == []
    assert await bench.output(job.uid, "worker-0.1.container.out") == b"here\n"
    again = await bench.submit("pass", name=job.name)  # the name is free again
    await bench.ended(again.uid)
    await bench.engine.act(again.uid, "delete")
    assert (await bench.until(again.uid, lambda job: job.deleted)).phase == "Succeeded"


async def test_remove_drops_the_record_and_nothing_of_the_users(bench: Bench) -> None:
    job = await bench.submit("open('model.pt', 'w').write('weights')")
    with pytest.raises(Conflict, match="not ended"):
        await bench.engine.remove(job.uid)
    done = await bench.ended(job.uid)
    await bench.engine.remove(job.uid)
    assert bench.heard[-1] == (job.id, None)
    assert (bench.root / "model.pt").read_text() == "weights"
    assert done.log_location and not Path(done.log_location).parent.exists()
    with pytest.raises(NotFound):
        await bench.engine.job(job.uid)


async def test_a_program_that_is_gone_when_its_turn_comes(bench: Bench) -> None:
    """One that is not there at submission is refused."""
    program = bench.root / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    job = await bench.submit(entrypoint={"kind": "command", "value": str(program)}, paused=True)
    program.unlink()
    await bench.engine.act(job.uid, "resume")
    done = await bench.ended(job.uid)
    assert done.reason and (done.phase, done.reason.code) == ("Failed", "StartFailed")
    assert done.reason.verbatim and "No such file" in done.reason.verbatim


async def test_a_supervisor_that_is_slow_to_start_is_waited_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = bench.root / "slow.py"
    slow.write_text(
        "import pathlib, runpy, sys, time\n"
        f"pathlib.Path({str(bench.root)!r}, 'started').open('a').write('x')\ntime.sleep(2)\n"
        f"runpy.run_path({str(store.SUPERVISOR)!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(store, "SUPERVISOR", slow)
    monkeypatch.setattr(store, "STARTING_SECONDS", 0.1)
    job = await bench.submit("pass")
    assert (await bench.ended(job.uid)).phase == "Succeeded"
    assert (bench.root / "started").read_text() == "x"


async def test_progress_is_read_from_the_log(bench: Bench) -> None:
    job = await bench.submit(
        """
        import pathlib, time
        for batch in range(1, 6):
            print(f"epoch 2/10, batch {batch}/50 with loss: {1 / batch:.2f}", flush=True)
            time.sleep(0.01)
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        print("accuracy: 0.97")
        """
    )
    job = await bench.until(job.uid, lambda job: job.progress is not None and "batch 5 " in job.progress.text)
    assert job.progress and job.progress.text == "Epoch 2 of 10, batch 5 of 50"
    assert job.progress.fraction == pytest.approx(0.11)
    (bench.root / "go").touch()
    done = await bench.ended(job.uid)
    assert done.progress and done.progress.metrics == {"loss": 0.2, "accuracy": 0.97}
    assert done.reason and done.reason.sentence.endswith("· accuracy 0.97")


async def test_everything_is_announced(bench: Bench) -> None:
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    phases = [summary.phase for _, summary in bench.heard if summary is not None]
    assert phases[0] == "Pending"
    assert phases[-1] == "Succeeded"
    jobs = await bench.engine.jobs()
    assert [summary.uid for summary in jobs] == [job.uid]
    assert abs(jobs[0].created_at - time.time()) < 900
