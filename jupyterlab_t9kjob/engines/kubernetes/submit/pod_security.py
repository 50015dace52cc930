"""Pod Security Admission: the standard that a namespace enforces, and the parts of a job that violate it."""

from __future__ import annotations

import time
from typing import Final

from ....core.checks import Check
from ....core.job import Fix
from ....core.manifests.kinds.pod_security import violations
from ....core.spec import JobSpec
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.json_access import part, text
from ..objects.field_paths import field_of
from ..objects.text import listed, named
from ..reasons.admission_rules import OPERATORS_CONTAINER, RESTRICT, SETTING
from .capacity_checks import replicas_of

ENFORCE: Final = "pod-security.kubernetes.io/enforce"
"""Label of a namespace: the API server refuses pods that violate this standard."""
KEEP_SECONDS: Final = 60.0
"""How long the answer about a namespace is used."""


class EnforcedStandards:
    """Reads which standard a namespace enforces, and keeps the answer for `KEEP_SECONDS`."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[float, str | None]] = {}

    async def of(self, api: KubeApi, namespace: str) -> str | None:
        """Return ``restricted``, ``baseline`` or ``privileged``.

        Returns
        -------
        str or None
            None if the namespace has no such label, or this account may not read the namespace.
        """
        key = (api.connection.cluster, namespace)
        kept = self._kept.get(key)
        if kept is not None and time.monotonic() - kept[0] < KEEP_SECONDS:
            return kept[1]
        try:
            level = text(await api.get(f"/api/v1/namespaces/{namespace}"), "metadata", "labels", ENFORCE)
        except Unreachable:
            return None
        except ApiError:
            level = None
        self._kept[key] = (time.monotonic(), level)
        return level


def checks(manifest: Json, spec: JobSpec, namespace: str, level: str | None, *, edited: bool) -> list[Check]:
    """Return what the namespace's standard says about a job; warnings, since an administrator may exempt accounts.

    Parameters
    ----------
    manifest
        The job's object.
    spec
        The job that the manifest stands for.
    namespace
        The job's.
    level
        The standard that the namespace enforces; None if it enforces none, or that is not known.
    edited
        Whether the user wrote the manifest: checks are at its own fields then, else at the spec's.
    """
    if level != "restricted":
        return []
    found = _own(manifest, namespace, edited=edited)
    operators = _operators(manifest, spec, edited=edited)
    return [check for check in (found, operators) if check is not None]


def _own(manifest: Json, namespace: str, *, edited: bool) -> Check | None:
    for pointer, replica in replicas_of(manifest):
        wrong = list(violations(part(replica, "template", "spec")))
        if not wrong:
            continue
        fields = listed([f"{field.strip('/').replace('/', '.')} {demand}" for field, demand in wrong])
        first = f"{pointer}/template/spec{wrong[0][0]}"
        return Check(
            level="warning",
            code="PodSecurity",
            message=f"The namespace {named(namespace)} enforces the restricted Pod Security Standard, and the pods"
            f" don't fit it: {fields}.",
            hint="The cluster refuses such pods. Change these fields." if edited else f"Turn on “{SETTING}”.",
            field=first if edited else field_of(first, manifest) or "/spec/security",
            fix=None if edited else RESTRICT,
        )
    return None


def _operators(manifest: Json, spec: JobSpec, *, edited: bool) -> Check | None:
    roles = part(manifest, "spec", "pytorchReplicaSpecs")
    if not {"Master", "Worker"} <= roles.keys():
        return None
    total = spec.total_replicas
    elastic = not edited and spec.torchrun is not None and len(spec.replica_specs) == 1
    ways = "Make the job elastic, for then it has no such container, or ask" if elastic else "Ask"
    return Check(
        level="warning",
        code="OperatorViolates",
        message=f"The training operator adds its container {OPERATORS_CONTAINER} to the workers. As the operator is"
        " installed by default, that container violates the restricted standard, and the workers are refused.",
        hint=f"{ways} whoever runs the cluster to change the operator's init container.",
        field="/manifest/spec/pytorchReplicaSpecs/Worker" if edited else "/spec/replica_specs/0/replicas",
        fix=Fix(label="Make it elastic", changes={"/spec/elastic": {"min": total, "max": total, "expected": None}})
        if elastic
        else None,
    )
