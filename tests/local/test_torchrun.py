"""Jobs under the real torchrun; most scripts import no torch, to be quick."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from jupyterlab_t9kjob.core.engine.interpreter import Interpreter
from jupyterlab_t9kjob.core.spec import Device, Resources
from jupyterlab_t9kjob.engines.local.engine import LocalEngine
from tests.local.harness import Bench, carrying, kill

pytestmark = pytest.mark.asyncio

TWO = {"proc_per_node": 2}


async def test_ranks_have_streams_of_their_own(bench: Bench) -> None:
    job = await bench.submit(
        """
        import os, sys
        rank = os.environ["RANK"]
        for number in range(5000):
            print(rank, number)
        print("words of", rank, file=sys.stderr)
        """,
        torchrun=TWO,
    )
    done = await bench.ended(job.uid)
    assert (done.phase, done.processes) == ("Succeeded", 2)
    files = await bench.engine.log_sources(job.uid)
    assert [file.stream.id for file in files] == [
        "worker-0.1.launcher.out",
        "worker-0.1.rank-0.out",
        "worker-0.1.rank-0.err",
        "worker-0.1.rank-1.out",
        "worker-0.1.rank-1.err",
    ]
    for rank in (0, 1):
        expected = "".join(f"{rank} {number}\n" for number in range(5000)).encode()
        assert await bench.output(job.uid, f"worker-0.1.rank-{rank}.out") == expected
        assert await bench.output(job.uid, f"worker-0.1.rank-{rank}.err") == f"words of {rank}\n".encode()
    assert all(file.index is not None and file.stream.complete for file in files[1:])
    assert [file.stream.rank for file in files] == [None, 0, 0, 1, 1]
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.ranks == [0, 1]


async def test_the_ranks_of_several_replicas_are_known_while_they_run(bench: Bench) -> None:
    job = await bench.submit("import time; time.sleep(600)", torchrun=TWO, replica_specs=[{"replicas": 2}])
    assert sorted(await bench.until_ranks(job.uid)) == [[0, 1], [2, 3]]
    await bench.engine.act(job.uid, "stop")
    await bench.ended(job.uid)


async def test_the_failing_rank_is_named_not_torchrun(bench: Bench) -> None:
    job = await bench.submit(
        """
        import os, time
        if os.environ["RANK"] == "1":
            print("ready")
            raise RuntimeError("shape mismatch: 3 != 4")
        time.sleep(600)
        """,
        torchrun=TWO,
    )
    done = await bench.ended(job.uid)
    assert (
        done.reason and done.reason.sentence == "Rank 1 failed with exit code 1: RuntimeError: shape mismatch: 3 != 4"
    )
    failure = done.failure
    assert failure and (failure.rank, failure.local_rank, failure.exit_code) == (1, 1, 1)
    assert failure.link and failure.link.stream == "worker-0.1.rank-1.err"
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.attempts[0].ended == "Error (1)"


async def test_a_killed_rank_has_its_own_code(bench: Bench) -> None:
    job = await bench.submit("import os; os.environ['RANK'] == '1' and os.kill(os.getpid(), 9)", torchrun=TWO)
    done = await bench.ended(job.uid)
    assert done.failure and (done.failure.rank, done.failure.exit_code) == (1, 137)
    assert done.reason and done.reason.sentence == "Rank 1 was killed (137)"
    assert done.reason.hint and "when memory runs out" in done.reason.hint


async def test_of_two_failures_the_cause_is_named_not_its_echo(bench: Bench) -> None:
    job = await bench.submit(
        """
        import torch.distributed as dist, torch
        dist.init_process_group("gloo")
        if dist.get_rank() == 1:
            raise KeyError("the cause")
        dist.all_reduce(torch.ones(1))
        """,
        torchrun=TWO,
    )
    done = await bench.ended(job.uid)
    assert done.failure and (done.failure.rank, done.failure.error) == (1, "KeyError: 'the cause'")
    assert all(not frame.file.startswith("[rank") for frame in done.failure.frames)


async def test_gloos_race_at_exit_has_a_hint(bench: Bench) -> None:
    """The output of pytorch#190489 is played; the race itself is too rare to wait for."""
    job = await bench.submit(
        """
        import os, sys, traceback
        if os.environ["RANK"] == "1":
            try:
                raise KeyError("handled, and told")
            except KeyError:
                traceback.print_exc()
            sys.stderr.write("terminate called without an active exception\\n")
            sys.stderr.flush()
            os.abort()
        """,
        torchrun=TWO,
    )
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.sentence == "Rank 1 aborted (134): terminate called without an active exception"
    assert done.reason.hint and "The training had ended before" in done.reason.hint
    assert done.reason.verbatim == "terminate called without an active exception"
    assert done.failure and done.failure.link and done.failure.link.stream == "worker-0.1.rank-1.err"
    log = await bench.output(job.uid, "worker-0.1.rank-1.err")
    assert log[done.failure.link.offset :].startswith(b"terminate called")


