"""All sources of runs, in the order in which they are asked whether a folder is one of their runs."""

from __future__ import annotations

from typing import Final

from ..facts import Source
from .event_folder import EventSource
from .mlflow import MlflowSource
from .recorder import RecorderSource
from .wandb import WandbSource

SOURCES: Final[tuple[Source, ...]] = (RecorderSource(), MlflowSource(), WandbSource(), EventSource())
