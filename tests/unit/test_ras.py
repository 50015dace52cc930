"""Answers of NCCL's RAS subsystem: which ranks are behind, in both of its formats, and answers that are hostile.

The answers are made up in the formats that NCCL's documentation and source describe; no GPU was at hand to record one.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from jupyterlab_t9kjob.core.stacks import asking
from jupyterlab_t9kjob.core.stacks.ras import communicators_in
from jupyterlab_t9kjob.core.stacks.raw import RawRank, RawStacks
from jupyterlab_t9kjob.stacks.communicators import ras_collectives
from jupyterlab_t9kjob.stacks.model import Collective

HANDSHAKE = "SERVER PROTOCOL 2\nOK\n"
TABLE = """NCCL version 2.27.3 compiled with CUDA 12.9
CUDA runtime version 12090, driver version 12090

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          4            1          8        8

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         4         8         8   RUNNING  MISMATCH
    1         2         2         1         2         4   RUNNING  INCOMPLETE,MISMATCH

"""
WHERE = "GPU 3 managed by process 203 on node 10.0.0.1"
TEXT = HANDSHAKE + "ERROR: Unknown command SET FORMAT json\n" + TABLE
BEHIND = f"""Warnings
========

#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different AllReduce operation counts
  7 ranks have launched up to operation 120
  Rank 3 has launched up to operation 119 -- {WHERE}

"""


def rank_of(number: int, pid: int, host: str, counts: dict[str, int]) -> dict[str, Any]:
    return {"rank": number, "host": host, "pid": pid, "cuda_dev": 0, "nvml_dev": 0, "collective_counts": counts}


def in_json(*communicators: dict[str, Any]) -> str:
    document = {"nccl_version": "2.29.1", "communicators_count": len(communicators), "communicators": communicators}
    return HANDSHAKE + "OK\n" + json.dumps(document, indent=2)


def of(answer: str, expected: int | None = 8, *others: RawStacks) -> list[Collective]:
    return ras_collectives([RawStacks(ras=answer), *others], expected)


def finding(answer: str, expected: int | None = 8) -> str:
    return "; then ".join(str(each.finding) for each in of(answer, expected))


def test_a_rank_that_has_not_launched_what_the_others_have() -> None:
    (found,) = of(TEXT + BEHIND)
    assert found.finding == "7 ranks have launched AllReduce, number 120; rank 3 has not joined"
    assert (found.source, found.group, found.own_ranks, found.missing) == ("ras", "", False, [3])
    assert found.calls[0].ranks == [0, 1, 2, 4, 5, 6, 7]


def test_text_of_the_first_versions_and_groups_of_ranks() -> None:
    text = f"""Warnings
========

#0-0 (9e17999afaa87dbb) MISMATCH
  Communicator ranks have different status
  7 ranks have status RUNNING
  Rank 5 has status FINALIZE -- {WHERE}
  Communicator ranks have different collective operation counts
  6 ranks have not launched any operations
  2 ranks have launched up to operation 1
  Rank 0 -- {WHERE}
  Rank 7 -- [process information not found]
"""
    assert finding(TEXT + text) == (
        "2 ranks have launched collective number 1; ranks 1, 2, 3, 4, 5 and 6 have not joined"
    )


def test_ranks_that_do_not_answer() -> None:
    text = f"""Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 203 on node 10.0.0.1 managing GPU 3

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 3 -- {WHERE}

"""
    assert finding(TEXT + text) == "NCCL gets no answer from rank 3"
    assert finding(TEXT + text.replace(f"Rank 3 -- {WHERE}", "The missing ranks: 2, 3")) == (
        "NCCL gets no answer from ranks 2 and 3"
    )


def test_halves_whose_ranks_are_not_named() -> None:
    text = """#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different Broadcast operation counts
  4 ranks have launched up to operation 2
  4 ranks have launched up to operation 1
"""
    assert finding(TEXT + text) == "The ranks have launched different numbers of collectives"


def test_ranks_of_other_communicators_are_those_of_the_job() -> None:
    """Ranks of a communicator are found by host and pid; if one is not found, the communicator's own numbers stay."""
    equal = {"AllReduce": 4, "AllGather": 0}
    even = {"hash": "0x1", "size": 2, "ranks": [rank_of(rank, 200, f"10.0.0.{rank}", equal) for rank in range(2)]}
    behind = [rank_of(0, 201, "10.0.0.1", {"AllReduce": 5}), rank_of(1, 201, "10.0.0.2", {"AllReduce": 3})]
    uneven = {"hash": "0xae94", "size": 2, "ranks": behind, "missing_ranks": []}
    answer = in_json(even, uneven)
    machines = [
        RawStacks(addresses=["127.0.0.1", f"10.0.0.{machine + 1}"], ranks=[RawRank(pid=201, rank=4 * machine + 1)])
        for machine in range(2)
    ]
    (found,) = of(answer, 8, *machines)
    assert (found.group, found.own_ranks, found.calls[0].ranks, found.missing) == ("ae94", False, [1], [5])
    assert found.finding == "1 rank has launched AllReduce, number 4; rank 5 has not joined"
    (found,) = of(answer, 8, machines[0])
    assert (found.group, found.own_ranks, found.missing) == ("ae94", True, [1])


