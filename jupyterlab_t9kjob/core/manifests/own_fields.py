"""Adds our annotations and environment variables to a manifest, and removes them or copies of secrets again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

from ..spec import ConfigFile, JobSpec
from .entrypoints import log_directory, log_options, record_directory
from .kinds.formats import Format, training_of
from .model import Context
from .names import (
    CONFIG_FILES,
    DISPLAY_NAME,
    ENV,
    ENV_ARTIFACTS,
    ENV_LINE_PREFIX,
    ENV_LOG_DIR,
    ENV_NAME,
    ENV_POD,
    ENV_POD_UID,
    ENV_REQUEST,
    ENV_RUNS,
    ENV_UNBUFFERED,
    LINE_PREFIX,
    OWNER,
    PREFIX,
    REQUEST_ID,
    RERUN_OF,
    SPEC,
)

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_IN_LIST: Final = re.compile(r"/(?:env|args)/")
# Our variables precede the job's own in this order. The last one marks the end of ours.
OUR_ENV: Final = (
    ENV_NAME,
    ENV_REQUEST,
    ENV_LOG_DIR,
    ENV_RUNS,
    ENV_ARTIFACTS,
    "USER",
    "LOGNAME",
    "HOME",
    ENV_UNBUFFERED,
    ENV_LINE_PREFIX,
    ENV_POD,
    ENV_POD_UID,
)


def without_copies(annotations: dict[str, Any], clean: Callable[[Any], Any]) -> dict[str, Any]:
    """Return annotations without copies of the job that may contain secrets.

    kubectl's copy is removed. Our parts of the spec are removed if `clean` changes one of them, or if they can't be
    read; a single variable or argument counts as a secret, because its name is elsewhere.

    Parameters
    ----------
    annotations
        Annotations of an object.
    clean
        Returns a JSON value without secrets.
    """
    kept = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    for ours in (SPEC, CONFIG_FILES):
        if ours in kept and not _is_clean(kept[ours], clean):
            del kept[ours]
    return kept


def _is_clean(annotation: Any, clean: Callable[[Any], Any]) -> bool:
    try:
        named = [(pointer, {pointer.rsplit("/", 1)[-1]: value}) for pointer, value in json.loads(annotation).items()]
        return all(clean(value) == value and not _IN_LIST.search(pointer) for pointer, value in named)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return False


def add_metadata(manifest: dict[str, Any], spec: JobSpec, context: Context) -> None:
    """Add the namespace and our annotations to a manifest.

    Parameters
    ----------
    manifest
        Manifest to change.
    spec
        The job.
    context
        Facts about the submission.
    """
    metadata = manifest["metadata"]
    rest = {key: metadata.pop(key) for key in list(metadata) if key != "name"}
    if context.namespace:
        metadata["namespace"] = context.namespace
    metadata.update(rest)
    ours = {
        DISPLAY_NAME: spec.display_name,
        OWNER: context.owner,
        REQUEST_ID: context.request_id,
        RERUN_OF: context.rerun_of,
        CONFIG_FILES: written_files(spec.config_files),
    }
    metadata["annotations"] = {
        **metadata.get("annotations", {}),
        **{name: value for name, value in ours.items() if value is not None},
    }


def written_files(files: list[ConfigFile]) -> str | None:
    """Return config files as the text of an annotation, by path; None if there are none."""
    return json.dumps({file.path: file.text for file in files}, ensure_ascii=False) if files else None


def read_files(annotation: object) -> list[ConfigFile]:
    """Return the config files of an annotation; none if it can't be read."""
    try:
        texts = json.loads(annotation) if isinstance(annotation, str) else {}
        return [ConfigFile(path=path, text=text) for path, text in texts.items()]
    except (AttributeError, ValueError, RecursionError):
        return []


