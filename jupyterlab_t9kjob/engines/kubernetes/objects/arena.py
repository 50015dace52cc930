"""The user who submitted a job with Arena (github.com/kubeflow/arena), as Arena notes it.

``pkg/argsbuilder/submit.go`` writes the kubeconfig's user into an annotation of every job. The charts put it on the pod
templates, and newer ones on the job as well.
"""

from __future__ import annotations

from typing import Final

from ..client.api import Json
from ..client.json_access import part, text

USER: Final = "arena.kubeflow.org/username"
_ACCOUNT: Final = "system:serviceaccount:"
_MOST: Final = 256


def user_of(manifest: Json) -> str | None:
    """Return who submitted a job with Arena; None if nobody did, as far as its object tells.

    Service accounts, ``system:serviceaccount:NAMESPACE:NAME``, are named without what all of them have in front.
    """
    roles = part(manifest, "spec", "pytorchReplicaSpecs")
    templates = (part(roles, role, "template") for role in sorted(roles))
    found = next((user for one in (manifest, *templates) if (user := text(one, "metadata", "annotations", USER))), None)
    if found is None:
        return None
    return found.removeprefix(_ACCOUNT).rpartition(":")[2][:_MOST] if found.startswith(_ACCOUNT) else found[:_MOST]