def test_json_with_ranks_that_do_not_answer_and_calls_that_differ() -> None:
    def status(unresponsive: bool) -> dict[str, Any]:
        return {"status": {"unresponsive": unresponsive, "considered_dead": False}}

    ranks = [rank_of(0, 1, "a", {"AllReduce": 7, "Reduce": 2}), rank_of(1, 2, "a", {"AllReduce": 6, "Reduce": 3})]
    missing = [{"rank": 2, "host": "a", "pid": 3, **status(True)}, {"rank": 3, **status(False)}]
    (found,) = of(in_json({"hash": "0x1", "size": 4, "ranks": ranks, "missing_ranks": missing}), 4)
    assert found.finding == (
        "The ranks call different collectives: rank 0 in AllReduce and rank 1 in Reduce;"
        " NCCL gets no answer from rank 2"
    )
    assert (found.missing, found.silent) == ([], [2])
    ranks = [rank_of(0, 1, "a", {"AllReduce": 7, "Reduce": 3}), rank_of(1, 2, "a", {"AllReduce": 6, "Reduce": 2})]
    assert finding(in_json({"hash": "0x1", "size": 2, "ranks": ranks}), 2) == (
        "rank 1 has launched fewer collectives than the others"
    )


@pytest.mark.parametrize(
    "answer",
    [
        "",
        HANDSHAKE,
        HANDSHAKE + '{"communicators": ',
        HANDSHAKE + "{" * 100_000,
        in_json({"hash": [], "size": -1, "ranks": [7, {"rank": True, "collective_counts": {"x": {}}}]}),
        json.dumps({"communicators": {"ranks": 7}}),
        "#0-0 (xyz) MISMATCH\n  Rank 3 -- x",
        TABLE + "#0-0 (1) MISMATCH\n  9 ranks have launched up to operation 7\n  Rank 99 -- x\n" * 10,
        "ERROR: Unknown command\n" * 1000,
    ],
)
def test_hostile_answers_say_nothing(answer: str) -> None:
    assert communicators_in(answer) == []


@contextmanager
def listening(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Answer one connection of a client of RAS; give the port and what the client sent."""
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _address = server.accept()
            with client, client.makefile("rb") as lines:
                for line in lines:
                    got.append(line)
                    if line == b"VERBOSE STATUS\n":
                        break
                client.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], got


@pytest.mark.skipif(sys.platform != "linux", reason="linux: sockets are found below /proc")
def test_only_a_socket_of_the_ranks_own_is_asked() -> None:
    with listening(TEXT.encode()) as (port, got), subprocess.Popen(["sleep", "100"]) as stranger:
        address = {"NCCL_RAS_ADDR": f"localhost:{port}"}
        try:
            assert asking.ras_status({stranger.pid: address}) is None
            assert asking.ras_status({os.getpid(): {"NCCL_RAS_ADDR": "localhost:nothing"}}) is None
            assert got == []
            assert asking.ras_status({stranger.pid: address, os.getpid(): address}) == TEXT
        finally:
            stranger.kill()
        assert got == [b"CLIENT PROTOCOL 2\n", b"TIMEOUT 5\n", b"SET FORMAT json\n", b"VERBOSE STATUS\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="linux: sockets are found below /proc")
def test_a_server_that_is_not_pytorchs_is_no_debug_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that fails, one that sends without end, and one that never answers."""
    monkeypatch.setattr(asking, "SERVER_THREAD", "MainThread")
    monkeypatch.setattr(asking, "_thread_names", lambda _pid: {"MainThread"})
    monkeypatch.setattr(asking, "HTTP_SECONDS", 0.3)
    monkeypatch.setattr(asking, "LARGEST_HTTP", 1000)
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = asking.Listener(("127.0.0.1",), server.getsockname()[1], True)
        monkeypatch.setattr(asking, "listeners", lambda _pid: [listener])
        endless = b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 5000
        other = b'HTTP/1.1 200 OK\r\n\r\n{"dump_traceback": 1}'
        for answer in (b"HTTP/1.1 404 Not Found\r\n\r\n[]", b"", endless, other):

            def serve(answer: bytes = answer) -> None:
                client, _address = server.accept()
                with client, suppress(OSError):  # The client leaves a server that sends too much.
                    client.recv(1000)
                    client.sendall(answer)

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            assert asking.debug_server(os.getpid(), {}) is None
            thread.join()
        assert asking.debug_server(os.getpid(), {}) is None  # Nobody accepts the connection.
        assert asking.debug_server(os.getpid(), {"MASTER_PORT": str(listener.port)}) is None
