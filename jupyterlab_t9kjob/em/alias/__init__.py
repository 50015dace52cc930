"""`t9k.em` for images without T9k's SDK: the distribution of the recorder has this package under that name."""

from jupyterlab_t9kjob.em import *  # noqa: F403
