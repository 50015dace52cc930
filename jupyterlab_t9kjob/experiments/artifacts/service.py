"""Answers requests for the data flow and for artifacts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO

from ...contents_paths import ContentsRoot, printable
from ...core.errors import NotFound
from ...core.system.disk_threads import on_disk
from ...core.translation import _
from ...jobs.service import JobService
from ..library.known import Known, run_id
from ..places import Places
from ..removal import Target, artifact_target
from ..service import Experiments
from ..status import Jobs, sentence_of, status_of
from .files import ArtifactFacts, checksum, open_file, read_artifact
from .flow import FlowGraph, FlowRun
from .model import ArtifactDetail, Checksum, Flow, FlowNode, FlowSweep, Preview
from .previews import read_preview

MOST_FOLDERS = 20_000


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
        self._known_places: Places | None = None

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
            top = await self._experiments.folder(folder)
            graph = await self._graph()
            return await on_disk(top, self._kept, graph, lambda: graph.below(top))
        graph = await self._graph()
        if not graph.has_run(ident):
            graph.add_artifact(await self._folder(ident, graph))
        return await on_disk(self._root.folder, self._kept, graph, lambda: graph.around(ident, steps))

    async def artifact(self, ident: str) -> ArtifactDetail:
        """Return an artifact in full. Raises `NotFound`."""
        graph = await self._graph()
        folder = await self._folder(ident, graph)
        return await on_disk(folder, self._detail, ident, folder, graph, await self._places())

    @property
    def root(self) -> Path:
        """The lab's root."""
        return self._root.folder

    async def open(self, ident: str, path: str) -> BinaryIO:
        """Open a file of an artifact. Raises `NotFound`.

        Parameters
        ----------
        ident
            Id of the artifact.
        path
            Path in the artifact.
        """
        folder = await self._folder(ident)
        return await on_disk(folder, open_file, folder, path, await self._places())

    async def preview(self, ident: str, path: str) -> Preview:
        """Return the preview of a file. Raises `NotFound`.

        Parameters
        ----------
        ident
            Id of the artifact.
        path
            Path in the artifact.
        """
        folder = await self._folder(ident)
        return await on_disk(folder, _preview, folder, path, await self._places())

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
        return artifact_target(ident, self._root.api(folder) or "", folder)

    async def _places(self) -> Places:
        if self._known_places is None:
            self._known_places = await on_disk(self._root.folder, Places, self._root.folder)
        return self._known_places

    async def _graph(self) -> FlowGraph:
        library = self._experiments.library
        if not library.areas:
            await library.search(self._root.folder)
        known = [run for run in library.runs.values() if run.facts is not None]
        jobs = Jobs(await self._jobs.jobs())
        runs = await asyncio.to_thread(lambda: [_flow_run(run, jobs) for run in known])
        return await asyncio.to_thread(FlowGraph, runs, await self._places(), self._root.api)

    async def _folder(self, ident: str, graph: FlowGraph | None = None) -> Path:
        """Return the folder of an artifact. Raises `NotFound`."""
        folder = self._folders.get(ident)
        if folder is None:
            graph = graph or await self._graph()
            self._folders.update(
                await on_disk(self._root.folder, _all_artifacts, graph, await self._places(), self._root)
            )
            folder = self._folders.get(ident)
        if folder is None or not await on_disk(folder, (await self._places()).is_artifact, folder):
            self._folders.pop(ident, None)
            raise NotFound(_("The artifact no longer exists."), code="NoSuchArtifact")
        return folder

    def _kept(self, graph: FlowGraph, read: Callable[[], Flow]) -> Flow:
        """Return a graph, and keep the folders of its artifacts (blocking)."""
        answer = read()
        self._folders.update(graph.folders)
        return answer

    def _detail(self, ident: str, folder: Path, graph: FlowGraph, places: Places) -> ArtifactDetail:
        """Return an artifact in full (blocking)."""
        facts: ArtifactFacts = read_artifact(folder, places)
        graph.add_artifact(folder)
        made_by = [source for source, target in graph.neighbours(ident) if target == ident]
        used_by = [target for source, target in graph.neighbours(ident) if source == ident]
        comes_from = [
            source for run in made_by for source, target in graph.neighbours(run) if target == run and source != ident
        ]
        self._folders.update(graph.folders)

        def nodes(idents: list[str]) -> list[FlowNode]:
            return [graph.node(each) for each in dict.fromkeys(idents)]

        return ArtifactDetail(
            id=ident,
            path=printable(self._root.api(folder) or "") or None,
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


def _all_artifacts(graph: FlowGraph, places: Places, root: ContentsRoot) -> dict[str, Path]:
    """Return the folders of all artifacts that runs name, or that lie beside the folders of runs (blocking)."""
    found = graph.artifacts()
    for parent in graph.artifact_parents():
        try:
            with os.scandir(parent) as entries:
                folders = [parent / entry.name for entry, _number in zip(entries, range(MOST_FOLDERS), strict=False)]
        except OSError:
            continue
        found.update({run_id(root.api(folder) or ""): folder for folder in folders if places.is_artifact(folder)})
    return found


def _preview(folder: Path, path: str, places: Places) -> Preview:
    with open_file(folder, path, places) as file:
        return read_preview(file, path, os.fstat(file.fileno()).st_size)


def _advance(work: Generator[None, None, Checksum]) -> Checksum | None:
    """Go on with a checksum (blocking); return it when it is complete."""
    try:
        next(work)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    return None
