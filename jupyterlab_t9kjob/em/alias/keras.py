"""`t9k.em.keras`."""

from jupyterlab_t9kjob.em.keras import EMEvalCallback, EMFitCallback

__all__ = ["EMEvalCallback", "EMFitCallback"]
