"""Callbacks for Keras.

>>> model.fit(x, y, callbacks=[EMFitCallback(run)])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Mapping

from .callbacks import base_class, numbers, plain
from .run import Run

_Base: Any = base_class("keras.callbacks:Callback", "tensorflow.keras.callbacks:Callback")


class EMFitCallback(_Base):  # type: ignore[misc]
    """Records hyperparameters and metrics of `fit`.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Record optimizer and loss."""
        loss = getattr(self.model, "loss", None)
        name = loss if isinstance(loss, str) else getattr(loss, "name", None) or getattr(loss, "__name__", None)
        found = {"optimizer": plain(self.model.optimizer.get_config())}
        self.run.hparams.update({**found, "lossType": name} if name else found)

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the metrics of an epoch. The parameters are those of `keras.callbacks.Callback.on_epoch_end`."""
        found = numbers(logs)
        training = {name: value for name, value in found.items() if not name.startswith("val_")}
        validation = {name[4:]: value for name, value in found.items() if name.startswith("val_")}
        for kind, values in (("train", training), ("val", validation)):
            if values:
                self.run.log(kind, values, step=_step(self.model), epoch=int(epoch) + 1)


class EMEvalCallback(_Base):  # type: ignore[misc]
    """Records metrics of `evaluate`.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    def on_test_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Record the metrics."""
        found = numbers(logs)
        if found:
            self.run.log("test", found, step=_step(self.model))


def _step(model: Any) -> int:
    iterations = model.optimizer.iterations
    return int(iterations.numpy() if hasattr(iterations, "numpy") else iterations)
