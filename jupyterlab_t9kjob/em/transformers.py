"""Callback for Hugging Face's Trainer.

>>> trainer = Trainer(..., callbacks=[EMCallback(run)])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Mapping

from .callbacks import base_class, numbers, plain
from .run import Run

_Base: Any = base_class("transformers.trainer_callback:TrainerCallback")
_SUMMARY = ("train_runtime", "train_samples_per_second", "train_steps_per_second", "total_flos", "train_loss")


class EMCallback(_Base):  # type: ignore[misc]
    """Records arguments and logged metrics of Hugging Face's Trainer.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Record the arguments of the training without their tokens, which `to_sanitized_dict` masks.

        The parameters are those of `transformers.TrainerCallback.on_train_begin`.
        """
        if state.is_world_process_zero:
            self.run.hparams.update(plain(args.to_sanitized_dict()))

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        """Record what the trainer logs. The parameters are those of `transformers.TrainerCallback.on_log`."""
        if not state.is_world_process_zero:
            return
        found = numbers(logs)
        epoch = found.pop("epoch", None)
        if "train_runtime" in found:  # the summary at the end
            by_type = {"summary": {name: found[name] for name in found if name in _SUMMARY}}
        else:
            by_type = {
                "val": {name[5:]: value for name, value in found.items() if name.startswith("eval_")},
                "test": {name[5:]: value for name, value in found.items() if name.startswith("test_")},
            }
            taken = ("eval_", "test_")
            by_type["train"] = {name: value for name, value in found.items() if not name.startswith(taken)}
        for kind, values in by_type.items():
            if values:
                self.run.log(kind, values, step=int(state.global_step), epoch=epoch)
