"""The functions of the module `jupyterlab_t9kjob.em`, which are those of T9k's `t9k.em`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping

from . import files
from .artifact import Artifact
from .asset import METADATA, read_metadata
from .process.ranks import records
from .run import HPARAMS, INDEX, METRICS, Run

_STRATEGIES = ("skip", "error", "new", "replace")


def create_run(
    config_path: str | None = None,
    name: str = "default",
    hparams: Mapping[str, Any] | None = None,
    labels: list[str] | None = None,
    description: str = "",
    auto_upload: bool = False,
    folder: str = "default",
    make_folder: bool = False,
    conflict_strategy: str = "new",
    *,
    all_ranks: bool = False,
) -> Run:
    """Create a run in `EM_RUN_PARENT_DIR` (default `.em/runs`).

    In a distributed job rank 0 records; the run of another process does nothing.

    Parameters
    ----------
    config_path
        A YAML file with any of the other arguments; its values win.
    name
        Name of the run: 1 to 40 letters, digits, “-” and “_”.
    hparams
        Hyperparameters; values that JSON can hold.
    labels, description
        Texts for people. The labels of the job are added.
    auto_upload
        Upload the run when it ends.
    folder, make_folder, conflict_strategy
        Arguments of that upload, see `upload`.
    all_ranks
        Record a run in each process of the job.

    Raises
    ------
    ValueError
        If the name is none, or the configuration file has an unknown key.
    """
    wanted: dict[str, Any] = {
        "name": name,
        "hparams": hparams,
        "labels": labels,
        "description": description,
        "auto_upload": auto_upload,
        "folder": folder,
        "make_folder": make_folder,
        "conflict_strategy": conflict_strategy,
    }
    if config_path is not None:
        from .load import read_mapping

        given = read_mapping(Path(config_path))
        unknown = [str(key) for key in given if key not in wanted]
        if unknown:
            raise ValueError(f"{config_path}: unknown keys: {', '.join(unknown)}")
        wanted.update(given)
    upload_to = _upload_to(wanted["auto_upload"], wanted["folder"], wanted["make_folder"], wanted["conflict_strategy"])
    return Run.create(wanted["name"], wanted["hparams"], wanted["labels"], wanted["description"], upload_to, all_ranks)


def load_run(
    path: str,
    auto_upload: bool = False,
    folder: str = "default",
    make_folder: bool = False,
    conflict_strategy: str = "new",
) -> Run:
    """Load a run to record more of it. The run is set to Running again.

    Parameters
    ----------
    path
        The run's directory, or else its path on the AIStore server, from which it is downloaded.
    auto_upload, folder, make_folder, conflict_strategy
        As in `create_run`.

    Raises
    ------
    FileNotFoundError
        If there is no such run.
    ValueError
        If a file of the run can't be read.
    """
    from .load import read_mapping

    upload_to = _upload_to(auto_upload, folder, make_folder, conflict_strategy)
    directory = Path(path)
    entry: dict[str, str] | None = None
    if not directory.is_dir():
        from .server.uploads import download

        found, entry = download(path, "Run", files.parent_directory(files.RUNS))
        directory = Path(found)
    metadata = read_metadata(os.fspath(directory), "Run")
    hparams = read_mapping(directory / HPARAMS)
    index = read_mapping(directory / INDEX).get("metrics") or {}
    types = {kind: target for kind, target in index.items() if (directory / target).is_file()}
    (directory / METRICS).mkdir(exist_ok=True)
    for file in sorted((directory / METRICS).glob("*.yaml")):
        if f"{METRICS}/{file.name}" not in types.values():
            types[file.stem] = f"{METRICS}/{file.name}"
    if not records(all_ranks=False):
        return Run(metadata, None, hparams)
    run = Run(metadata, os.fspath(directory), hparams, types, upload_to)
    run.resume()
    if entry is not None:
        run.add_remote(entry)
    return run


def create_artifact(name: str, labels: list[str] | None = None, description: str = "") -> Artifact:
    """Create an artifact in `EM_ARTIFACT_PARENT_DIR` (default `.em/artifacts`). Rank 0 records.

    Parameters
    ----------
    name
        Name of the artifact: 1 to 40 letters, digits, “-” and “_”.
    labels, description
        Texts for people.
    """
    return Artifact.create(name, labels, description, records(all_ranks=False))


def load_artifact(path: str) -> Artifact:
    """Load an artifact.

    Parameters
    ----------
    path
        The artifact's directory, or else its path on the AIStore server, from which it is downloaded.
    """
    if not Path(path).is_dir():
        from .server.uploads import download

        path, entry = download(path, "Artifact", files.parent_directory(files.ARTIFACTS))
        artifact = Artifact.load(path)
        artifact.add_remote(entry)
        return artifact
    return Artifact.load(path)


def upload(path: str, folder: str = "default", make_folder: bool = False, conflict_strategy: str = "new") -> None:
    """Upload a run or artifact, or all of a parent directory.

    After `login` with a server, they are uploaded to that server. Otherwise they are copied to the folder of that name
    below `EM_UPLOAD_DIR` (default `.em/uploads`).

    Parameters
    ----------
    path
        A directory of a run or artifact, or a directory that contains some.
    folder
        The folder; a path that begins with a slash is absolute, on the server or on the disk.
    make_folder
        Make the folder if it does not exist. The folder `default` is always made.
    conflict_strategy
        What to do if the folder has another run or artifact of the same name: `skip` it, raise an `error`, use the
        alternative name (`new`), or `replace` the other. On a server, `replace` uploads twice: first under the
        alternative name, so that one of both is always complete.
    """
    _check_strategy(conflict_strategy)
    directory = Path(path)
    if not directory.is_dir():
        raise FileNotFoundError(f"There is no directory {path}.")
    if files.ALTERNATIVE_NAME.search(directory.absolute().name):
        _asset(directory).upload(folder, make_folder, conflict_strategy)
        return
    found = [child for child in sorted(directory.iterdir()) if files.ALTERNATIVE_NAME.search(child.name)]
    if not found:
        raise ValueError(f"{path} contains neither runs nor artifacts.")
    for child in found:
        _asset(child).upload(folder, make_folder, conflict_strategy)


def login(ais_host: str | None = None, api_key: str | None = None, timeout: int | None = None) -> None:
    """Choose the AIStore server that `upload` uses.

    Address and key come from the arguments, from `EM_AIS_HOST` and `EM_API_KEY_FILE` or `EM_API_KEY` (set these from a
    Secret), or from T9k's configuration `~/.t9k/t9k-config.yaml`. Without an address, there is no login: a
    warning says so, and `upload` copies to a folder.

    Parameters
    ----------
    ais_host
        Address of the server.
    api_key
        The key, a UUID. Scripts should not pass it: it can end in manifests, logs and the list of processes.
    timeout
        Longest time without an answer, in seconds.

    Raises
    ------
    ValueError
        If there is an address but no key, or one of them is malformed.
    """
    from .server.session import log_in

    log_in(ais_host, api_key, timeout)


def logout() -> None:
    """Forget the AIStore server."""
    from .server.session import log_out

    log_out()


def _asset(directory: Path) -> Run | Artifact:
    """Return the run or artifact of a directory. Nothing is changed."""
    from .load import read_mapping

    if read_mapping(directory / METADATA).get("kind") == "Artifact":
        return Artifact.load(str(directory))
    return Run(read_metadata(str(directory), "Run"), str(directory))


def _check_strategy(strategy: str) -> str:
    if strategy not in _STRATEGIES:
        raise ValueError(f"conflict_strategy is one of {', '.join(_STRATEGIES)}, not {strategy!r}.")
    return strategy


def _upload_to(auto_upload: bool, folder: str, make_folder: bool, conflict_strategy: str) -> dict[str, Any] | None:
    _check_strategy(conflict_strategy)
    chosen = {"folder": folder, "make_folder": make_folder, "conflict_strategy": conflict_strategy}
    return chosen if auto_upload else None