def add_env(form: Format, manifest: dict[str, Any], spec: JobSpec, context: Context) -> list[str]:
    """Add our variables to the training containers; return the names of those that were added.

    Ours precede the job's own, so that the job's own variables may refer to them. A variable that the job sets itself
    is not added.

    Parameters
    ----------
    form
        The manifest's kind.
    manifest
        Manifest to change.
    spec
        The job.
    context
        Facts about the submission.
    """
    record = record_directory(spec)
    values = {
        ENV_NAME: spec.name,
        ENV_REQUEST: context.request_id,
        ENV_LOG_DIR: log_directory(spec),
        ENV_RUNS: f"{record}/runs" if record else None,
        ENV_ARTIFACTS: f"{record}/artifacts" if record else None,
        "USER": context.user,
        "LOGNAME": context.user,
        "HOME": context.home,
        ENV_UNBUFFERED: None if form.sets_unbuffered else "1",
        # The ranks of a single replica are its local ranks.
        ENV_LINE_PREFIX: LINE_PREFIX if log_options(spec) and (spec.total_replicas > 1 or spec.elastic) else None,
    }
    entries: dict[str, dict[str, Any]] = {
        name: {"name": name, "value": value} for name, value in values.items() if value is not None
    }
    for name, path in ((ENV_POD, "metadata.name"), (ENV_POD_UID, "metadata.uid")):
        entries[name] = {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    added = set()
    for container in training_of(form, manifest):
        own = container.get("env", [])
        taken = {entry.get("name") for entry in own}
        ours = [name for name in OUR_ENV if name in entries and name not in taken]
        added.update(ours)
        container["env"] = [*(deepcopy(entries[name]) for name in ours), *own]
    return [name for name in OUR_ENV if name in added]


def name_request(form: Format, manifest: dict[str, Any], request_id: str) -> None:
    """Give the training containers the id of the submission, if our variables are in the manifest.

    The user's text has no id, or that of the job from which it was copied.

    Parameters
    ----------
    form
        The manifest's kind.
    manifest
        A valid manifest, to change.
    request_id
        The id.
    """
    annotations = manifest["metadata"].get("annotations") or {}
    listed = annotations.get(ENV, "").split(",")
    if ENV_NAME not in listed:
        return
    names = [name for name in listed if name != ENV_REQUEST]
    names.insert(names.index(ENV_NAME) + 1, ENV_REQUEST)
    annotations[ENV] = ",".join(names)
    for container in training_of(form, manifest):
        entries = [entry for entry in container.get("env", []) if entry.get("name") != ENV_REQUEST]
        place = next((at for at, entry in enumerate(entries, 1) if entry.get("name") == ENV_NAME), None)
        if place is not None:
            container["env"] = [*entries[:place], {"name": ENV_REQUEST, "value": request_id}, *entries[place:]]


def take_ours(form: Format, manifest: dict[str, Any]) -> dict[str, str]:
    """Remove the annotations and variables that `render` added.

    Parameters
    ----------
    form
        The manifest's kind.
    manifest
        Manifest to change.

    Returns
    -------
    ours
        The removed annotations, with ``T9KJOB_LOG_DIR`` if that variable was removed.
    """
    annotations = manifest["metadata"].get("annotations", {})
    ours = {name: annotations.pop(name) for name in list(annotations) if name.startswith(PREFIX)}
    names = [name for name in ours.get(ENV, "").split(",") if name in OUR_ENV]
    for container in training_of(form, manifest):
        entries = container.get("env", [])
        end = next((i for i, entry in enumerate(entries, 1) if entry.get("name") == ENV_POD_UID), 0)
        added = [entry for entry in entries[:end] if entry.get("name") in names]
        kept = [entry for entry in entries if not any(entry is other for other in added)]
        container.pop("env", None)
        container.update({"env": kept} if kept else {})
        for entry in added:
            if entry["name"] == ENV_LOG_DIR:
                ours.setdefault(ENV_LOG_DIR, entry.get("value", ""))
    return ours
