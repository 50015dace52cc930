"""Groups of equal stacks, and the sentences that are made from known frames."""

from __future__ import annotations

import pytest

from jupyterlab_t9kjob.core.engine.info import EngineFacts
from jupyterlab_t9kjob.core.stacks.asking import written_threads
from jupyterlab_t9kjob.core.stacks.raw import RawFrame, RawRank, RawStacks, RawThread
from jupyterlab_t9kjob.core.stacks.taker import threads_of
from jupyterlab_t9kjob.stacks.grouping import Member, finding_of, groups_of
from jupyterlab_t9kjob.stacks.model import StackFrame, StackGroup
from jupyterlab_t9kjob.stacks.problems import missing_of

PACKAGES = "/opt/lib/python3.12/site-packages/"
ALL_REDUCE = [
    ("all_reduce", PACKAGES + "torch/distributed/distributed_c10d.py", 3252),
    ("_exception_logger.<locals>.wrapper", PACKAGES + "torch/distributed/c10d_logger.py", 83),
]
MAIN = [("main", "/job/train.py", 212), ("<module>", "/job/train.py", 240)]
Frames = list[tuple[str, str, int]]


def member(rank: int, frames: Frames, state: str = "S") -> Member:
    thread = RawThread(main=True, frames=[RawFrame(function=name, file=file, line=line) for name, file, line in frames])
    return Member("worker-0", RawRank(pid=100 + rank, rank=rank, state=state, threads=[thread]))


def grouped(*members: Member) -> list[StackGroup]:
    return groups_of(members, lambda frame: StackFrame(function=frame.function, file=frame.file, line=frame.line))


def ranks(groups: list[StackGroup]) -> list[list[int | None]]:
    return [[member.rank for member in group.members] for group in groups]


def test_lines_inside_libraries_do_not_count_and_those_of_the_user_do() -> None:
    moved = [(ALL_REDUCE[0][0], ALL_REDUCE[0][1], 9), ALL_REDUCE[1]]
    elsewhere = [("main", "/job/train.py", 99), MAIN[1]]
    groups = grouped(member(0, ALL_REDUCE + MAIN), member(1, moved + MAIN), member(2, ALL_REDUCE + elsewhere))
    assert ranks(groups) == [[2], [0, 1]]
    assert [str(group.title) for group in groups] == ["rank 2 waits in all_reduce", "2 ranks wait in all_reduce"]
    assert finding_of(groups, places=True) == (
        "2 ranks wait in all_reduce (train.py:212); rank 2 waits in all_reduce (train.py:99)"
    )


def test_what_a_library_calls_while_it_waits_does_not_count() -> None:
    polling = [("is_completed", PACKAGES + "torch/futures/__init__.py", 5), *ALL_REDUCE, *MAIN]
    hooked = [("hook", "/job/hooks.py", 5), *ALL_REDUCE, *MAIN]
    groups = grouped(member(0, ALL_REDUCE + MAIN), member(1, polling), member(2, hooked))
    assert ranks(groups) == [[2], [0, 1]]
    # Of ranks that join a process group, one may hang in another part of that.
    joining = [("init_process_group", PACKAGES + "torch/distributed/distributed_c10d.py", 1), *MAIN]
    resolving = [("getaddrinfo", "/usr/lib/python3.12/socket.py", 9), *joining]
    assert ranks(grouped(member(0, joining), member(1, resolving), member(2, joining))) == [[1], [0, 2]]


def test_the_sentence_of_the_issue() -> None:
    loading = [
        ("_MultiProcessingDataLoaderIter._try_get_data", PACKAGES + "torch/utils/data/dataloader.py", 1290),
        ("__next__", PACKAGES + "torch/utils/data/dataloader.py", 733),
        *MAIN,
    ]
    groups = grouped(*(member(rank, loading if rank == 3 else ALL_REDUCE + MAIN) for rank in range(8)))
    assert finding_of(groups) == "7 ranks wait in all_reduce, rank 3 is in data loading"


