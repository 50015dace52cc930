"""Resource versions of objects, also as numbers.

Kubernetes promises an order of the versions of one resource since 1.35 (KEP-5504); earlier API servers on etcd number
them as well.
"""

from __future__ import annotations

from ..json_access import text
from ..json_text import Json


def revision_of(item: Json) -> int:
    """Return an object's resource version as a number, which grows with each change; 0 if it is not a number."""
    return revision(text(item, "metadata", "resourceVersion") or "")


def revision(version: str) -> int:
    """Return a resource version as a number; 0 if it is not a number."""
    return int(version) if version.isdecimal() and len(version) < 19 else 0


def identity_of(item: Json) -> Json:
    """Return an object with only its uid and resource version."""
    metadata = item["metadata"]
    return {"metadata": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}}
