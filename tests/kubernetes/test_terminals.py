"""A terminal in a pod of a PyTorchJob in debug mode: shell, typed command, end, and a missing permission."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest

from jupyterlab_t9kjob.core.engine.terminals import Shell, ShellSettings, TerminalPlace
from jupyterlab_t9kjob.core.errors import JobError, NotAllowed, NotFound
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import Debug
from jupyterlab_t9kjob.core.translation import translated
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.service import JobService
from jupyterlab_t9kjob.jobs.terminals import Terminals
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import Bench, serving
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_rights import rules

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

SETTINGS = ShellSettings(("unused",))
WAIT = 180.0


async def until(shell: Shell, pattern: str) -> str:
    """Read until the output matches; return the match's first group."""
    text = ""
    with anyio.fail_after(WAIT):
        while (found := re.search(pattern, text)) is None:
            output = await shell.read()
            assert output is not None, text
            text += output.data.decode(errors="replace")
    return found[1]


async def ask(shell: Shell, command: str) -> str:
    await shell.write(f"echo '<<''<'; {command}; echo '>>''>'\r".encode())
    return (await until(shell, r"(?s)<<<\r\n(.*?)>>>")).replace("\r\n", "\n").rstrip("\n")


async def run_commands(bench: Bench, job: Job) -> None:
    """Run commands: plain streams, exit codes, and the pod of a replica."""
    terminals = Terminals(JobService(Engines(bench.engines)))

    async def run(command: str, replica: str | None = None) -> tuple[int | None, bytes, bytes]:
        settings = ShellSettings(("unused",), ("sh", "-c", command), terminal=False)
        place = await terminals.place(job.id, None, replica, settings)
        read = {"stdout": b"", "stderr": b""}
        with anyio.fail_after(WAIT):
            async with terminals.opened(job.id, place, settings) as shell:
                await shell.write(b"a\xff\n")
                await shell.close_input()
                while (output := await shell.read()) is not None:
                    read[output.stream] += output.data
                return shell.exit_code, read["stdout"], read["stderr"]

    master = f"{job.name}-master-0\n".encode()
    assert await run("cat; hostname; echo bad >&2; exit 7") == (7, b"a\xff\n" + master, b"bad\n")
    assert await run("hostname", "worker-0") == (0, f"{job.name}-worker-0\n".encode(), b"")
    assert (await run("kill -9 $$"))[0] == 137
    assert (await run("exec /no/such/program"))[0] == 127
    with pytest.raises(NotFound) as missing:  # The ranks of a job in debug mode have not started.
        await terminals.place(job.id, 1, None, SETTINGS)
    assert missing.value.hint is not None and "Ranks: not known. Replicas:" in translated(missing.value.hint)
    with pytest.raises(NotFound, match="Rank 1 does not run in the replica worker-0"):
        async with terminals.opened(job.id, TerminalPlace(replica="worker-0", rank=1), SETTINGS):
            pass


async def ranks_of_one_log(bench: Bench, job: Job) -> None:
    """Find a rank that has no log of its own: only the container knows it."""
    terminals = Terminals(JobService(Engines(bench.engines)))
    listed = await terminals.listed(job.id, SETTINGS)
    master, worker = listed.places
    assert listed.searchable == [master.replica, worker.replica]
    async with terminals.opened(job.id, worker, SETTINGS) as shell:
        await ask(shell, "env -u T9KJOB_TERMINAL RANK=5 LOCAL_RANK=1 sleep 98713 >/dev/null 2>&1 & true")
        searched = (await terminals.listed(job.id, SETTINGS, listed.searchable)).places
        rank = TerminalPlace(replica=worker.replica, rank=5)
        assert searched == [master, worker, rank]
        assert await terminals.place(job.id, 5, None, SETTINGS) == rank
        async with terminals.opened(job.id, rank, SETTINGS) as inside:
            assert await ask(inside, 'echo "$RANK/$LOCAL_RANK"') == "5/1"


async def test_a_terminal_in_a_pod(kube: Kube, volume: Volume, image: str, tmp_path: Path) -> None:
    account = Account(kube, "terminals", tmp_path)
    await account.may(*rules(), {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get", "create"]})
    async with serving(kube, image, tmp_path, volume, kubeconfig=account.kubeconfig) as bench:
        spec = bench.training(bench.script("print('trained')"), replicas=2, processes=1)
        job = await bench.submit(
            "kubeflow", spec.model_copy(update={"debug": {"worker": Debug(command=["sleep", "86400"])}})
        )
        engine = bench.engines["kubeflow"]
        await bench.until(job, lambda seen: seen.replicas_running == 2)
        listed = await engine.terminals(job.uid)
        assert listed.available.supported and len(listed.places) == 2
        master, worker = listed.places

        async with engine.open_terminal(job.uid, worker, SETTINGS) as shell:
            assert re.match(
                r'torchrun --nnodes=2 .*--rdzv_endpoint="\$\{MASTER_ADDR\}":"\$\{MASTER_PORT\}" ', shell.typed
            )
            await shell.resize(97, 23)
            assert await ask(shell, "stty size") == "23 97"
            assert await ask(shell, "echo $T9KJOB_NAME") == job.name
            assert await ask(shell, "cat /proc/1/cmdline | tr '\\0' ' '") == "sleep 86400 "
            # Much output is read as fast as it is asked for, and all of it.
            assert len(await ask(shell, "yes 0123456789 | head -c 1000000")) == 1_000_000
            await ask(shell, "nohup sleep 98711 >/dev/null 2>&1 & sleep 98712 & true")
        async with engine.open_terminal(job.uid, worker, SETTINGS) as shell:
            left = "grep -ls '9871[12]' /proc/[0-9]*/cmdline | grep -v self | wc -l"
            assert (await ask(shell, left)).strip() == "0"
            await shell.write(b"exit 3\r")
            with anyio.fail_after(WAIT):
                while await shell.read():
                    pass
            assert shell.exit_code == 3
        await run_commands(bench, job)
        await ranks_of_one_log(bench, job)

        # The pod goes away under an open terminal.
        async with engine.open_terminal(job.uid, master, SETTINGS) as shell:
            await ask(shell, "true")
            await engine.act(job.uid, "pause")
            with anyio.fail_after(WAIT), pytest.raises(JobError):
                while await shell.read():
                    pass
                pytest.fail("the shell did not say why it ended")
        with pytest.raises(JobError):
            async with engine.open_terminal(job.uid, TerminalPlace(replica="nobody-9"), SETTINGS):
                pass

        await bench.until(job, lambda seen: seen.phase == "Paused" and seen.pending_action is None)
        await engine.act(job.uid, "resume")
        await bench.until(job, lambda seen: seen.replicas_running == 2)
        await account.may(*rules())
        with pytest.raises(NotAllowed, match="refused"):
            async with engine.open_terminal(job.uid, worker, SETTINGS) as shell:
                await shell.read()
        engine._exec._known.clear()
        refused = (await engine.terminals(job.uid)).available
        assert not refused.supported and "get pods/exec" in (refused.reason or "")
