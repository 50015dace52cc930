"""`t9k.em.lightning`."""

from jupyterlab_t9kjob.em.lightning import EMCallback

__all__ = ["EMCallback"]
