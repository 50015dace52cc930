"""Gives a manifest names that are valid in a spec, and returns the patch that restores its own names.

A spec has no field for the name of a container. Its replica types are lowercase.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

from ..spec import NAME_PATTERN
from ..texts.job_names import name_from
from ..translation import _
from .kinds.formats import Format, groups_of
from .kinds.pod_template import training_container
from .model import Notes
from .names import CONTAINER
from .text.merge_patch import BY, ORDER


def with_usual_names(form: Format, manifest: dict[str, Any], notes: Notes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Replace the manifest's name, replica types and training container names by names that are valid in a spec.

    Parameters
    ----------
    form
        The manifest's kind.
    manifest
        A canonical manifest; it is copied.
    notes
        Collects a hint for each name that changes.

    Returns
    -------
    manifest, renames
        The manifest with its new names, and the patch that restores the types and containers. The job's own name is
        not restored.
    """
    manifest = deepcopy(manifest)
    metadata = manifest["metadata"]
    metadata.pop("namespace", None)
    given = metadata.pop("generateName", None)
    name = metadata.get("name") or (given or "").rstrip("-.")
    if not re.fullmatch(NAME_PATTERN, name):
        metadata["name"] = name_from(name)
        usual = metadata["name"]
        message = _("The manifest has no name; it becomes {usual}.", usual=usual)
        if name:
            message = _(
                "The name “{name}” can't be had on every engine; it becomes {usual}.", name=name[:80], usual=usual
            )
        notes.hint("Renamed", message, "/manifest/metadata/name")
    else:
        metadata["name"] = name
    renames: dict[str, Any] = {}
    for pointer, group in groups_of(form, manifest["spec"]):
        if form.listed_by:
            name, patch = _rename_group(form, group, notes)
        else:
            name, patch = pointer.rpartition("/")[2], _rename_container(form, group["template"])
        if patch:
            renames[name] = patch
    return manifest, patch_of(form, renames)


def patch_of(form: Format, groups: dict[str, Any]) -> dict[str, Any]:
    """Return the patch of a manifest that changes its replica types.

    Parameters
    ----------
    form
        The manifest's kind.
    groups
        Patch of each replica type by its name; a kind with a single type has at most one.
    """
    if form.single:
        return {"spec": next(iter(groups.values()))} if groups else {}
    head = {BY: form.listed_by} if form.listed_by else {}
    return {"spec": {form.replicas: {**head, **groups}}} if groups else {}


def _rename_group(form: Format, group: dict[str, Any], notes: Notes) -> tuple[str, dict[str, Any]]:
    patch = _rename_container(form, group["template"])
    written = group["type"]
    if not re.fullmatch(NAME_PATTERN, written):
        group["type"] = name_from(written)
        message = _(
            "The replica type “{name}” is called {usual} here; the manifest keeps its own.",
            name=written[:80],
            usual=group["type"],
        )
        notes.hint("Renamed", message, "/manifest/spec/replicaSpecs")
        patch = {"type": written, **patch}
    return group["type"], patch


def _rename_container(form: Format, template: dict[str, Any]) -> dict[str, Any]:
    """Move the training container to the front and give it the usual name; return the patch that undoes both."""
    containers = template["spec"]["containers"]
    index = training_container(containers, form.training)
    if index is None or any(container.get("name") == CONTAINER for container in containers):
        return {}
    training = containers[index]
    written = training.get("name")
    if not written:
        return {}
    patch: dict[str, Any] = {BY: "name", CONTAINER: {"name": written}}
    if index:
        names = [container.get("name") for container in containers]
        patch[ORDER] = [CONTAINER if i == index else name for i, name in enumerate(names)]
    others = [container for i, container in enumerate(containers) if i != index]
    template["spec"]["containers"] = [{**training, "name": CONTAINER}, *others]
    return {"template": {"spec": {"containers": patch}}}
