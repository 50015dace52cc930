"""Facts that the local engine declares about its jobs."""

from __future__ import annotations

from typing import Final

from ...core.engine.info import EngineFacts, RestartTexts
from ...core.translation import _, sentences

_NEVER: Final = _("A replica that fails is not restarted.")
_BY_CODE: Final = _("Codes of the system (such as 137 and 143) restart it, those of the script end it.")
_TORCHRUN_CODE: Final = _(
    "With torchrun on, a replica’s code is torchrun’s own, 1 for every failure; the script’s is seen with torchrun off"
    " only."
)

FACTS: Final = EngineFacts(
    shares_lab_filesystem=True,
    runs_on_lab_machine=True,
    queues_sweeps=True,
    runs_in_kernel=True,
    outlives_server=True,
    restart_texts=RestartTexts(
        with_torchrun={
            "Never": _NEVER,
            "OnFailure": _("All nodes start again together, and that counts as one."),
            "ExitCode": sentences(_BY_CODE, _TORCHRUN_CODE) or _BY_CODE,
        },
        without_torchrun={"Never": _NEVER, "OnFailure": _("Counted over all nodes."), "ExitCode": _BY_CODE},
    ),
    description=_(
        "Runs as processes of this machine with the Python of a kernel, and shares CPU, memory and GPUs with what else"
        " runs here."
    ),
)
