"""Callback for PyTorch Lightning.

>>> trainer = Trainer(callbacks=[EMCallback(run)])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Mapping

from ..secret_values import without_secrets
from .callbacks import base_class, log_by_prefix, plain
from .run import Run

_Base: Any = base_class("lightning.pytorch.callbacks:Callback", "pytorch_lightning.callbacks:Callback")


class EMCallback(_Base):  # type: ignore[misc]
    """Records hyperparameters and logged metrics of a Lightning training.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self._every = 0
        # Lightning keeps the last value of each metric, so the callback notes which of them a hook has just logged.
        self._of_steps: set[str] = set()
        self._of_epochs: set[str] = set()
        self._of_validation: set[str] = set()

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Record the module's hyperparameters.

        The parameters are those of `lightning.pytorch.callbacks.Callback.on_fit_start`.
        """
        self._every = int(getattr(trainer, "log_every_n_steps", 0) or 0)
        hparams = getattr(pl_module, "hparams", None)
        if isinstance(hparams, Mapping) and trainer.is_global_zero:
            self.run.hparams.update(without_secrets(plain(hparams)))

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Record the metrics of a step as often as Lightning logs.

        The parameters are those of `lightning.pytorch.callbacks.Callback.on_train_batch_end`.
        """
        if self._every and trainer.global_step % self._every == 0:
            other = self._of_epochs | self._of_validation
            steps = {name: value for name, value in trainer.logged_metrics.items() if name not in other}
            steps = {name: value for name, value in steps.items() if not name.endswith("_epoch")}
            self._of_steps.update(steps, (_without_step(name) for name in steps))
            self._log(trainer, {_without_step(name): value for name, value in steps.items()}, "train")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the metrics of a validation.

        The parameters are those of `lightning.pytorch.callbacks.Callback.on_validation_end`.
        """
        if getattr(trainer, "sanity_checking", False):
            return
        train = self._of_steps | self._of_epochs
        found = {name: value for name, value in trainer.callback_metrics.items() if name not in train}
        self._of_validation.update(found)
        self._log(trainer, found, "val")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the metrics of an epoch that are not those of its steps or of a validation.

        The parameters are those of `lightning.pytorch.callbacks.Callback.on_train_epoch_end`.
        """
        other = self._of_steps | self._of_validation
        found = {name: value for name, value in trainer.callback_metrics.items() if name not in other}
        self._of_epochs.update(found)
        self._log(trainer, found, "train")

    def on_test_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the metrics of the test.

        The parameters are those of `lightning.pytorch.callbacks.Callback.on_test_epoch_end`.
        """
        self._log(trainer, trainer.callback_metrics, "test")

    def _log(self, trainer: Any, metrics: Mapping[str, Any], default: str) -> None:
        if trainer.is_global_zero and not getattr(trainer, "sanity_checking", False):
            log_by_prefix(self.run, metrics, default, int(trainer.global_step), int(trainer.current_epoch) + 1)


def _without_step(name: str) -> str:
    return name[: -len("_step")] if name.endswith("_step") else name
