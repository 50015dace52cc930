"""Rows of the table of runs as JSON. No object is made for a cell, since an answer may have 100 000 of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..core.job import JobSummary
from ..core.translation import translated
from .facts import Facts
from .library.cells import any_number, cell_of, described, json_text, number
from .library.known import Known
from .model import RunRow
from .notes import Note
from .status import reference, sentence_of, status_of

_NO_NOTE: Final = Note()


@dataclass
class Cells:
    """A metric in the table.

    Attributes
    ----------
    name
        Its name.
    stored
        JSON of the cells that the index has, by the runs' numbers in it.
    curve
        True if the small curves are wanted.
    """

    name: str
    stored: Mapping[int, str]
    curve: bool = False
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = f"{json_text(self.name)}:"


class Rows:
    """Writes the rows of one answer.

    Parameters
    ----------
    job_of
        Returns the job of a run.
    notes
        Notes of the user by the ids of runs.
    metrics
        The metrics.
    """

    def __init__(
        self, job_of: Callable[[Known], JobSummary | None], notes: Mapping[str, Note], metrics: Sequence[Cells]
    ) -> None:
        self._job_of = job_of
        self._notes = notes
        self._metrics = metrics
        self._jobs: dict[str, str] = {}
        self._sentences: dict[str, str] = {}

    def row(self, known: Known) -> RunRow:
        """Return the row of a run that was read."""
        return RunRow.model_validate_json(self.text(known).encode("utf-8", "replace"))

    def text(self, known: Known) -> str:
        """Return the row of a run that was read as JSON. It may have lone surrogates."""
        facts = known.facts or Facts(known.source.origin, known.folder.name)
        written = known.written_at
        if known.parts:
            written = max([written, *(part.written_at for part in known.parts)])
        job = self._job_of(known)
        status = status_of(facts, job, written)
        ended = None if status == "running" else facts.ended or written or None
        seconds = max(0.0, ended - facts.started) if ended is not None and facts.started is not None else None
        if status in ("complete", "error"):
            sentence = self._sentences.get(status) or self._sentences.setdefault(
                status, json_text(translated(sentence_of(status, facts, job, None)))
            )
        else:
            sentence = json_text(translated(sentence_of(status, facts, job, known.epoch)))
        return (
            f'{{"id":"{known.id}",{described(facts)},"path":{json_text(known.path)},"status":"{status}"'
            f',"sentence":{sentence},"job":{self._job(job)},"ended_at":{number(ended)},"seconds":{number(seconds)}'
            f',"epoch":{any_number(known.epoch)},{_noted(self._notes.get(known.id, _NO_NOTE))}'
            f',"metrics":{{{",".join(self._cells(known))}}}}}'
        )

    def _cells(self, known: Known) -> list[str]:
        with known.lock:
            if known.loaded:
                series = known.log.series
                return [
                    f"{metric.key}{cell_of(series[metric.name]).text(curve=metric.curve)}"
                    for metric in self._metrics
                    if metric.name in series
                ]
        num = known.num
        if num is None:
            return []
        names = known.names  # The index keeps summaries of metrics that the run no longer has.
        return [
            f"{metric.key}{metric.stored[num]}"
            for metric in self._metrics
            if num in metric.stored and metric.name in names
        ]

    def _job(self, job: JobSummary | None) -> str:
        if job is None:
            return "null"
        found = self._jobs.get(job.id)
        if found is None:
            ref = reference(job)
            found = self._jobs[job.id] = ref.model_dump_json() if ref is not None else "null"
        return found


def _noted(note: Note) -> str:
    if note == _NO_NOTE:
        return '"tags":[],"note":"","archived":false'
    return json_text({"tags": note.tags, "note": note.note, "archived": note.archived})[1:-1]
