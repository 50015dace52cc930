"""Callback for PyTorch Lightning.

>>> trainer = Trainer(callbacks=[EMCallback(run)])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Mapping

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

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Record the module's hyperparameters."""
        self._every = int(getattr(trainer, "log_every_n_steps", 0) or 0)
        hparams = getattr(pl_module, "hparams", None)
        if isinstance(hparams, Mapping) and trainer.is_global_zero:
            self.run.hparams.update(plain(hparams))

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Record the metrics of a step as often as Lightning logs."""
        if self._every and trainer.global_step % self._every == 0:
            steps = {name.replace("_step", ""): value for name, value in trainer.logged_metrics.items()}
            self._log(trainer, {name: value for name, value in steps.items() if not name.endswith("_epoch")}, "train")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the metrics of an epoch if there was no validation that recorded them."""
        self._log(trainer, trainer.callback_metrics, "train")

    def on_test_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the metrics of the test."""
        self._log(trainer, trainer.callback_metrics, "test")

    def _log(self, trainer: Any, metrics: Mapping[str, Any], default: str) -> None:
        if trainer.is_global_zero and not getattr(trainer, "sanity_checking", False):
            log_by_prefix(self.run, metrics, default, int(trainer.global_step), int(trainer.current_epoch) + 1)
