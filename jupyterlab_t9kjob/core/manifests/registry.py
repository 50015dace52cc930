"""The registered manifest kinds, by name.

A kind is an entry point of the group `jupyterlab_t9kjob.manifest_kinds`: its name is the one that engines declare in
`EngineFacts.manifest_kind`, its object a `.kinds.formats.Format`. A new kind adds a module and an entry point.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, Final

from ..spec import JobSpec
from ..system.entry_points import distribution, unique
from .kinds.formats import Format
from .model import Kind
from .text.merge_patch import apply, diff, merged

log = logging.getLogger(__name__)

GROUP: Final = "jupyterlab_t9kjob.manifest_kinds"


class Kinds(Mapping[Kind, Format]):
    """All kinds of the installed distributions, loaded at the first use.

    A kind that fails to load, or is no `Format`, is logged and omitted.
    """

    @cached_property
    def _formats(self) -> dict[Kind, Format]:
        found: dict[Kind, Format] = {}
        for point in sorted(unique(entry_points(group=GROUP)), key=lambda point: point.name):
            try:
                form = point.load()
                if not isinstance(form, Format):
                    raise TypeError(f"{form!r} is no Format")
                found[point.name] = form
            except Exception:
                owner = distribution(point)
                log.warning("The manifest kind %s of %s could not be loaded.", point.name, owner, exc_info=True)
        return found

    def __getitem__(self, name: Kind) -> Format:
        return self._formats[name]

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)


KINDS: Final = Kinds()


def kind_of_extra(extra: dict[str, Any]) -> Kind | None:
    """Return the kind whose field of replica types occurs in the extra content of a spec; None if there is none."""
    fields = extra.get("spec")
    found = (name for name, form in KINDS.items() if isinstance(fields, dict) and form.replicas in fields)
    return next(found, None)


def patched(form: Format, spec: JobSpec) -> Any:
    """Return the manifest of a spec with its extra content, which may break it.

    Parameters
    ----------
    form
        The manifest's kind.
    spec
        The job.
    """
    return apply(form.build(spec), form.counting(spec))


def difference(form: Format, spec: JobSpec, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the extra content with which a spec has a manifest.

    Parameters
    ----------
    form
        The manifest's kind.
    spec
        The job.
    manifest
        A canonical manifest.
    """
    return merged(diff(form.build(spec), manifest), form.heeded(spec))
