"""Options of a new job that are fields of its pods: RDMA, and the network of the node."""

from __future__ import annotations

from typing import Any, Final

from ..core.engine.info import EngineFacts
from ..core.errors import FieldError
from ..core.manifests.pod_fields import with_pod_fields
from ..core.spec import JobSpec
from ..core.translation import _
from .options import JobOptions

RDMA: Final = "rdma/hca"
"""Resource of RDMA devices that Arena requests; clusters may have other names."""


def with_pod_options(spec: JobSpec, options: JobOptions, facts: EngineFacts) -> JobSpec:
    """Return a specification whose pods have RDMA devices, or the network of their node.

    Parameters
    ----------
    spec
        The job.
    options
        Values of the user.
    facts
        Facts about the jobs of the engine.

    Raises
    ------
    FieldError
        If the engine's jobs have no pods.
    """
    device = options.rdma_resource or (RDMA if options.rdma else None)
    if device is None and not options.host_network:
        return spec
    if facts.manifest_kind is None:
        raise FieldError(
            _("RDMA and the network of the node are options of pods, which this engine does not have."),
            code="NoPods",
            hint=_("Choose an engine of a cluster, or leave the option out."),
        )

    def change(pod: dict[str, Any], container: dict[str, Any]) -> None:
        if device is not None:
            container.setdefault("resources", {}).setdefault("limits", {})[device] = 1
            # RDMA locks memory, for which the kernel's limit is low.
            capabilities = container.setdefault("securityContext", {}).setdefault("capabilities", {})
            capabilities["add"] = list(dict.fromkeys([*capabilities.get("add", []), "IPC_LOCK"]))
        if options.host_network:
            pod["hostNetwork"] = True
            # Without it, such a pod does not find the services of the cluster by name.
            pod["dnsPolicy"] = "ClusterFirstWithHostNet"

    return with_pod_fields(spec, facts.manifest_kind, change)
