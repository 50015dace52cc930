"""Requests and socket messages of the API, beside the models of `core`, `launch`, `tensorboard`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter

from ..core.engine_info import EngineInfo, Volume
from ..core.job import Event, JobSummary, LogStream, Replica, Time
from ..core.spec import Model
from ..core.translation import Sentence
from ..jobs.feed_messages import Delta, JobDetail, Snapshot
from ..launch.model import SpecOrManifest
from ..logs.serving.model import Cursor, LogHit, LogLine
from ..tensorboard.model import TensorBoard

Number = Annotated[int, Field(ge=0, le=2**53 - 1, description="As JavaScript counts exactly.")]
RequestId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$")]


class CreateJob(SpecOrManifest):
    """Create a job from a spec, or from a manifest as edited; `dry_run` only validates."""

    request_id: RequestId


class VolumeList(Model):
    """The PVCs of a namespace."""

    volumes: list[Volume]


class JobPage(Model):
    """Part of the list of jobs."""

    jobs: list[JobSummary]
    total: int


class EngineList(Model):
    """All engines, available or not."""

    engines: list[EngineInfo]


class ReplicaList(Model):
    """Replicas of a job."""

    replicas: list[Replica]


class EventList(Model):
    """Events of a job, newest first."""

    events: list[Event]


class LogStreamList(Model):
    """Log streams of a job."""

    streams: list[LogStream]


class TensorBoardList(Model):
    """TensorBoards that run, and whether one can be started at all."""

    tensorboards: list[TensorBoard]
    available: bool
    reason: Sentence | None = None
    install: str | None = Field(None, description="The command that installs it.")


class ApiError(Model):
    """Body of every error."""

    message: Sentence
    code: str | None = None
    field: str | None = Field(None, description="JSON pointer into the request.")
    line: int | None = Field(None, description="Where in a text that was sent, from 1.")
    column: int | None = None
    hint: Sentence | None = None
    verbatim: str | None = None
    traceback: str | None = Field(None, description="Always empty; Jupyter's own clients read it.")


# --- WS stream ---------------------------------------------------------------------------------


class Subscribe(Model):
    """Client → server: what the page looks at; replaces what it said before."""

    type: Literal["subscribe"] = "subscribe"
    jobs: bool = True
    tensorboards: bool = True
    capacity: bool = Field(False, description="How much of the cluster is free; counted only while a page asks.")
    details: list[str] = Field(default_factory=list, max_length=50, description="Ids of jobs.")


class SocketError(Model):
    """Server → client: a message could not be understood or answered."""

    type: Literal["error"] = "error"
    message: Sentence
    code: str | None = None
    hint: Sentence | None = None
    request: int | None = None


StreamMessage = Annotated[Snapshot | Delta | JobDetail | SocketError, Field(discriminator="type")]

# --- WS jobs/{id}/logs -------------------------------------------------------------------------


class ReadLog(Model):
    """Client → server: one page of lines of the chosen streams, merged by time.

    `anchor` is where the page begins (forward) or ends (backward); a time stands for the first line that was written
    then or later. A page has fewer lines than asked for where they are long: `at_start` and `at_end` say whether there
    are more.
    """

    type: Literal["read"]
    request: Number
    streams: list[str] | None = Field(None, description="Null: all that exist.")
    anchor: Literal["start", "end"] | Cursor | Time
    direction: Literal["forward", "backward"] = "forward"
    lines: int = Field(1000, ge=1, le=5000)


class FollowLog(Model):
    """Client → server: send lines from `cursor` on as they are written; replaces another follow."""

    type: Literal["follow"]
    streams: list[str] | None = None
    cursor: Cursor


class UnfollowLog(Model):
    """Client → server: stop following."""

    type: Literal["unfollow"]


class AckLog(Model):
    """Client → server: `append` number `sequence` has been shown.

    Counts for those before it as well. The server sends a bounded number of bytes ahead of it.
    """

    type: Literal["ack"]
    sequence: Number


class SearchLog(Model):
    """Client → server: find lines; ends a search that still runs, which is answered with the error ``Superseded``.

    `pattern` is text, or with `regex` a regular expression of Python's, applied to each line as it is shown.
    """

    type: Literal["search"]
    request: Number
    streams: list[str] | None = None
    pattern: str = Field(min_length=1, max_length=1000)
    regex: bool = False
    case_sensitive: bool = False
    limit: int = Field(1000, ge=1, le=10_000)
    context: int = Field(0, ge=0, le=20, description="Lines above and below each hit, of the same stream.")


LogRequest = Annotated[ReadLog | FollowLog | UnfollowLog | AckLog | SearchLog, Field(discriminator="type")]


class LogStreams(Model):
    """Server → client: the streams that exist, at the start and when that changes."""

    type: Literal["streams"] = "streams"
    streams: list[LogStream]


class LogPage(Model):
    """Server → client: answer to `read`."""

    type: Literal["page"] = "page"
    request: int
    lines: list[LogLine]
    before: Cursor = Field(description="Where an earlier page would end.")
    after: Cursor = Field(description="Where a later page would begin.")
    at_start: bool
    at_end: bool


class LogAppend(Model):
    """Server → client: lines that were written since; `after` is the cursor behind them.

    The first one after `follow` comes at once, if need be without lines.
    """

    type: Literal["append"] = "append"
    sequence: int
    lines: list[LogLine]
    after: Cursor
    caught_up: bool = Field(description="Nothing more is there at this moment.")


class LogHits(Model):
    """Server → client: answer to `search`."""

    type: Literal["hits"] = "hits"
    request: int
    hits: list[LogHit]
    complete: bool = Field(description="False: there are more than these.")
    stopped: Sentence | None = Field(None, description="Why not all was searched, a sentence.")


LOG_REQUEST: TypeAdapter[LogRequest] = TypeAdapter(LogRequest)

LogMessage = Annotated[LogStreams | LogPage | LogAppend | LogHits | SocketError, Field(discriminator="type")]

SOCKET_MESSAGES: tuple[Any, ...] = (Subscribe, StreamMessage, LogRequest, LogMessage)
