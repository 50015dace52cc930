"""Pod Security Admission: the standard that a namespace enforces, and the parts of a job that violate it."""

from __future__ import annotations

import time
from typing import Final

from ....core.checks import Check
from ....core.job import Fix
from ....core.manifests.kinds.pod_security import violations
from ....core.manifests.kinds.trainer.spelling import KIND as TRAINJOB
from ....core.spec import JobSpec
from ....core.translation import _, listing
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.json_access import part, text
from ..objects.field_paths import field_of
from ..objects.text import named
from ..reasons.admission_rules import OPERATORS_CONTAINER, RESTRICT, SETTING
from .replica_groups import replicas_of

ENFORCE: Final = "pod-security.kubernetes.io/enforce"
"""Label of a namespace: the API server refuses pods that violate this standard."""
KEEP_SECONDS: Final = 60.0
"""Time for which the answer about a namespace is used."""
_MOST_NAMED: Final = 3
"""Number of violations that a message lists."""


class EnforcedStandards:
    """Reads which standard a namespace enforces, and keeps the answer for `KEEP_SECONDS`."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[float, str | None]] = {}

    async def of(self, api: KubeApi, namespace: str) -> str | None:
        """Return the standard that a namespace enforces: ``restricted``, ``baseline`` or ``privileged``.

        Parameters
        ----------
        api
            The connection to the cluster.
        namespace
            The namespace.

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
    """Return where a job violates the standard of its namespace; warnings, since administrators may exempt accounts.

    Parameters
    ----------
    manifest
        The job's object.
    spec
        The job's specification.
    namespace
        The job's namespace.
    level
        The standard that the namespace enforces; None if it enforces none, or if the standard is not known.
    edited
        True if the user wrote the manifest. Checks then point to fields of the manifest, otherwise to fields of the
        specification.
    """
    if level != "restricted" or manifest.get("kind") == TRAINJOB:  # A TrainJob's runtime may have the fields.
        return []
    found = _own(manifest, namespace, edited=edited)
    operators = _operators(manifest, spec, edited=edited)
    return [check for check in (found, operators) if check is not None]


def _own(manifest: Json, namespace: str, *, edited: bool) -> Check | None:
    """Return the violations of the job's own pods; None if there are none."""
    for pointer, replica in replicas_of(manifest):
        wrong = list(violations(part(replica, "template", "spec")))
        if not wrong:
            continue
        fields = [_("{field}: {demand}", field=named(_dotted(field)), demand=demand) for field, demand in wrong]
        first = f"{pointer}/template/spec{wrong[0][0]}"
        return Check(
            level="warning",
            code="PodSecurity",
            message=_(
                "The namespace {namespace} enforces the restricted Pod Security Standard, and the pods don't fit it:"
                " {fields}.",
                namespace=named(namespace),
                fields=listing(fields, _MOST_NAMED),
            ),
            hint=_("The cluster refuses such pods. Change these fields.")
            if edited
            else _("Turn on “{setting}”.", setting=SETTING),
            field=first if edited else field_of(first, manifest) or "/spec/security",
            fix=None if edited else RESTRICT,
        )
    return None


def _dotted(pointer: str) -> str:
    """Return a JSON pointer as the API server writes fields: ``containers.0.securityContext``."""
    return pointer.strip("/").replace("/", ".")


def _operators(manifest: Json, spec: JobSpec, *, edited: bool) -> Check | None:
    """Return that a container which the training operator adds violates the standard; None if it adds none."""
    roles = part(manifest, "spec", "pytorchReplicaSpecs")
    if not {"Master", "Worker"} <= roles.keys():
        return None
    total = spec.total_replicas
    elastic = not edited and spec.torchrun is not None and len(spec.replica_specs) == 1
    if elastic:
        hint = _(
            "Make the job elastic: then it has no such container. Or ask whoever runs the cluster to change the"
            " operator's init container."
        )
    else:
        hint = _("Ask whoever runs the cluster to change the operator's init container.")
    return Check(
        level="warning",
        code="OperatorViolates",
        message=_(
            "The training operator adds its container {container} to the workers. With the operator's default settings,"
            " that container violates the restricted standard, and the workers are refused.",
            container=OPERATORS_CONTAINER,
        ),
        hint=hint,
        field="/manifest/spec/pytorchReplicaSpecs/Worker" if edited else "/spec/replica_specs/0/replicas",
        fix=Fix(label=_("Make it elastic"), changes={"/spec/elastic": {"min": total, "max": total, "expected": None}})
        if elastic
        else None,
    )
