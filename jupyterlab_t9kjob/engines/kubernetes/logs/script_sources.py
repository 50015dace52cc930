"""Sources of the scripts that a job's replicas run, where the lab has the volume on which they lie."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ....core.lab import Lab, on_volume
from ....core.manifests.entrypoints import program_of, words_of, working_directory
from ....core.spec import Mount
from ....core.system.disk_threads import DiskSilent
from ....logs.failures.script_check import ScriptCheck
from ..jobs.snapshot import JobSnapshot


@dataclass(frozen=True)
class Sources:
    """Finds the sources of one job. Only files on the volume of its first script are read, which `place` is on.

    Attributes
    ----------
    lab, mounts, namespace
        See `Lab.in_lab`.
    working_dir
        The job's.
    scripts
        Absolute path of the script of each replica, as the job sees it.
    place
        The first of these scripts, as the lab sees it.
    """

    lab: Lab
    mounts: tuple[Mount, ...]
    namespace: str
    working_dir: str
    scripts: Mapping[str, str]
    place: Path

    def check(self, replica: str, started_at: float | None) -> ScriptCheck:
        """Return a check with the sources of one attempt of a replica; it reads them when it is asked (blocking)."""
        begun = 0.0 if started_at is None else started_at + 1.0  # clusters tell times in whole seconds, cut off
        return ScriptCheck(self.scripts.get(replica), begun, here=self._here)

    def _here(self, file: str) -> str | None:
        path = posixpath.join(self.working_dir, file)
        found, volume = on_volume(path, self.mounts), on_volume(next(iter(self.scripts.values())), self.mounts)
        if found is None or volume is None or found[0] != volume[0]:
            return None
        try:
            place = self.lab.in_lab(path, self.mounts, self.namespace)
        except DiskSilent:
            return None
        return str(place) if place is not None else None


def sources_of(seen: JobSnapshot, lab: Lab | None) -> Sources | None:
    """Return the sources of a job's scripts; None if the lab has none of them (blocking, but not for long)."""
    spec = seen.job.spec
    if spec is None or lab is None:
        return None
    cwd = working_directory(spec) or "/"
    scripts = {}
    for place in seen.replicas:
        words = words_of(program_of(spec, place.replica_spec(spec)), cwd)
        script = next((word for word in words if word.endswith(".py")), None)
        if script is not None:
            scripts[place.name] = posixpath.join(cwd, script)
    if not scripts:
        return None
    mounts = tuple(spec.mounts)
    try:
        here = lab.in_lab(next(iter(scripts.values())), mounts, seen.job.namespace)
    except DiskSilent:
        return None
    return Sources(lab, mounts, seen.job.namespace, cwd, scripts, here) if here is not None else None
