"""The graph of runs and artifacts.

An artifact is an input or output of a run. The names of artifacts' folders are nearly unique, so runs are indexed by
the names of their artifacts, and only the folders of artifacts in the answer are looked up on the disk.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...core.translation import Text, _
from ..model import Status
from ..places import Places, artifact_id, artifact_name, place_of
from .model import MOST_NODES, Flow, FlowEdge, FlowNode, FlowSweep

LONGEST_NAME: Final = 500
_SUFFIX: Final = re.compile(r"_\d{6}_\d{6}_([a-z0-9]{6})\Z")


@dataclass(frozen=True)
class FlowRun:
    """Facts of a run that the graph needs.

    Attributes
    ----------
    id, name, suffix, status, sentence, path
        As in the table of runs.
    folder
        Folder of the run on the disk.
    inputs, outputs
        Entries of the run's metadata, of which nothing is checked.
    sweep
        Sweep of the run's job.
    """

    id: str
    name: str
    suffix: str
    status: Status
    sentence: Text
    path: str | None
    folder: Path
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    sweep: FlowSweep | None = None


@dataclass(frozen=True)
class _Link:
    """An input or output of a run, with the key under which other runs name the same thing."""

    run: FlowRun
    entry: Mapping[str, Any]
    key: tuple[str, str]
    is_input: bool


def split_name(folder: str) -> tuple[str, str]:
    """Return name and suffix of the folder of a run or artifact, which ends with a time and six characters."""
    match = _SUFFIX.search(folder)
    return (folder[: match.start()], match[1]) if match else (folder, "")


class FlowGraph:
    """Runs and their artifacts. The methods read from the disk and block.

    Parameters
    ----------
    runs
        All known runs.
    places
        Finds artifacts.
    contents_path
        Returns the path of a folder in the contents API.

    Attributes
    ----------
    folders
        Folders of the artifacts that were reached, by id.
    """

    def __init__(
        self,
        runs: Iterable[FlowRun],
        places: Places,
        contents_path: Callable[[Path], str | None],
    ) -> None:
        self.places, self._contents_path = places, contents_path
        self._runs = {run.id: run for run in runs}
        self._links: dict[str, list[_Link]] = {}
        self._named: dict[tuple[str, str], list[_Link]] = {}
        self._nodes: dict[str, FlowNode] = {}
        self._keys: dict[str, tuple[str, str]] = {}
        self._resolved: dict[tuple[Path, str, tuple[str, str]], str] = {}
        self.folders: dict[str, Path] = {}
        for run in self._runs.values():
            self._links[run.id] = [*_links(run, run.inputs, is_input=True), *_links(run, run.outputs, is_input=False)]
            for link in self._links[run.id]:
                self._named.setdefault(link.key, []).append(link)

    def has_run(self, ident: str) -> bool:
        """Return True if a run has this id."""
        return ident in self._runs

    def artifact_parents(self) -> set[Path]:
        """Return the folders in which recorders put artifacts beside the folders of runs."""
        return {run.folder.parent.parent / "artifacts" for run in self._runs.values()}

    def add_artifact(self, folder: Path) -> str:
        """Add an artifact that perhaps no run names, and return its id."""
        return self._artifact(folder, folder.name, {})

    def around(self, ident: str, steps: int | None = None) -> Flow:
        """Return the graph around a run or artifact.

        Parameters
        ----------
        ident
            Id of the run or of an artifact that was added. An unknown one gives an empty graph.
        steps
            Largest distance from it; None for everything that is connected with it.
        """
        return self._walk([ident] if ident in self._runs or ident in self._nodes else [], steps)

    def below(self, folder: Path) -> Flow:
        """Return the graph of the runs below a folder, with their artifacts."""
        return self._walk([run.id for run in self._runs.values() if run.folder.is_relative_to(folder)], 1)

    def artifacts(self) -> dict[str, Path]:
        """Return the folders of all artifacts that runs name and that are found, by id."""
        found = {}
        for links in self._links.values():
            for link in links:
                folder = self.places.find(link.run.folder, link.entry) if link.key[0] == "" else None
                if folder is not None:
                    found[artifact_id(folder, self._contents_path(folder))] = folder
        return found

    def neighbours(self, ident: str) -> list[tuple[str, str]]:
        """Return the arrows of a node as pairs of ids."""
        if ident in self._runs:
            return [_arrow(link, self._node_of(link)) for link in self._links[ident]]
        links = self._named.get(self._keys.get(ident, ("", "")), [])
        return [_arrow(link, ident) for link in links if self._node_of(link) == ident]

    def node(self, ident: str) -> FlowNode:
        """Return a node that was reached."""
        run = self._runs.get(ident)
        if run is None:
            return self._nodes[ident]
        return FlowNode(
            id=run.id,
            kind="run",
            name=run.name[:LONGEST_NAME],
            suffix=run.suffix,
            status=run.status,
            detail=run.sentence,
            found=True,
            path=run.path,
            sweep=run.sweep,
        )

    def _walk(self, start: list[str], steps: int | None) -> Flow:
        """Return the nodes near the start, nearest first, with all arrows between them."""
        distance = dict.fromkeys(start[:MOST_NODES], 0)
        truncated = len(start) > MOST_NODES
        waiting = deque(distance)
        arrows: dict[tuple[str, str], None] = {}
        while waiting:
            ident = waiting.popleft()
            for arrow in self.neighbours(ident):
                other = arrow[0] if arrow[1] == ident else arrow[1]
                if other not in distance:
                    if steps is not None and distance[ident] >= steps:
                        continue
                    if len(distance) >= MOST_NODES:
                        truncated = True
                        continue
                    distance[other] = distance[ident] + 1
                    waiting.append(other)
                arrows[arrow] = None
        back = _back_arrows(list(distance), list(arrows))
        edges = [FlowEdge(source=arrow[0], target=arrow[1], cycle=arrow in back) for arrow in arrows]
        return Flow(nodes=[self.node(ident) for ident in distance], edges=edges, truncated=truncated)

    def _node_of(self, link: _Link) -> str:
        """Return the id of the artifact or asset of a link; the node is made at the first time."""
        memo = (link.run.folder.parent, str(link.entry.get("localDir")), link.key)
        if memo not in self._resolved:
            self._resolved[memo] = self._asset(link) if link.key[0] else self._named_artifact(link)
        return self._resolved[memo]

    def _named_artifact(self, link: _Link) -> str:
        folder = self.places.find(link.run.folder, link.entry)
        return self._artifact(folder, link.key[1], link.entry)

    def _artifact(self, folder: Path | None, name: str, entry: Mapping[str, Any]) -> str:
        path = self._contents_path(folder) if folder is not None else None
        ident = artifact_id(folder, path) if folder is not None else f"missing-{_digest(name)}"
        shown, suffix = split_name(_printable(name))
        if folder is not None:
            self.folders[ident] = folder
        self._nodes[ident] = FlowNode(
            id=ident,
            kind="artifact",
            name=shown,
            suffix=suffix,
            found=folder is not None,
            path=path,
            place=place_of(folder, path, entry),
        )
        self._keys[ident] = ("", name)
        return ident

    def _asset(self, link: _Link) -> str:
        kind, asset = link.key
        ident = f"asset-{_digest(kind, asset)}"
        path = link.entry.get("path")
        name: str = path if isinstance(path, str) and path else asset
        detail = _("{kind} in Asset Hub", kind=_printable(kind))
        self._nodes[ident] = FlowNode(id=ident, kind="asset", name=_printable(name), detail=detail, found=True)
        self._keys[ident] = link.key
        return ident


def _links(run: FlowRun, entries: Iterable[Any], *, is_input: bool) -> list[_Link]:
    """Return the links of a run. Entries that name nothing are left out."""
    found = {}
    for entry in entries:
        if isinstance(entry, Mapping):
            key = _key(entry)
            if key is not None:
                found[key, str(entry.get("localDir"))] = _Link(run, entry, key, is_input)
    return list(found.values())


def _key(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the key that runs with the same input or output share: for an artifact, an empty text and its name."""
    kind = entry.get("kind")
    if kind == "Artifact":
        name = artifact_name(entry)
        return ("", name) if name else None
    ident = entry.get("id")
    if isinstance(kind, str) and kind and isinstance(ident, str | int) and ident != "":
        return (kind[:LONGEST_NAME], str(ident)[:LONGEST_NAME])
    return None


def _arrow(link: _Link, other: str) -> tuple[str, str]:
    return (other, link.run.id) if link.is_input else (link.run.id, other)


def _back_arrows(nodes: list[str], arrows: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the arrows that lead back to a node on the way to them. Without these, there is no cycle."""
    targets: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in arrows:
        targets[source].append(target)
    has_source = {target for _source, target in arrows}
    done: set[str] = set()
    back: set[tuple[str, str]] = set()
    for start in sorted(nodes, key=lambda node: node in has_source):
        if start in done:
            continue
        way = {start: None}
        stack = [(start, iter(targets[start]))]
        while stack:
            node, rest = stack[-1]
            for target in rest:
                if target in way:
                    back.add((node, target))
                elif target not in done:
                    way[target] = None
                    stack.append((target, iter(targets[target])))
                    break
            else:
                stack.pop()
                way.pop(node)
                done.add(node)
    return back


def _digest(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=12).hexdigest()


def _printable(text: str) -> str:
    """Return a text that can be encoded, of a limited length."""
    return text[:LONGEST_NAME].encode("utf-8", "replace").decode()