def test_of_two_ranks_the_one_that_the_other_waits_for_comes_first() -> None:
    groups = grouped(member(0, ALL_REDUCE + MAIN), member(1, [("<module>", "/job/train.py", 9)]))
    assert ranks(groups) == [[1], [0]]
    assert finding_of(groups) == "rank 0 waits in all_reduce, rank 1 is in train.py"


def test_many_groups_are_counted() -> None:
    groups = grouped(*(member(rank, [(f"f{min(rank, 6)}", "/job/train.py", 1)]) for rank in range(8)))
    assert finding_of(groups) == "2 ranks are in f6, rank 0 is in f0, rank 1 is in f1, 4 other ranks are elsewhere"
    assert finding_of(grouped(member(0, MAIN))) == "rank 0 is in main"
    assert finding_of([]) is None


@pytest.mark.parametrize(
    ("function", "file", "title"),
    [
        ("monitored_barrier", "torch/distributed/distributed_c10d.py", "rank 0 waits in monitored_barrier"),
        ("init_process_group", "torch/distributed/distributed_c10d.py", "rank 0 joins the process group"),
        ("_tcp_rendezvous_handler", "torch/distributed/rendezvous.py", "rank 0 joins the process group"),
        ("save", "torch/serialization.py", "rank 0 reads or writes a checkpoint"),
        ("compile_fx", "torch/_inductor/compile_fx.py", "rank 0 compiles"),
        ("Tensor.backward", "torch/_tensor.py", "rank 0 is in the backward pass"),
        ("Adam.step", "torch/optim/adam.py", "rank 0 is in the optimizer's step"),
        ("synchronize", "torch/cuda/__init__.py", "rank 0 waits for its device"),
        ("Linear.forward", "torch/nn/modules/linear.py", "rank 0 is in main"),
    ],
)
def test_known_frames(function: str, file: str, title: str) -> None:
    (group,) = grouped(member(0, [(function, PACKAGES + file, 7), *MAIN]))
    assert group.title == title


def test_a_refusal_names_the_setting_and_who_can_change_it() -> None:
    refused = RawStacks(scope=1, ranks=[RawRank(pid=rank, rank=rank, problem="Refused") for rank in (0, 1)])
    (missing,) = missing_of(refused, EngineFacts())
    assert missing.who == "Ranks 0 and 1"
    assert "kernel.yama.ptrace_scope is 1" in missing.sentence
    assert missing.hint == "The administrator of this machine can change that with sysctl kernel.yama.ptrace_scope=0."
    (missing,) = missing_of(refused.model_copy(update={"scope": None}), EngineFacts(has_pods=True))
    assert "SYS_PTRACE" in (missing.hint or "")


def test_hostile_answers_are_refused() -> None:
    thread = {"frames": [{"function": "x" * 301, "file": "f", "line": 1}]}
    with pytest.raises(ValueError, match="300"):
        RawStacks.model_validate({"ranks": [{"pid": 1, "threads": [thread]}]})


def test_what_faulthandler_writes() -> None:
    text = (
        'Thread 0x00007f2d (most recent call first):\n  File "/job/pool.py", line 3 in wait\n\n'
        "Current thread 0x00007f2e [python] (most recent call first):\n"
        '  File "/job/train.py", line 8 in step\n  File "/job/train.py", line 12 in <module>\n'
    )
    main, other = written_threads(text)
    assert (main["main"], [frame["line"] for frame in main["frames"]]) == (True, [8, 12])
    assert other["frames"] == [{"function": "wait", "file": "/job/pool.py", "line": 3, "native": False}]


def test_the_main_thread_comes_first() -> None:
    frame = {"name": "f", "filename": "a.py", "line": 1}
    answer = [
        {"pid": 7, "os_thread_id": 9, "thread_name": "pin", "frames": [frame]},
        {"pid": 7, "os_thread_id": 7, "thread_name": "MainThread", "frames": [frame]},
    ]
    assert [thread["name"] for thread in threads_of(answer)] == ["MainThread", "pin"]
