"""Answers requests for the data flow and for artifacts."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ...contents_paths import ContentsRoot, printable
from ...core.errors import NotFound, TooLarge
from ...core.system.disk_threads import on_disk
from ...core.translation import _
from ...jobs.service import JobService
from ..library.known import Known
from ..places import Places, artifact_id, place_of
from ..removal import Target, artifact_target, refusal
from ..service import Experiments
from ..status import Jobs, sentence_of, status_of
from .files import MOST_WALKED, MOST_ZIPPED, ArtifactFacts, checksum, counted, open_file, read_artifact, zipped
from .flow import FlowGraph, FlowRun
from .model import ArtifactDetail, Checksum, EditArtifact, Flow, FlowNode, FlowSweep, Preview
from .previews import read_preview

MOST_FOLDERS = 20_000
COUNT_SECONDS = 1.0
"""Time for which the files of artifacts are counted for one answer."""


class Artifacts:
    """Artifacts and their graph.

    Parameters
    ----------
    experiments
        The runs.
    jobs
        The jobs, for the status of runs.
    """

    def __init__(self, experiments: Experiments, jobs: JobService) -> None:
        self._experiments, self._jobs, self._root = experiments, jobs, experiments.root
        self._folders: dict[str, Path] = {}

    async def flow(self, ident: str | None, folder: str, steps: int | None) -> Flow:
        """Return the graph around a run or artifact, or of the runs below a folder.

        Parameters
        ----------
        ident
            Id of the run or artifact; None for a folder.
        folder
            Folder in the contents API.
        steps
            Largest distance from the run or artifact; None for everything that is connected with it.
        """
        if ident is None:
            top = await self._experiments.lookup.folder(folder)
            graph = await self._graph()
            return await on_disk([top, *graph.places.tops], self._kept, graph, lambda: graph.below(top))
        graph = await self._graph()
        if not graph.has_run(ident):
            graph.add_artifact(await self._folder(ident, graph))
        return await on_disk(graph.places.tops, self._kept, graph, lambda: graph.around(ident, steps))

    async def artifact(self, ident: str) -> ArtifactDetail:
        """Return an artifact in full. Raises `NotFound`."""
        graph = await self._graph()
        folder = await self._folder(ident, graph)
        return await on_disk([folder, *graph.places.tops], self._detail, ident, folder, graph)

    async def edit(self, ident: str, request: EditArtifact) -> ArtifactDetail:
        """Archive or restore an artifact. Raises `NotFound`.

        Parameters
        ----------
        ident
            Id of the artifact.
        request
            The change.
        """
        await self._folder(ident)
        notes = self._experiments.notes
        await on_disk(notes.path, notes.change, ident, lambda note: replace(note, archived=request.archived))
        return await self.artifact(ident)

    async def archive(self, ident: str) -> tuple[Path, Generator[bytes, None, None]]:
        """Return the folder of an artifact, and the chunks of a ZIP file of it. Raises `NotFound` or `TooLarge`."""
        folder = await self._folder(ident)
        places = await self._places()
        facts = await on_disk(folder, read_artifact, folder, places)
        size = facts.size
        if facts.more_files:
            raise TooLarge(
                _(
                    "The artifact has more than {most:,} files, the most that are sent as a ZIP file.",
                    most=MOST_WALKED,
                ),
                hint=_("Copy its folder in a terminal, or download files one by one."),
            )
        if size > MOST_ZIPPED:
            raise TooLarge(
                _(
                    "The artifact has {size:.0f} GB. At most {most:.0f} GB are sent as a ZIP file.",
                    size=size / 1e9,
                    most=MOST_ZIPPED / 1e9,
                ),
                hint=_("Download the files one by one."),
            )
        return folder, zipped(folder, places)

    async def open(self, ident: str, path: str) -> tuple[Path, BinaryIO]:
        """Return the folder of an artifact, and one of its files, opened. Raises `NotFound`.

        Parameters
        ----------
        ident
            Id of the artifact.
        path
            Path in the artifact.
        """
        folder = await self._folder(ident)
        return folder, await on_disk(folder, open_file, folder, path, await self._places())

    async def preview(self, ident: str, path: str, *, as_text: bool = False) -> Preview:
        """Return the preview of a file. Raises `NotFound`.

        Parameters
        ----------
        ident
            Id of the artifact.
        path
            Path in the artifact.
        as_text
            True to show a table in a text file as text.
        """
        folder = await self._folder(ident)
        return await on_disk(folder, _preview, folder, path, as_text, await self._places())

    async def checksum(self, ident: str, path: str) -> Checksum:
        """Return the checksums of a file, which is read to its end. Cancelling the task ends the work.

        Parameters
        ----------
        ident
            Id of the artifact.
        path
            Path in the artifact.
        """
        folder = await self._folder(ident)
        file = await on_disk(folder, open_file, folder, path, await self._places())
        work = checksum(file, path)
        try:
            result = None
            while result is None:
                result = await on_disk(folder, _advance, work)
            return result
        finally:
            file.close()

    async def removal_target(self, ident: str) -> Target | None:
        """Return the folder of an artifact, to delete it; None if there is no such artifact."""
        try:
            folder = await self._folder(ident)
        except NotFound:
            return None
        path = self._root.api(folder)
        if path is None:
            raise refusal(folder)
        return artifact_target(ident, path, folder)

    async def _places(self) -> Places:
        return await self._experiments.job_runs.places()

    async def _graph(self) -> FlowGraph:
        library = self._experiments.library
        await self._experiments.lookup.wait_for_all()
        known = [run for run in library.runs.values() if run.facts is not None]
        jobs = Jobs(await self._jobs.jobs())
        runs = await asyncio.to_thread(lambda: [_flow_run(run, jobs) for run in known])
        return await asyncio.to_thread(FlowGraph, runs, await self._places(), self._root.api)

    async def _folder(self, ident: str, graph: FlowGraph | None = None) -> Path:
        """Return the folder of an artifact. Raises `NotFound`."""
        folder = self._folders.get(ident)
        if folder is None:
            graph = graph or await self._graph()
            self._folders.update(await on_disk(graph.places.tops, _all_artifacts, graph, self._root))
            folder = self._folders.get(ident)
        if folder is None or not await on_disk(folder, (await self._places()).is_artifact, folder):
            self._folders.pop(ident, None)
            raise NotFound(_("The artifact no longer exists."), code="NoSuchArtifact")
        return folder

    def _kept(self, graph: FlowGraph, read: Callable[[], Flow]) -> Flow:
        """Return a graph, and keep the folders of its artifacts (blocking)."""
        answer = read()
        self._folders.update(graph.folders)
        notes = self._experiments.notes.all()
        end = time.monotonic() + COUNT_SECONDS
        for node in answer.nodes:
            folder = graph.folders.get(node.id)
            if folder is None:
                continue
            node.archived = node.id in notes and notes[node.id].archived
            if time.monotonic() < end and (found := counted(folder, graph.places)) is not None:
                node.files, node.size = found
        return answer

    def _detail(self, ident: str, folder: Path, graph: FlowGraph) -> ArtifactDetail:
        """Return an artifact in full (blocking)."""
        facts: ArtifactFacts = read_artifact(folder, graph.places)
        graph.add_artifact(folder)
        made_by = [source for source, target in graph.neighbours(ident) if target == ident]
        used_by = [target for source, target in graph.neighbours(ident) if source == ident]
        comes_from = [
            source for run in made_by for source, target in graph.neighbours(run) if target == run and source != ident
        ]
        self._folders.update(graph.folders)

        def nodes(idents: list[str]) -> list[FlowNode]:
            return [graph.node(each) for each in dict.fromkeys(idents)]

        path = self._root.api(folder)
        note = self._experiments.notes.all().get(ident)
        return ArtifactDetail(
            id=ident,
            path=printable(path) if path is not None else None,
            place=place_of(folder, path, {}),
            archived=note is not None and note.archived,
            made_by=nodes(made_by),
            comes_from=nodes(comes_from),
            used_by=nodes(used_by),
            **vars(facts),
        )


def _flow_run(known: Known, jobs: Jobs) -> FlowRun:
    facts = known.facts
    assert facts is not None  # noqa: S101
    job = jobs.of(facts)
    status = status_of(facts, job, known.written_at)
    return FlowRun(
        id=known.id,
        name=facts.name,
        suffix=facts.suffix,
        status=status,
        sentence=sentence_of(status, facts, job, None),
        path=printable(known.path) if known.path is not None else None,
        folder=known.folder,
        inputs=tuple(facts.associations.get("input", ())),
        outputs=tuple(facts.associations.get("output", ())),
        sweep=FlowSweep(id=job.sweep.id, name=job.sweep.name) if job is not None and job.sweep is not None else None,
    )


def _all_artifacts(graph: FlowGraph, root: ContentsRoot) -> dict[str, Path]:
    """Return the folders of all artifacts that runs name, or that lie beside the folders of runs (blocking)."""
    found = graph.artifacts()
    for parent in graph.artifact_parents():
        try:
            with os.scandir(parent) as entries:
                folders = [parent / entry.name for entry, _number in zip(entries, range(MOST_FOLDERS), strict=False)]
        except OSError:
            continue
        found.update(
            {artifact_id(folder, root.api(folder)): folder for folder in folders if graph.places.is_artifact(folder)}
        )
    return found


def _preview(folder: Path, path: str, as_text: bool, places: Places) -> Preview:
    with open_file(folder, path, places) as file:
        return read_preview(file, path, os.fstat(file.fileno()).st_size, as_text=as_text)


def _advance(work: Generator[None, None, Checksum]) -> Checksum | None:
    """Go on with a checksum (blocking); return it when it is complete."""
    try:
        next(work)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    return None
