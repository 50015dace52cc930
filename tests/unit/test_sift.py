"""The launcher's own words, out of a log with the ranks' lines in it."""

from __future__ import annotations

from pathlib import Path

from jupyterlab_t9kjob.logs.serving.sift import first_rank, first_ranks, sift, sifted_path
from jupyterlab_t9kjob.logs.storage import cuts, index
from jupyterlab_t9kjob.logs.storage.spool import Spool

LOG = [
    b"W1121 23:59:00.000000 1 torch/distributed/run.py:852] \n",
    b"[default0]:epoch 1\n",
    b"[default11]:epoch 1\n",
    b"[my_role.a-1]:epoch 1\n",
    b"[rank0]: Traceback is the rank's own and has no prefix of the launcher's here\n",
    b"[2026-11-21 23:59:00] torch.distributed.elastic: failed (exitcode: 1) local_rank: 0\n",
    b"[default0]:\xff\xfe\r50%\n",
    b"\n",
]
OWN = [LOG[0], LOG[5], LOG[7]]


def write(path: Path, lines: list[bytes], start: int = 0) -> None:
    with path.open("ab") as log, path.with_name(path.name + ".index").open("ab") as times:
        for number, line in enumerate(lines, start):
            log.write(line)
            times.write(index.RECORD.pack(float(number), log.tell()))


def test_only_its_own_words_are_left_with_their_times(tmp_path: Path):
    path = tmp_path / "a.log"
    write(path, LOG)
    sift(path)
    assert sifted_path(path).read_bytes() == b"".join(OWN)
    times = index.TimeIndex(sifted_path(path).with_name("a.log.launcher.index"))
    times.refresh()
    assert [times.time_at(0), times.time_at(len(OWN[0])), times.time_at(len(OWN[0] + OWN[1]))] == [0.0, 5.0, 7.0]


def test_it_goes_on_where_it_was_also_after_a_kill(tmp_path: Path):
    path = tmp_path / "a.log"
    write(path, LOG[:6])
    sift(path)
    done = path.with_name("a.log.launcher.done").read_bytes()
    write(path, LOG[6:], 6)
    with path.open("ab") as log:
        log.write(b"unfinished")
    sift(path)
    path.with_name("a.log.launcher.done").write_bytes(done)  # killed before that was written
    sift(path)
    assert sifted_path(path).read_bytes() == b"".join(OWN)
    with path.open("ab") as log:
        log.write(b" line\n")
    sift(path)
    assert sifted_path(path).read_bytes() == b"".join(OWN) + b"unfinished line\n"


def test_what_was_cut_out_is_passed_over(tmp_path: Path):
    path = tmp_path / "a.log"
    write(path, [b"first\n", b"\0" * 3_000_000, b"last\n"])
    cuts.append(path.with_name("a.log.cuts"), cuts.Cut(6, 6 + 3_000_000, 10))
    sift(path)
    assert sifted_path(path).read_bytes() == b"first\nlast\n"


def stamped(number: int, line: str) -> bytes:
    return f"2026-01-01T00:00:{number:02d}.000000001Z {line}\n".encode()


def test_a_log_that_was_another_run_s_is_sifted_anew(tmp_path: Path):
    path = tmp_path / "a.log"
    spool = Spool(path)
    spool.feed(b"".join(stamped(number, f"[rank7.default1]:other {number}") for number in range(3)))
    spool.feed(b"".join(stamped(number, f"other {number}") for number in range(3, 6)))
    sift(path)
    cuts.append(path.with_name("a.log.cuts"), cuts.Cut(5, 10, 1))
    spool.clear()
    assert {file.name for file in tmp_path.iterdir()} == {"a.log", "a.log.index", "a.log.lines"}
    spool.feed(b"".join(stamped(number, f"own {number}") for number in range(10, 40)))
    spool.close()
    sift(path)
    assert sifted_path(path).read_bytes() == path.read_bytes()
    assert first_ranks(sifted_path(path)) == []


def test_a_log_that_has_become_shorter_is_sifted_anew(tmp_path: Path):
    """Another lab has cleared it."""
    path = tmp_path / "a.log"
    write(path, [b"[rank7.default1]:epoch 1\n", b"a long line of another run\n"])
    sift(path)
    path.unlink()
    path.with_name("a.log.index").unlink()
    write(path, [b"own\n"])
    sift(path)
    assert sifted_path(path).read_bytes() == b"own\n"
    assert first_ranks(sifted_path(path)) == []
    write(path, [b"next\n"], 1)
    sift(path)
    assert sifted_path(path).read_bytes() == b"own\nnext\n"


def test_prefixes_tell_global_ranks(tmp_path: Path):
    path = tmp_path / "a.log"
    write(path, [LOG[0], b"[rank3.default1]:epoch 1\n", b"[rank2.default0]:epoch 1\n", b"[rank5]:[W100] own\n"])
    sift(path)
    assert sifted_path(path).read_bytes() == LOG[0]
    assert first_ranks(sifted_path(path)) == [2]
    write(path, [b"[rank0.default0]:epoch 1\n", b"[rank1.default1]:epoch 1\n"], 4)
    sift(path)
    assert first_ranks(sifted_path(path)) == [2, 0]


def test_global_ranks_are_known_where_it_tells_them(tmp_path: Path):
    path = tmp_path / "a.launcher"
    assert first_rank(path) is None
    path.write_bytes(b"[default] starting workers\n")
    assert first_rank(path) is None
    failure = b"Root Cause:\n[0]:\n  time      : 2026\n  rank      : 5 (local_rank: 1)\n  exitcode  : 1\n"
    path.write_bytes(b"x" * 1_000_000 + failure)
    assert first_rank(path) == 4
    path.write_bytes(b"  local_ranks=[0, 1]\n  role_ranks=[2, 3]\n  global_ranks=[2, 3]\n" + failure)
    assert first_rank(path) == 2
