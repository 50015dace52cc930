"""Records trainings: hyperparameters, metrics, files. It writes what T9k's `t9k.em` writes, and needs no platform.

The package needs the standard library and, to read files, PyYAML. It runs on Python 3.8, alone: of
`jupyterlab_t9kjob` it imports only `secret_values`, which its distribution has too.

>>> from jupyterlab_t9kjob import em
>>> with em.create_run(name="mnist", hparams={"lr": 0.01}) as run:
...     run.log("train", {"loss": 0.7}, step=1, epoch=1)
"""

from .api import create_artifact, create_run, load_artifact, load_run, login, logout, upload
from .artifact import Artifact
from .autolog import autolog
from .run import Run
from .table import dataframe

__all__ = [
    "Artifact",
    "Run",
    "autolog",
    "create_artifact",
    "create_run",
    "dataframe",
    "load_artifact",
    "load_run",
    "login",
    "logout",
    "upload",
]
