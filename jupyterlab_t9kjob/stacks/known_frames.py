"""Frames whose meaning is known: the table from which titles and findings are made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from ..core.stacks.raw import RawFrame
from ..core.translation import Text, _, _n
from .model import Doing

LIBRARY: Final = re.compile(r"(^<frozen |/(site|dist)-packages/|/lib(64)?/python3[^/]*/)")
_PATHS: Final = re.compile(r"^.*/(?:site|dist)-packages/")


class _Known(NamedTuple):
    doing: Doing
    file: re.Pattern[str]
    function: re.Pattern[str]

    def matches(self, frame: RawFrame) -> bool:
        """Return True if a frame is one of this row; from Python 3.11 on its function has the name of the class."""
        name = frame.function.rpartition(".")[2]
        return bool(self.file.search(_PATHS.sub("", frame.file)) and self.function.search(name))


def _row(doing: Doing, file: str, function: str = r".") -> _Known:
    return _Known(doing, re.compile(file), re.compile(function))


_TABLE: Final = (
    _row(
        "collective",
        r"torch/distributed/(distributed_c10d|_functional_collectives|nn/functional)\.py$",
        r"^(_?all_(gather|reduce|to_all)\w*|_?reduce\w*|_?broadcast\w*|_?(gather|scatter)\w*|(monitored_)?barrier"
        r"|i?send\w*|i?recv\w*|batch_isend_irecv|wait_tensor)$",
    ),
    _row(
        "joining",
        r"torch/distributed/(rendezvous|distributed_c10d)\.py$",
        r"^(init_process_group|new_group|\w*rendezvous\w*|_create_c10d_store|_store_based_barrier|_new_process_group\w*)$",
    ),
    _row("checkpoint", r"torch/(serialization|distributed/checkpoint/.*|distributed/_shard/checkpoint/.*)\.py$"),
    _row("checkpoint", r"(safetensors|orbax)/.*\.py$"),
    _row("data", r"torch/utils/data/.*\.py$"),
    _row("data", r"(webdataset|datasets|streaming|nvidia/dali|torchdata)/.*\.py$"),
    _row("compilation", r"(torch/(_dynamo|_inductor|_functorch|fx)|triton)/.*\.py$"),
    _row("backward", r"torch/autograd/(__init__|graph)\.py$", r"(backward|grad)$|_engine_run_backward"),
    _row("backward", r"torch/_tensor\.py$", r"^backward$"),
    _row("optimizer", r"torch/optim/.*\.py$", r"^(step|_\w*step\w*|wrapper|_use_grad)$"),
    _row("device", r"torch/(cuda|xpu|npu)/.*\.py$", r"synchronize"),
)


def is_library(frame: RawFrame) -> bool:
    """Return True if a frame belongs to Python, a package or a compiled library instead of the user's own files."""
    return frame.native or frame.file.startswith("<") or bool(LIBRARY.search(frame.file))


def known(frames: Sequence[RawFrame]) -> tuple[Doing, RawFrame] | None:
    """Return the innermost frame whose meaning is known, with the meaning; None if there is none."""
    for frame in frames:
        if frame.native or not is_library(frame):
            continue
        for row in _TABLE:
            if row.matches(frame):
                return row.doing, _first_of(frames, row, frame)
    return None


def _first_of(frames: Sequence[RawFrame], row: _Known, innermost: RawFrame) -> RawFrame:
    """Return the outermost adjacent frame of the same meaning, such as `all_reduce` instead of its helpers."""
    found, inside = innermost, False
    for frame in frames:
        inside = inside or frame is innermost
        if inside:
            if not is_library(frame):
                break
            if row.matches(frame):
                found = frame
    return found


def title_of(doing: Doing | None, function: str, ranks: int) -> Text:
    """Return the title of a group of ranks without their numbers: “7 ranks wait in all_reduce”.

    Parameters
    ----------
    doing
        Activity of the ranks; None if unknown.
    function
        Name of the known frame's function, or of the innermost one.
    ranks
        Number of ranks.
    """
    match doing:
        case "collective":
            return _n("1 rank waits in {function}", "{n} ranks wait in {function}", ranks, function=function)
        case "joining":
            return _n("1 rank joins the process group", "{n} ranks join the process group", ranks)
        case "data":
            return _n("1 rank is in data loading", "{n} ranks are in data loading", ranks)
        case "checkpoint":
            return _n("1 rank reads or writes a checkpoint", "{n} ranks read or write a checkpoint", ranks)
        case "compilation":
            return _n("1 rank compiles", "{n} ranks compile", ranks)
        case "backward":
            return _n("1 rank is in the backward pass", "{n} ranks are in the backward pass", ranks)
        case "optimizer":
            return _n("1 rank is in the optimizer's step", "{n} ranks are in the optimizer's step", ranks)
        case "device":
            return _n("1 rank waits for its device", "{n} ranks wait for their devices", ranks)
    return _n("1 rank is in {function}", "{n} ranks are in {function}", ranks, function=function)


def title_of_one(doing: Doing | None, function: str, rank: int) -> Text:
    """Return the title of a group of one rank: “rank 3 is in data loading”.

    Parameters
    ----------
    doing
        Activity of the rank; None if unknown.
    function
        Name of the known frame's function, or of the innermost one.
    rank
        Number of the rank.
    """
    match doing:
        case "collective":
            return _("rank {rank} waits in {function}", rank=rank, function=function)
        case "joining":
            return _("rank {rank} joins the process group", rank=rank)
        case "data":
            return _("rank {rank} is in data loading", rank=rank)
        case "checkpoint":
            return _("rank {rank} reads or writes a checkpoint", rank=rank)
        case "compilation":
            return _("rank {rank} compiles", rank=rank)
        case "backward":
            return _("rank {rank} is in the backward pass", rank=rank)
        case "optimizer":
            return _("rank {rank} is in the optimizer's step", rank=rank)
        case "device":
            return _("rank {rank} waits for its device", rank=rank)
    return _("rank {rank} is in {function}", rank=rank, function=function)
