"""Export of a job as one ZIP file: record, specification, manifest, logs, events, samples, stacks.

The file is made while it is sent: of logs, only small parts are in memory. Secrets in plain text are masked.
"""

from __future__ import annotations

import json
import os
import re
import time
import zipfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Final

from pydantic import TypeAdapter

from ..core.archive import HEAD, VERSION, ArchivedSamples, ArchivedStream, ArchiveHead
from ..core.base_model import Model
from ..core.engine.options import HasResources
from ..core.job import Event, Job, ManifestView, Replica
from ..core.log_sources import LogFile
from ..core.manifests import to_yaml
from ..core.manifests.leaks import masked
from ..core.manifests.names import SPEC
from ..core.manifests.own_fields import LAST_APPLIED, without_copies
from ..core.resources import Samples, SampleSpan
from ..core.system.zip_stream import Sink
from ..core.translation import STORED
from ..logs.serving.archive import member_info
from ..logs.serving.sources import open_log, size_of
from ..logs.storage import cuts
from ..logs.storage.index import RECORD
from ..resources.storage.blocks import columns_block, frame_block
from ..secret_values import MASK, is_secret
from .engine_answers import manifest_of
from .engines import Engines
from .service import JobService

_RECORDS_AT_ONCE: Final = 4096
_UNSAFE: Final = re.compile(r"[^\w.\-]")


@dataclass(frozen=True)
class ArchiveParts:
    """The parts of a job that its archive has.

    Attributes
    ----------
    job, replicas, events, manifest
        The record; the manifest is None if the engine has none.
    logs
        The log streams.
    samples
        Samples of resources; None if there are none.
    stacks
        Stacks by id.
    """

    job: Job
    replicas: list[Replica]
    events: list[Event]
    manifest: ManifestView | None
    logs: Sequence[LogFile]
    samples: Samples | None
    stacks: dict[str, Model]


async def parts_of(jobs: JobService, job: Job, logs: Sequence[LogFile], stacks: dict[str, Model]) -> ArchiveParts:
    """Return the parts of a job.

    Parameters
    ----------
    jobs
        All jobs.
    job
        The job.
    logs
        The job's log streams. They must be followed until the archive is written.
    stacks
        The job's stacks by id.

    Raises
    ------
    JobError
        If a part can't be read.
    """
    engine, uid = jobs.engines.find(job.id)
    has_manifest = engine.facts.manifest_kind is not None or job.imported_manifest
    return ArchiveParts(
        job=job,
        replicas=await jobs.replicas(job.id),
        events=await jobs.events(job.id),
        manifest=await manifest_of(engine, uid) if has_manifest else None,
        logs=logs,
        samples=await _samples(jobs.engines, job),
        stacks=stacks,
    )


async def _samples(engines: Engines, job: Job) -> Samples | None:
    engine, uid = engines.find(job.id)
    if not isinstance(engine, HasResources):
        return None
    samples = await engine.samples(uid, SampleSpan(None, None, 5000))
    return samples if samples.source is not None and any(segments for _seconds, segments in samples.tiers) else None


def archive(parts: ArchiveParts) -> Generator[bytes, None, None]:
    """Yield the chunks of the ZIP file (blocking).

    Parameters
    ----------
    parts
        The job.
    """
    sink = Sink()
    streams = [_stream(number, file) for number, file in enumerate(parts.logs)]
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for name, document in _documents(parts, streams):
            target.writestr(member_info(name, time.time()), document)
            yield sink.take()
        for stream, file in zip(streams, parts.logs, strict=True):
            for _written in _log(target, stream, file):
                yield sink.take()
        for number, (_seconds, segments) in enumerate(parts.samples.tiers if parts.samples is not None else ()):
            with target.open(member_info(f"samples/{number}", time.time()), "w", force_zip64=True) as member:
                for segment in segments:
                    member.write(columns_block(segment.columns, segment.width, {}))
                    count = len(segment.columns) * segment.width
                    for at, (begin, seconds) in enumerate(zip(segment.times, segment.seconds, strict=True)):
                        values = segment.values[at * count : (at + 1) * count]
                        member.write(frame_block(begin, seconds, list(values)))
                    yield sink.take()
        for ident, dump in parts.stacks.items():
            target.writestr(member_info(f"stacks/{ident}.json", time.time()), _json(dump))
            yield sink.take()
    yield sink.take()


