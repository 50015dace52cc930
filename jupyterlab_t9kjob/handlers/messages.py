"""Models of requests, answers and WebSocket messages that are not in `core`, `launch` or `tensorboard`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter

from ..core.base_model import PathText
from ..core.engine.info import EngineInfo, Volume
from ..core.job import Event, JobSummary, LogStream, Replica, Time
from ..core.spec import Model
from ..core.translation import Text
from ..jobs.feed.messages import Delta, JobDetail, Snapshot
from ..launch.model import SpecOrManifest
from ..launch.sweeps.model import ExpandSweep
from ..logs.failures.levels import Level
from ..logs.serving.model import Cursor, LogError, LogHit, LogLine
from ..tensorboard.model import TensorBoard

Number = Annotated[int, Field(ge=0, le=2**53 - 1, description="An integer that JavaScript represents exactly.")]
LowestLevel = Annotated[
    Level | None,
    Field(
        description="Lowest level of the lines; null for all lines. A page may be without lines although there are more"
        " of them, because a page reads a limited part of the log."
    ),
]
RequestId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$")]


class CreateJob(SpecOrManifest):
    """Create a job from a spec or from an edited manifest; `dry_run` only validates it."""

    request_id: RequestId
    cloned_from: str | None = Field(None, max_length=1000, description="Id of the job from which the form was filled.")


class ImportJob(Model):
    """Import the archive of a job."""

    path: PathText = Field(min_length=1, description="Path of the archive in the contents API.")


class CreateSweep(ExpandSweep):
    """Create the jobs of a sweep. A repeated `request_id` returns the jobs that it created."""

    request_id: RequestId


class VolumeList(Model):
    """The PVCs of a namespace."""

    volumes: list[Volume]


class JobPage(Model):
    """A page of the list of jobs."""

    jobs: list[JobSummary]
    total: int = Field(description="Number of jobs on all pages.")


class EngineList(Model):
    """All engines, including those that are not available."""

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
    """The TensorBoards of this server."""

    tensorboards: list[TensorBoard]
    available: bool = Field(description="True if TensorBoard is installed.")
    reason: Text | None = Field(None, description="Why TensorBoard is not available.")
    install: str | None = Field(None, description="Command that installs TensorBoard.")


class ApiError(Model):
    """Body of every error."""

    message: Text = Field(description="Sentence that says what happened.")
    code: str | None = Field(None, description="Identifier of the error for programs.")
    field: str | None = Field(None, description="JSON pointer to the invalid field of the request.")
    line: int | None = Field(None, description="Line of the error in the manifest's text, from 1.")
    column: int | None = Field(None, description="Column of the error in that line, from 1.")
    hint: Text | None = Field(None, description="Sentence that says what the user can do.")
    verbatim: str | None = Field(None, description="Error message of the system or the cluster.")
    traceback: str | None = Field(None, description="Always null; Jupyter's own clients read the field.")


# --- WS stream ---------------------------------------------------------------------------------


class Subscribe(Model):
    """Client → server: the page's subscription, which replaces the earlier one."""

    type: Literal["subscribe"] = "subscribe"
    jobs: bool = Field(True, description="Subscribe to the list of jobs.")
    tensorboards: bool = Field(True, description="Subscribe to the list of TensorBoards.")
    capacity: bool = Field(
        False, description="Subscribe to the free resources of the clusters, which are computed for subscribers only."
    )
    details: list[str] = Field(
        default_factory=list, max_length=50, description="Ids of the jobs to whose details the page subscribes."
    )


class SocketError(Model):
    """Server → client: a message is invalid or could not be answered."""

    type: Literal["error"] = "error"
    message: Text = Field(description="Sentence that says what happened.")
    code: str | None = Field(None, description="Identifier of the error for programs.")
    hint: Text | None = Field(None, description="Sentence that says what the user can do.")
    request: int | None = Field(None, description="Number of the request that failed, if it has one.")


StreamMessage = Annotated[Snapshot | Delta | JobDetail | SocketError, Field(discriminator="type")]

# --- WS jobs/{id}/logs -------------------------------------------------------------------------


