"""Names of jobs whose pods don't have the job's uid, see `NamesJobs`."""

from __future__ import annotations

from typing import NamedTuple

from ..client.api import Json
from ..client.json_access import moment, text


class _Named(NamedTuple):
    """A job with its name: `key` is that of `named_key`, `created` in seconds since the epoch."""

    key: str
    uid: str
    created: float


class NamedJobs:
    """The jobs of a namespace by name, and the pods whose job is not known yet."""

    def __init__(self) -> None:
        self._by_key: dict[str, _Named] = {}
        self._by_uid: dict[str, _Named] = {}
        # Creation times of pods by uid, by the key of their job; a pod may name a job of each of several kinds.
        self._waiting: dict[str, dict[str, float]] = {}
        self._keys_of: dict[str, set[str]] = {}

    def add(self, engine: str, manifest: Json) -> list[str]:
        """Add a job; return the uids of the pods that have waited for it.

        Parameters
        ----------
        engine
            Engine of the job's kind.
        manifest
            The job's object.
        """
        uid = manifest["metadata"]["uid"]
        if uid in self._by_uid:
            return []
        job = _Named(named_key(engine, text(manifest, "metadata", "name") or ""), uid, created_at(manifest))
        self._by_key[job.key] = self._by_uid[uid] = job
        found = self._waiting.pop(job.key, {})
        for pod in found:
            keys = self._keys_of[pod]
            keys.discard(job.key)
            if not keys:
                del self._keys_of[pod]
        return [pod for pod, created in found.items() if created >= job.created]

    def forget(self, uid: str) -> None:
        """Remove a job."""
        job = self._by_uid.pop(uid, None)
        if job is not None and self._by_key.get(job.key) == job:
            del self._by_key[job.key]

    def owner_of(self, engine: str, name: str, pod: Json) -> str | None:
        """Return the uid of the job that a pod names; None if it is not known yet, or is newer than the pod.

        Parameters
        ----------
        engine
            Engine of the job's kind.
        name
            Name of the job.
        pod
            The pod. It waits for its job if that is not known yet.
        """
        key, uid, created = named_key(engine, name), pod["metadata"]["uid"], created_at(pod)
        job = self._by_key.get(key)
        if job is None:
            self._waiting.setdefault(key, {})[uid] = created
            self._keys_of.setdefault(uid, set()).add(key)
            return None
        return job.uid if created >= job.created else None

    def drop(self, pod: str) -> None:
        """Remove a pod that waits, by its uid."""
        for key in self._keys_of.pop(pod, ()):
            pods = self._waiting[key]
            del pods[pod]
            if not pods:
                del self._waiting[key]

    def job_of(self, key: str) -> str | None:
        """Return the uid of the job with a key of `named_key`; None if there is none."""
        job = self._by_key.get(key)
        return job.uid if job is not None else None

    def of(self, uid: str) -> tuple[str, float]:
        """Return the key of a job and its creation time; an empty key for a job without one."""
        job = self._by_uid.get(uid)
        return (job.key, job.created) if job is not None else ("", 0.0)


def named_key(engine: str, name: str) -> str:
    """Return the key of a job, which is no uid.

    Parameters
    ----------
    engine
        Engine of the job's kind.
    name
        Name of the job.
    """
    return f"{engine}/{name}"


def created_at(value: Json) -> float:
    """Return the creation time of an object, in seconds since the epoch; 0 without one."""
    return moment(value, "metadata", "creationTimestamp") or 0.0
