"""Uploads runs and artifacts: to the server after a login, otherwise to a folder."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, Sequence

from .. import files
from ..asset import Asset
from . import session
from .client import Client

FOLDER = "EM_UPLOAD_DIR"


class _Flow(Protocol):
    """The data flow of a run."""

    @property
    def associations(self) -> dict[str, list[dict[str, str]]]:
        """Inputs and outputs."""

    def artifacts(self) -> Sequence[tuple[Asset, str]]:
        """Return the artifacts that have a directory here, with their roles."""


def upload_run(run: Asset, flow: _Flow, folder: str, make_folder: bool, conflict_strategy: str) -> None:
    """Upload a run, its artifacts, and its data flow.

    Parameters
    ----------
    run, flow
        The run.
    folder, make_folder, conflict_strategy
        As in `em.upload`.
    """
    if run.local is None:
        return
    client = session.client()
    if client is None:
        _copy(run, "runs", folder, make_folder, conflict_strategy)
        for artifact, _role in flow.artifacts():
            _copy(artifact, "artifacts", folder, make_folder, "new")
        return
    node = _send(client, run, "Run", folder, make_folder, conflict_strategy)
    if node is None:
        return
    links = client.links(node)
    known = {"input": {entry["id"] for entry in links["in"]}, "output": {entry["id"] for entry in links["out"]}}
    ends = [(entry["id"], role) for role in known for entry in flow.associations[role] if entry["kind"] != "Artifact"]
    for artifact, role in flow.artifacts():
        at = _on_server(client, artifact) or _send(client, artifact, "Artifact", folder, make_folder, conflict_strategy)
        if at is not None:
            ends.append((at, role))
    pairs = [
        {"from": end, "to": node} if role == "input" else {"from": node, "to": end}
        for end, role in ends
        if end not in known[role]
    ]
    if pairs:
        client.link(pairs)


def upload_artifact(artifact: Asset, folder: str, make_folder: bool, conflict_strategy: str) -> None:
    """Upload an artifact. An artifact without a directory on this machine is skipped.

    Parameters
    ----------
    artifact
        The artifact.
    folder, make_folder, conflict_strategy
        As in `em.upload`.

    Raises
    ------
    ValueError
        If the folder does not exist and may not be made, or has another artifact of the name and the strategy is
        `error`.
    ServerError
        If the server refuses a request or can't be reached.
    """
    if artifact.local is None:
        return
    client = session.client()
    if client is None:
        _copy(artifact, "artifacts", folder, make_folder, conflict_strategy)
    else:
        _send(client, artifact, "Artifact", folder, make_folder, conflict_strategy)


def download(path: str, kind: str, parent: Path) -> tuple[str, dict[str, str]]:
    """Download a run or artifact; return its directory and the record of the download.

    Parameters
    ----------
    path
        Path on the server.
    kind
        `Run` or `Artifact`.
    parent
        Directory in which its directory is made.

    Raises
    ------
    FileNotFoundError
        If it exists neither here nor on the server.
    """
    client = session.client()
    node = client.node(path) if client is not None else None
    if client is None or node is None:
        where = "here, and no AIStore server is logged in to" if client is None else "here or on the AIStore server"
        raise FileNotFoundError(f"There is no {kind.lower()} {path} {where}.")
    name = str(json.loads(node.get("extra") or "{}").get("alternativeName"))
    if node.get("type") != kind or not files.ALTERNATIVE_NAME.search(name) or "/" in name:
        raise ValueError(f"{path} on the AIStore server is not a {kind.lower()}.")
    target = parent / name
    if target.exists():
        raise FileExistsError(f"{target} exists already. Load that directory.")
    building = parent / f".{name}.new"
    for entry in client.objects(path):
        inside = PurePosixPath(str(entry["path"]).lstrip("/"))
        if ".." in inside.parts:
            raise ValueError(f"{path} on the AIStore server has an object outside of its directory.")
        (building / inside).parent.mkdir(parents=True, exist_ok=True)
        client.download(f"{path}/{inside}", building / inside)
    building.rename(target)
    return os.fspath(target), _entry("download", client, path, str(node["id"]))


def _send(
    client: Client, asset: Asset, kind: str, folder: str, make_folder: bool, conflict_strategy: str
) -> str | None:
    """Upload to the server; return the id of the node, or None if it was skipped."""
    parent = folder.rstrip("/") if folder.startswith("/") else f"/{client.user}/{folder}".rstrip("/")
    if client.node(parent) is None:
        if not make_folder and parent != f"/{client.user}/default":
            raise ValueError(f"The AIStore server has no folder {parent}. Pass make_folder=True to make it.")
        client.make_folder(parent)
    name = asset.name
    other = client.node(f"{parent}/{name}")
    if other is not None and not _is(other, asset):
        if conflict_strategy == "skip":
            return None
        if conflict_strategy == "error":
            raise ValueError(f"The folder {parent} of the AIStore server has another {name}.")
        if conflict_strategy == "replace":
            # Nodes can't be renamed: until this one is complete under the name, it is complete under the other name.
            _fill(client, asset, kind, parent, asset.alternative_name)
            client.delete(f"{parent}/{name}")
        else:
            name = asset.alternative_name
    node = _fill(client, asset, kind, parent, name)
    if conflict_strategy == "replace":
        _remove_double(client, asset, f"{parent}/{asset.alternative_name}", node)
    # A note of an upload that broke off would end the next one.
    asset.add_remote(_entry("upload", client, f"{parent}/{name}", node))
    return node


def _fill(client: Client, asset: Asset, kind: str, parent: str, name: str) -> str:
    """Upload to a node, which is created unless it exists; return its id."""
    path = f"{parent}/{name}"
    found = client.node(path)
    if found is not None:
        node = str(found["id"])
    else:
        extra = {"alternativeName": asset.alternative_name}
        node = client.create(kind, parent, name, labels=asset.labels, description=asset.description, extra=extra)
    assert asset.local is not None  # noqa: S101
    for inside, file in files.walk(Path(asset.local)):
        client.upload(f"{path}/{inside}", file)
    return node


def _remove_double(client: Client, asset: Asset, path: str, node: str) -> None:
    """Remove a node that holds the same run or artifact as another one, unless its upload was noted."""
    double = client.node(path)
    noted = {entry.get("id") for entry in asset.remote}
    if double is not None and str(double["id"]) not in {node, *noted} and _is(double, asset):
        client.delete(path)


def _is(node: dict[str, Any], asset: Asset) -> bool:
    try:
        extra = json.loads(node.get("extra") or "{}")
    except ValueError:
        return False
    return isinstance(extra, dict) and extra.get("alternativeName") == asset.alternative_name


def _on_server(client: Client, artifact: Asset) -> str | None:
    """Return the id of an artifact that was uploaded before; None if the server has it no more."""
    ids = (entry["id"] for entry in artifact.remote if entry.get("host") == client.host and entry.get("id"))
    return next((found for found in ids if client.node(found) is not None), None)


def _entry(action: str, client: Client, path: str, node: str) -> dict[str, str]:
    return {"action": action, "timestamp": files.now(), "host": client.host, "path": path, "id": node}


def _copy(asset: Asset, kind: str, folder: str, make_folder: bool, conflict_strategy: str) -> None:
    """Copy a directory to `<folder>/<kind>/`. A copy of the same run or artifact is replaced."""
    assert asset.local is not None  # noqa: S101
    source = Path(asset.local)
    top = os.environ.get(FOLDER)
    parent = (Path(top) if top else source.absolute().parent.parent / "uploads") / folder
    if not parent.is_dir() and not make_folder and folder != "default":
        raise ValueError(f"There is no folder {parent}. Pass make_folder=True to make it.")
    parent = parent / kind
    parent.mkdir(parents=True, exist_ok=True)
    replaced = []
    for other in parent.iterdir():
        same_name = files.ALTERNATIVE_NAME.sub("", other.name) == f"{asset.name}_"
        if not same_name or other.name == asset.alternative_name or not files.ALTERNATIVE_NAME.search(other.name):
            continue
        if conflict_strategy == "skip":
            return
        if conflict_strategy == "error":
            raise ValueError(f"The folder {parent} has another {asset.name}.")
        if conflict_strategy == "replace":
            replaced.append(other)
    target = parent / asset.alternative_name
    building = parent / f".{asset.alternative_name}.new"
    shutil.rmtree(str(building), ignore_errors=True)
    shutil.copytree(str(source), str(building))
    if target.exists():
        shutil.rmtree(str(target))
    building.rename(target)
    for other in replaced:
        shutil.rmtree(str(other))
