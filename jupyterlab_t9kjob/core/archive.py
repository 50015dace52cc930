"""Format of a job's archive: a ZIP file that one lab exports and another lab imports.

Members of the archive: `HEAD`, the files of `DOCUMENTS`, logs with their time indexes below ``logs/``, samples below
``samples/``, and stacks below ``stacks/``. ``spec.json`` and ``manifest.yaml`` are for people; an import does not read
them.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from pydantic import Field

from .base_model import Model
from .job import Event, Job, LogStream, ManifestView, Replica, Time
from .translation import Text

HEAD: Final = "archive.json"
DOCUMENTS: Final = ("job.json", "replicas.json", "events.json", "manifest.json", "streams.json", "samples.json")
FOR_PEOPLE: Final = ("spec.json", "manifest.yaml")
MEMBER: Final = re.compile(r"logs/\d{4,6}[\w.\-]{0,200}\.(?:log|index)|samples/\d{1,2}|stacks/[\w\-]{1,100}\.json")
"""Names of the members below folders."""
VERSION: Final = 1


class ArchiveHead(Model):
    """First member of an archive.

    Attributes
    ----------
    format, version
        Name and version of the format.
    exported_at
        Time of the export.
    exporter
        Version of the extension that wrote the archive.
    """

    format: Literal["t9kjob-job"]
    version: int = Field(ge=1)
    exported_at: Time
    exporter: str = Field(max_length=100)


class ArchivedStream(Model):
    """A log stream with the names of its members; `index` is null for a log without times.

    A log that could not be read when the job was exported has names, but the archive lacks its members.
    """

    stream: LogStream
    log: str | None = Field(None, max_length=300)
    index: str | None = Field(None, max_length=300)


class ArchivedLevel(Model):
    """A line in the charts, see `core.resources.Level`."""

    metric: str
    kind: Literal["limit", "request", "share"]
    value: float = Field(allow_inf_nan=False)
    part: str
    label: Text


class ArchivedSamples(Model):
    """Description of the samples, see `core.resources.Samples`; ``samples/0`` has those of the first tier."""

    code: str
    label: Text
    seconds: float = Field(gt=0, allow_inf_nan=False)
    tiers: list[float] = Field(max_length=10)
    levels: list[ArchivedLevel] = Field(default_factory=list, max_length=1000)
    notes: dict[str, Text] = Field(default_factory=dict)
    missing: dict[str, Text] = Field(default_factory=dict)


class ArchivedJob(Model):
    """All documents of an archive."""

    head: ArchiveHead
    job: Job
    replicas: list[Replica] = Field(default_factory=list, max_length=10_000)
    events: list[Event] = Field(default_factory=list, max_length=100_000)
    manifest: ManifestView | None = None
    streams: list[ArchivedStream] = Field(default_factory=list, max_length=50_000)
    samples: ArchivedSamples | None = None
