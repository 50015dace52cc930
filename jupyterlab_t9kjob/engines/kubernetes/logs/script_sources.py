"""Sources of the scripts that a job's replicas run, if the lab has mounted their volume."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ....core.lab import Lab, on_volume
from ....core.manifests.entrypoints import program_of, words_of, working_directory
from ....core.running.source import running
from ....core.spec import Mount
from ....core.system.disk_threads import DiskSilent
from ....logs.failures.script_check import ScriptCheck
from ..jobs.snapshot import JobSnapshot


@dataclass(frozen=True)
class Sources:
    """Finds the sources of one job. Only files on the volume of its first script are read.

    Attributes
    ----------
    lab, mounts, namespace
        See `Lab.in_lab`.
    working_dir
        The job's working directory.
    scripts
        Absolute path of the script of each replica, as the job sees it.
    first
        Path of the first of these scripts, as the lab sees it.
    """

    lab: Lab
    mounts: tuple[Mount, ...]
    namespace: str
    working_dir: str
    scripts: Mapping[str, str]
    first: Path

    def check(self, replica: str, started_at: float | None) -> ScriptCheck:
        """Return a check of one attempt's failure against the sources; the check reads them when it is used.

        Parameters
        ----------
        replica
            Name of the replica.
        started_at
            Start of the attempt in seconds since the epoch; None if it is not known.
        """
        begun = 0.0 if started_at is None else started_at + 1.0  # Clusters round times down to whole seconds.
        return ScriptCheck(self.scripts.get(replica), begun, here=self._here)

    def _here(self, file: str) -> str | None:
        path = posixpath.join(self.working_dir, file)
        found, volume = on_volume(path, self.mounts), on_volume(next(iter(self.scripts.values())), self.mounts)
        if found is None or volume is None or found[0] != volume[0]:
            return None
        try:
            here = self.lab.in_lab(path, self.mounts, self.namespace)
        except DiskSilent:
            return None
        return str(here) if here is not None else None


def sources_of(seen: JobSnapshot, lab: Lab | None) -> Sources | None:
    """Return the sources of a job's scripts; None if the lab does not see them (blocking for a short time).

    Parameters
    ----------
    seen
        The job's state.
    lab
        The lab; None if it is not known yet.
    """
    spec = seen.job.spec
    if spec is None or lab is None:
        return None
    spec = running(spec)
    cwd = working_directory(spec) or "/"
    scripts = {}
    for replica in seen.replicas:
        words = words_of(program_of(spec, replica.replica_spec(spec)), cwd)
        script = next((word for word in words if word.endswith(".py")), None)
        if script is not None:
            scripts[replica.name] = posixpath.join(cwd, script)
    if not scripts:
        return None
    mounts = tuple(spec.mounts)
    try:
        here = lab.in_lab(next(iter(scripts.values())), mounts, seen.job.namespace)
    except DiskSilent:
        return None
    return Sources(lab, mounts, seen.job.namespace, cwd, scripts, here) if here is not None else None