def _stream(number: int, file: LogFile) -> ArchivedStream:
    name = f"logs/{number:04d}-{_UNSAFE.sub('_', file.stream.id)[:150]}"
    index = f"{name}.index" if file.index is not None else None
    return ArchivedStream(stream=file.stream, log=f"{name}.log", index=index)


def _documents(parts: ArchiveParts, streams: list[ArchivedStream]) -> Iterator[tuple[str, str]]:
    """Yield names and texts of the documents, in which secrets are masked."""
    head = ArchiveHead(
        format="t9kjob-job", version=VERSION, exported_at=time.time(), exporter=version("jupyterlab_t9kjob")
    )
    yield HEAD, _json(head)
    yield "job.json", _json(parts.job)
    yield "spec.json", _json(parts.job.spec, indent=2)
    yield "replicas.json", _json(parts.replicas)
    yield "events.json", _json(parts.events)
    if parts.manifest is not None:
        view = parts.manifest.model_copy(update={"submitted_text": "", "current_text": None})
        yield "manifest.json", _json(view)
        yield "manifest.yaml", to_yaml(without_secrets(parts.manifest.submitted))
    yield "streams.json", _json(streams)
    if parts.samples is not None and parts.samples.source is not None:
        source = parts.samples.source
        described = ArchivedSamples.model_validate(
            {
                "code": source.code,
                "label": source.label,
                "seconds": source.seconds,
                "tiers": [seconds for seconds, _segments in parts.samples.tiers],
                "levels": [asdict(level) for level in parts.samples.levels],
                "notes": dict(parts.samples.notes),
                "missing": dict(parts.samples.missing),
            }
        )
        yield "samples.json", _json(described)


def _json(value: Any, indent: int | None = None) -> str:
    plain = TypeAdapter(type(value)).dump_python(value, mode="json", context=STORED)
    return json.dumps(without_secrets(plain), ensure_ascii=False, indent=indent)


def without_secrets(value: Any) -> Any:
    """Return a JSON value with `MASK` in place of everything that looks like a secret in plain text."""
    if isinstance(value, dict):
        if LAST_APPLIED in value or SPEC in value:
            value = without_copies(value, without_secrets)
        name = value.get("name")
        hides = isinstance(name, str) and isinstance(value.get("value"), str) and is_secret(name, value["value"])
        return {
            key: MASK
            if (key == "value" and hides) or (isinstance(item, str) and is_secret(str(key), item))
            else without_secrets(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return masked(value)
        return [without_secrets(item) for item in value]
    if isinstance(value, str):
        return _json_without_secrets(value) or masked([value])[0]
    return value


def _json_without_secrets(text: str) -> str | None:
    """Return the JSON of an object or array without secrets, unchanged if it has none; None for another text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
        kept = without_secrets(value)
        return text if kept == value else json.dumps(kept, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def _log(target: zipfile.ZipFile, stream: ArchivedStream, file: LogFile) -> Iterator[None]:
    """Write a log and its index; yield after each chunk. A log that can't be opened is left out."""
    try:
        descriptor = open_log(file.path, file.within)
    except OSError:
        return
    try:
        status = os.fstat(descriptor)
        cut = cuts.read(file.cuts)
        with target.open(member_info(stream.log or "", status.st_mtime), "w", force_zip64=True) as member:
            for data in cuts.whole(descriptor, size_of(status), file.cuts):
                member.write(data)
                yield
        if stream.index is None or file.index is None:
            return
        with target.open(member_info(stream.index, status.st_mtime), "w", force_zip64=True) as member:
            for data in _index(file, cut):
                member.write(data)
                yield
    finally:
        os.close(descriptor)


def _index(file: LogFile, cut: cuts.Cut | None) -> Iterator[bytes]:
    """Yield the index of a log in which a line stands in place of removed bytes."""
    try:
        source = file.index.open("rb") if file.index is not None else None
    except OSError:
        return
    if source is None:
        return
    with source:
        while data := source.read(RECORD.size * _RECORDS_AT_ONCE):
            data = data[: len(data) // RECORD.size * RECORD.size]
            if cut is None:
                yield data
                continue
            shift = cut.end - cut.start - len(cut.words)
            records = [
                RECORD.pack(when, size - shift if size > cut.end else min(size, cut.start))
                for when, size in RECORD.iter_unpack(data)
            ]
            yield b"".join(records)