async def test_a_launcher_that_can_not_start_is_shown_in_its_own_words(bench: Bench) -> None:
    job = await bench.submit("pass", torchrun=TWO | {"extra_options": ["--no-such-option"]})
    done = await bench.ended(job.uid)
    assert done.failure and done.failure.rank is None
    assert done.failure.error and "--no-such-option" in done.failure.error
    assert done.failure.link and done.failure.link.stream == "worker-0.1.launcher.out"


async def test_torchruns_own_restarts_are_events(bench: Bench) -> None:
    job = await bench.submit(
        "import os, sys; print(os.environ['TORCHELASTIC_RESTART_COUNT']); "
        "sys.exit(os.environ['TORCHELASTIC_RESTART_COUNT'] == '0')",
        torchrun={"proc_per_node": 1, "max_restarts": 1},
    )
    done = await bench.ended(job.uid)
    assert (done.phase, done.attempt, done.restarts) == ("Succeeded", 1, 0)
    assert "WorkerRestart" in await bench.codes(job.uid)
    assert await bench.output(job.uid, "worker-0.1.rank-0.out") == b"0\n"
    assert await bench.output(job.uid, "worker-0.1.rank-0.r1.out") == b"1\n"
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.attempts[0].worker_restarts == 1


class TestSeveralReplicas:
    """Several agents meet at one port of this machine."""

    SCRIPT = """
        import json, os, pathlib, sys
        names = ["RANK", "LOCAL_RANK", "WORLD_SIZE"]
        print(json.dumps([int(os.environ[name]) for name in names]))
        sys.stdout.flush()
        import torch, torch.distributed as dist
        dist.init_process_group("gloo")
        total = torch.tensor([dist.get_rank()])
        dist.all_reduce(total)
        assert total.item() == sum(range(dist.get_world_size()))
        tried = pathlib.Path("tried")
        dist.barrier()
        if not tried.exists():
            dist.barrier()
            if dist.get_rank() == 1:
                tried.touch()
                sys.exit(1)
            dist.barrier()
        dist.destroy_process_group()
        os._exit(0)  # pytorch#179291
        """

    async def _ranks(self, bench: Bench, uid: str, attempt: int) -> list[list[int]]:
        found = []
        for file in await bench.engine.log_sources(uid):
            if file.stream.source == "rank" and file.stream.output == "stdout" and file.stream.attempt == attempt:
                words = json.loads(file.path.read_bytes())
                assert file.stream.rank == words[0]
                found.append(words)
        return sorted(found)

    async def test_they_train_and_restart_together_and_one_is_counted(self, bench: Bench) -> None:
        job = await bench.submit(
            self.SCRIPT,
            torchrun={"proc_per_node": 1},
            replica_specs=[{"replicas": 2, "restart_policy": "OnFailure"}],
        )
        done = await bench.ended(job.uid)
        assert (done.phase, done.restarts, done.attempt, done.processes) == ("Succeeded", 1, 2, 2)
        assert [len(replica.attempts) for replica in await bench.engine.replicas(job.uid)] == [2, 2]
        for attempt in (1, 2):
            assert await self._ranks(bench, job.uid, attempt) == [[0, 0, 2], [1, 0, 2]]


class TestPortTaken:
    """The port to meet on belongs to another program."""

    @pytest.fixture
    def settings(self) -> Iterator[dict[str, Any]]:
        with socket.socket() as taken:
            taken.bind(("", 0))
            taken.listen()
            yield {"rendezvous_port": taken.getsockname()[1]}

    async def test_another_port_is_tried_and_nothing_counted(self, bench: Bench) -> None:
        job = await bench.submit("pass", torchrun={"proc_per_node": 1}, replica_specs=[{"replicas": 2}])
        done = await bench.ended(job.uid)
        assert (done.phase, done.restarts) == ("Succeeded", 0)
        assert "PortTaken" in await bench.codes(job.uid)


async def test_a_rank_fails_while_others_hang_in_a_collective(bench: Bench) -> None:
    """The first agent would wait for ever; it is ended when its time for an echo is over."""
    job = await bench.submit(
        """
        import os, torch, torch.distributed as dist
        dist.init_process_group("gloo")
        rank = dist.get_rank()
        dist.barrier()
        if os.environ["T9KJOB_REPLICA"] == "worker-1" and os.environ["LOCAL_RANK"] == "0":
            raise ValueError("the cause")
        dist.recv(torch.ones(1), src=rank ^ 1)
        """,
        torchrun={"proc_per_node": 2},
        replica_specs=[{"replicas": 2}],
    )
    done = await bench.ended(job.uid)
    failure = done.failure
    assert failure and (failure.replica, failure.local_rank, failure.error) == ("worker-1", 0, "ValueError: the cause")
    assert (done.phase, done.reason and done.reason.sentence) == (
        "Failed",
        f"Rank {failure.rank} failed with exit code 1: ValueError: the cause",
    )
    assert carrying(job.uid) == []


