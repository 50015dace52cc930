"""Facts about jobs that are objects of a cluster, by kind of object."""

from __future__ import annotations

from typing import Final

from ....core.engine.info import EngineFacts, RestartTexts
from ....core.translation import Text, _, sentences

_NEVER: Final = _("A replica that fails is not restarted.")
_TORCHRUN_CODE: Final = _(
    "With torchrun on, a replica’s code is torchrun’s own, 1 for every failure; the script’s is seen with torchrun off"
    " only."
)


def facts_of(
    manifest_kind: str, manifest_object: str, *, restarts: Text, by_code: Text, description: Text | None = None
) -> EngineFacts:
    """Return the facts of an engine whose jobs are objects of a cluster.

    Parameters
    ----------
    manifest_kind, manifest_object
        See `EngineFacts`.
    restarts
        A sentence: what starts again after a failure, and how that is counted.
    by_code
        A sentence: which exit codes restart a replica.
    description
        A sentence: what it means to choose the engine; None to say nothing.
    """
    always = {"Never": _NEVER, "OnFailure": restarts, "Always": restarts}
    return EngineFacts(
        outlives_server=True,
        has_namespaces=True,
        has_pods=True,
        manifest_kind=manifest_kind,
        manifest_object=manifest_object,
        restart_texts=RestartTexts.model_validate(
            {
                "with_torchrun": {**always, "ExitCode": sentences(by_code, _TORCHRUN_CODE)},
                "without_torchrun": {**always, "ExitCode": by_code},
            }
        ),
        description=description,
    )
