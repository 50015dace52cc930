"""The user who submitted a job with Arena (github.com/kubeflow/arena).

Arena's ``pkg/argsbuilder/submit.go`` writes the kubeconfig's user into an annotation. Its charts put the annotation on
the pod templates; newer charts put it on the job as well.
"""

from __future__ import annotations

from typing import Final

from ..client.api import Json
from ..client.json_access import part, text

USER: Final = "arena.kubeflow.org/username"
_ACCOUNT: Final = "system:serviceaccount:"
_MOST: Final = 256


def user_of(manifest: Json) -> str | None:
    """Return the user who submitted a job with Arena; None if its object does not name one.

    A service account ``system:serviceaccount:NAMESPACE:NAME`` is returned as ``NAME``.
    """
    roles = part(manifest, "spec", "pytorchReplicaSpecs")
    templates = (part(roles, role, "template") for role in sorted(roles))
    found = next((user for one in (manifest, *templates) if (user := text(one, "metadata", "annotations", USER))), None)
    if found is None:
        return None
    return found.removeprefix(_ACCOUNT).rpartition(":")[2][:_MOST] if found.startswith(_ACCOUNT) else found[:_MOST]
