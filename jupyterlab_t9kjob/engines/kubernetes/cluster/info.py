"""Description of an engine's cluster for the API."""

from __future__ import annotations

from ....core.engine.info import ClusterInfo
from ....core.translation import Text, _
from ..objects.kinds import JobKind
from .connection import Cluster
from .discovery import Found


def cluster_info(cluster: Cluster, kind: JobKind, found: Found | None) -> ClusterInfo:
    """Return the cluster's address, versions, permissions and staleness, as far as they are known.

    Parameters
    ----------
    cluster
        The connection.
    kind
        The kind of job object that the engine is for.
    found
        Result of the discovery of the kind; None if the cluster does not have it.
    """
    stale = cluster.stale(kind)
    trouble = stale.trouble if stale is not None else None
    return ClusterInfo(
        server=cluster.server,
        context=cluster.api.connection.context if cluster.api is not None else None,
        version=cluster.version,
        found=_found(kind, found),
        rights=cluster.rights(kind, cluster.default_namespace),
        stale_since=stale.since if stale is not None else None,
        stale_code=trouble.code if trouble is not None else None,
        stale_reason=trouble.sentence if trouble is not None else None,
        stale_hint=trouble.hint if trouble is not None else None,
        stale_verbatim=trouble.verbatim if trouble is not None else None,
        image=cluster.lab.image if cluster.lab is not None else None,
        images=cluster.presence.images,
    )


def _found(kind: JobKind, found: Found | None) -> Text:
    if found is None:
        return _("nothing for this engine")
    version = f"{kind.group}/{kind.version}"
    if found.dialect is not None and found.dialect.is_older:
        return _("{kind} of {version}, in its older spelling", kind=kind.kind, version=version)
    return _("{kind} of {version}", kind=kind.kind, version=version)
