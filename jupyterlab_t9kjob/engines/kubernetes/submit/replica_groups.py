"""Replicas of a job that is about to be submitted, grouped by what they ask for, and the fields that ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ....core.manifests.kinds.trainer.spelling import INNER
from ....core.manifests.kinds.trainer.spelling import KIND as TRAINJOB
from ....core.manifests.kinds.trainer.trainjob_kind import translate
from ....core.manifests.model import child
from ..client.api import Json
from ..client.json_access import count, part, parts, value
from ..objects.field_paths import field_of
from ..objects.pods.requests import asked_of, shape_of
from ..objects.resources import MEASURED

_SINGLE: Final = "/manifest/spec"
"""Pointer to the only replica type of a kind that has one pod template."""


@dataclass(frozen=True)
class ReplicaGroup:
    """Equal replicas of a job.

    Attributes
    ----------
    pod
        The pod of each replica; only its ``spec``.
    replicas
        Number of replicas.
    pointer
        JSON pointer to the replica type in the manifest.
    """

    pod: Json
    replicas: int
    pointer: str

    @cached_property
    def asked(self) -> dict[str, float]:
        """Amounts that each replica asks of its node, by resource."""
        return asked_of(self.pod)


def groups_of(manifest: Json, least: int | None = None) -> list[ReplicaGroup]:
    """Return the replicas of a job, grouped by what they ask for.

    Parameters
    ----------
    manifest
        The job's object.
    least
        Number of replicas that count, in the manifest's order; None for all of them.
    """
    groups: dict[str, ReplicaGroup] = {}
    left = least
    for pointer, replica in replicas_of(manifest):
        replicas = count(replica, "replicas") if "replicas" in replica else 1
        if left is not None:
            replicas, left = min(replicas, left), max(0, left - replicas)
        pod = {"spec": part(replica, "template", "spec")}
        key = shape_of(pod)
        if key in groups:
            groups[key] = replace(groups[key], replicas=groups[key].replicas + replicas)
        else:
            groups[key] = ReplicaGroup(pod, replicas, pointer)
    return [group for group in groups.values() if group.replicas]


def replicas_of(manifest: Json) -> Iterator[tuple[str, Json]]:
    """Yield each replica type of a job with the JSON pointer to it."""
    for index, one in enumerate(parts(manifest, "spec", "replicaSpecs")):
        yield f"/manifest/spec/replicaSpecs/{index}", one
    if template := part(manifest, "spec", "template"):  # an Indexed Job
        replicas = count(manifest, "spec", "completions") or count(manifest, "spec", "parallelism") or 1
        yield _SINGLE, {"replicas": replicas, "template": template}
    for index, job in enumerate(parts(manifest, "spec", "replicatedJobs")):  # of a JobSet
        fields, times = part(job, "template", "spec"), 1 if value(job, "replicas") is None else count(job, "replicas")
        replicas = count(fields, "completions") or count(fields, "parallelism") or 1
        pointer = f"/manifest/spec/replicatedJobs/{index}/template/spec"
        yield pointer, {"replicas": times * replicas, "template": fields.get("template")}
    if manifest.get("kind") == TRAINJOB:
        # A TrainJob has its pod template only in the form of its kind's own functions.
        spec = part(translate(manifest, INNER)[0], "spec")
        replicas = value(spec, "trainer", "numNodes")
        yield (
            "/manifest/spec",
            {"template": spec.get("template"), **({} if replicas is None else {"replicas": replicas})},
        )
    roles = part(manifest, "spec", "pytorchReplicaSpecs")
    for role in sorted(roles):  # Master before Worker
        yield child("/manifest/spec/pytorchReplicaSpecs", role), part(roles, role)


@dataclass(frozen=True)
class SubmittedJob:
    """A job that is about to be submitted.

    Attributes
    ----------
    manifest
        The job's object.
    groups
        Its replicas that are checked.
    edited
        True if the user wrote the manifest. Checks then point to fields of the manifest, otherwise to fields of the
        specification.
    """

    manifest: Json
    groups: Sequence[ReplicaGroup]
    edited: bool

    def replicas_field(self, group: ReplicaGroup) -> str | None:
        """Return the field with the number of a group's replicas."""
        of_job = group.pointer.endswith("/spec")  # rather than one of several types
        return self._field(f"{group.pointer}/{'completions' if of_job else 'replicas'}")

    def pod_field(self, group: ReplicaGroup, name: str) -> str | None:
        """Return a field of a group's pods.

        Parameters
        ----------
        group
            The group.
        name
            The field's name below the pod's ``spec``.
        """
        return self._field(f"{group.pointer}/template/spec/{name}")

    def resource_field(self, group: ReplicaGroup, resource: str) -> str | None:
        """Return the field by which a group's replicas ask for a resource.

        Parameters
        ----------
        group
            The group.
        resource
            The resource's name: ``nvidia.com/gpu``, ``cpu``.
        """
        spec = f"{group.pointer}/template/spec"
        for index, container in enumerate(parts(group.pod, "spec", "containers")):
            for name in ("limits", "requests"):
                if resource in part(container, "resources", name):
                    field = self._field(child(f"{spec}/containers/{index}/resources/{name}", resource))
                    kind = f"{resource}/{name[:-1]}" if resource in MEASURED else "device"
                    return f"{field}/{kind}" if field is not None and not self.edited else field
        return self._field(f"{spec}/containers/0/resources")

    def _field(self, pointer: str) -> str | None:
        if self.edited and self.manifest.get("kind") == TRAINJOB:
            return "/manifest/spec"  # The template's fields are spread over the manifest.
        return pointer if self.edited else field_of(pointer, self.manifest)