class ReadLog(Model):
    """Client → server: one page of lines of the chosen streams, merged by time.

    A page has fewer lines than requested if they are long; `at_start` and `at_end` of the answer tell if there are more
    lines.
    """

    type: Literal["read"]
    request: Number = Field(description="Number of the request, which the answer repeats.")
    streams: list[str] | None = Field(None, description="Ids of the streams; null for all.")
    anchor: Literal["start", "end"] | Cursor | Time = Field(
        description="Position at which the page begins (forward) or ends (backward). A time stands for the first line"
        " that was written then or later."
    )
    direction: Literal["forward", "backward"] = Field("forward", description="Side of the anchor on which the page is.")
    lines: int = Field(1000, ge=1, le=5000, description="Largest number of lines.")
    level: LowestLevel = None


class FollowLog(Model):
    """Client → server: send lines from `cursor` on as they are written; replaces an earlier `follow`."""

    type: Literal["follow"]
    streams: list[str] | None = Field(None, description="Ids of the streams; null for all.")
    cursor: Cursor
    level: LowestLevel = None


class UnfollowLog(Model):
    """Client → server: send no more lines."""

    type: Literal["unfollow"]


class AckLog(Model):
    """Client → server: the page has shown an `append` message and all before it.

    The server sends a limited number of bytes ahead of the acknowledged message.
    """

    type: Literal["ack"]
    sequence: Number = Field(description="`sequence` of the `append` message.")


class SearchLog(Model):
    """Client → server: search for lines.

    A search that is still running ends with the error ``Superseded``.
    """

    type: Literal["search"]
    request: Number = Field(description="Number of the request, which the answer repeats.")
    streams: list[str] | None = Field(None, description="Ids of the streams; null for all.")
    pattern: str = Field(
        min_length=1, max_length=1000, description="Text or regular expression that is searched for in each shown line."
    )
    regex: bool = Field(False, description="The pattern is a regular expression of Python.")
    case_sensitive: bool = Field(False, description="Upper and lower case differ.")
    limit: int = Field(1000, ge=1, le=10_000, description="Largest number of hits.")
    context: int = Field(0, ge=0, le=20, description="Number of lines before and after each hit, from the same stream.")
    level: LowestLevel = None


class FindErrors(Model):
    """Client → server: search the streams for the first error of each.

    The answer covers a limited part of the log; the next request continues the search.
    """

    type: Literal["errors"]
    request: Number = Field(description="Number of the request, which the answer repeats.")
    streams: list[str] | None = Field(None, description="Ids of the streams; null for all.")


LogRequest = Annotated[ReadLog | FollowLog | UnfollowLog | AckLog | SearchLog | FindErrors, Field(discriminator="type")]


class LogStreams(Model):
    """Server → client: the job's streams, at the start and after changes."""

    type: Literal["streams"] = "streams"
    streams: list[LogStream]


class LogPage(Model):
    """Server → client: answer to `read`."""

    type: Literal["page"] = "page"
    request: int = Field(description="Number of the request.")
    lines: list[LogLine]
    before: Cursor = Field(description="Position at which an earlier page ends.")
    after: Cursor = Field(description="Position at which a later page begins.")
    at_start: bool = Field(description="No lines are before these ones.")
    at_end: bool = Field(description="No lines are after these ones.")


class LogAppend(Model):
    """Server → client: new lines.

    The first message after `follow` comes at once, even without lines.
    """

    type: Literal["append"] = "append"
    sequence: int = Field(description="Number of the message, which the page acknowledges.")
    lines: list[LogLine]
    after: Cursor = Field(description="Position after the lines.")
    caught_up: bool = Field(description="There are no more lines at the moment.")


class LogHits(Model):
    """Server → client: answer to `search`."""

    type: Literal["hits"] = "hits"
    request: int = Field(description="Number of the request.")
    hits: list[LogHit]
    complete: bool = Field(description="There are no more hits.")
    stopped: Text | None = Field(None, description="Sentence that says why the search ended early.")


class LogErrors(Model):
    """Server → client: answer to `errors`."""

    type: Literal["first_errors"] = "first_errors"
    request: int = Field(description="Number of the request.")
    errors: list[LogError] = Field(description="The first errors that are known so far, one for each stream.")
    searched: int = Field(description="Number of bytes that were searched.")
    size: int = Field(description="Number of bytes of the streams.")
    complete: bool = Field(description="The first error of each stream that has errors is known.")


LOG_REQUEST: TypeAdapter[LogRequest] = TypeAdapter(LogRequest)

LogMessage = Annotated[
    LogStreams | LogPage | LogAppend | LogHits | LogErrors | SocketError, Field(discriminator="type")
]

SOCKET_MESSAGES: tuple[Any, ...] = (Subscribe, StreamMessage, LogRequest, LogMessage)