async def test_of_two_replicas_the_cause_is_named_not_its_echo(bench: Bench) -> None:
    """The first one ends with the echo; that it can be the cause itself, the next test shows."""
    job = await bench.submit(
        """
        import os, torch, torch.distributed as dist
        dist.init_process_group("gloo")
        if os.environ["T9KJOB_REPLICA"] == "worker-1":
            raise KeyError("the cause")
        dist.all_reduce(torch.ones(1))
        """,
        torchrun={"proc_per_node": 1},
        replica_specs=[{"replicas": 2}],
    )
    done = await bench.ended(job.uid)
    assert done.failure and (done.failure.replica, done.failure.error) == ("worker-1", "KeyError: 'the cause'")


async def test_the_echo_of_a_final_failure_is_not_restarted(bench: Bench) -> None:
    job = await bench.submit(
        """
        import os, pathlib, sys, time
        if os.environ["T9KJOB_REPLICA"] == "worker-0":
            sys.exit(5)
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        sys.exit(1)
        """,
        torchrun={"proc_per_node": 1},
        replica_specs=[{"type": "master", "restart_policy": "OnFailure"}, {"type": "worker"}],
    )
    await bench.until(job.uid, lambda job: job.replicas_running == 1)
    (bench.root / "go").touch()
    done = await bench.ended(job.uid)
    assert (done.phase, done.restarts, done.failure and done.failure.replica) == ("Failed", 0, "worker-0")


async def test_when_another_replica_failed_the_first_ones_success_does_not_count(bench: Bench) -> None:
    """torchrun itself would wait in its exit barrier till it is ended, so a stand-in for it ends at once."""
    launcher = bench.root / "launcher"
    launcher.write_text(
        '#!/bin/sh\n[ "$T9KJOB_REPLICA" = worker-1 ] && exit 5\nwhile [ ! -e go ]; do sleep 0.05; done\n'
    )
    launcher.chmod(0o755)

    async def stand_in(name: str | None) -> Interpreter:
        return Interpreter(str(launcher))

    other = LocalEngine(bench.home, bench.root, stand_in)
    await other.start()
    spec = bench.spec("pass", torchrun={"proc_per_node": 1}, replica_specs=[{"replicas": 2}])
    job = await other.create(spec, namespace="", request_id="stand-in")
    await other.stop()
    bench.uids.append(job.uid)
    await bench.known(job.uid)
    await bench.until(job.uid, lambda job: job.phase == "Running" and job.replicas_running == 1)
    (bench.root / "go").touch()
    done = await bench.ended(job.uid, 120)  # it is not waited for longer than for the first one
    assert (done.phase, done.reason and done.reason.code) == ("Failed", "ExitCode")
    assert done.failure and (done.failure.replica, done.failure.exit_code) == ("worker-1", 5)
    assert [replica.exit_code for replica in await bench.engine.replicas(job.uid)] == [0, 5]


async def test_no_rank_outlives_its_launcher(bench: Bench) -> None:
    job = await bench.submit(
        "import os, time; open('pid' + os.environ['RANK'], 'w').write(str(os.getpid())); time.sleep(600)",
        torchrun=TWO,
    )
    await bench.written(bench.root / "pid0")
    await bench.written(bench.root / "pid1")
    assert "--rdzv-endpoint=localhost:0" in job.command  # else two that are pasted would take one port
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.pid is not None
    kill(replica.pid)
    done = await bench.ended(job.uid)
    assert (done.phase, done.reason and done.reason.sentence) == ("Failed", "torchrun was killed (137)")
    (replica,) = await bench.engine.replicas(job.uid)
    assert replica.exit_code == 137
    assert carrying(job.uid) == []


async def test_preview_shows_what_one_would_type(bench: Bench) -> None:
    spec = bench.spec("pass", torchrun=TWO, args=["--epochs", "10", "--name", "a b", "--lr", "-0.1", "--fast"])
    preview = await bench.engine.preview(spec, "")
    python, script = preview.command.splitlines()[1].split()[0], spec.entrypoint.value.rsplit("/", 1)[1]
    assert preview.command == (
        f"cd {bench.root}\n"
        f"{python} -m torch.distributed.run \\\n"
        "    --nnodes=1 --nproc-per-node=2 \\\n"
        "    --rdzv-backend=c10d \\\n"
        "    --rdzv-endpoint=localhost:0 \\\n"
        "    --max-restarts=0 \\\n"
        f"    {script} \\\n"
        "    --epochs 10 \\\n"
        "    --name 'a b' \\\n"
        "    --lr -0.1 \\\n"
        "    --fast"
    )
    assert preview.summary == "2 processes on this machine"
    (worker,) = spec.replica_specs
    for count, where in ((1, "1 GPU"), (2, "2 GPUs")):
        resources = Resources(device=Device(count=count))
        asking = spec.model_copy(update={"replica_specs": [worker.model_copy(update={"resources": resources})]})
        assert (await bench.engine.preview(asking, "")).summary == f"2 processes on this machine, with {where}"
    assert [check.level for check in preview.checks if check.level == "error"] == []
    plain = await bench.engine.preview(spec.model_copy(update={"torchrun": None}), "")
    assert plain.command.splitlines()[1] == f"{python} {script} \\"
