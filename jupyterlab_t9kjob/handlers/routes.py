"""Handlers of the routes in `openapi/paths.yaml`."""

from __future__ import annotations

import re

from tornado.web import RequestHandler

from ..core.errors import NotFound
from ..core.translation import _
from .artifacts import (
    ArtifactArchiveHandler,
    ArtifactChecksumHandler,
    ArtifactFileHandler,
    ArtifactHandler,
    ArtifactPreviewHandler,
    FlowHandler,
)
from .base import ApiHandler, guarded
from .cluster import CapacityHandler, ManifestSchemaHandler, NodesHandler, QueuesHandler, VolumesHandler
from .experiments import CurvesHandler, RemovalHandler, RunHandler, RunsHandler, ValuesAtHandler, ValuesHandler
from .jobs.archives import ImportHandler, JobArchiveHandler
from .jobs.code import (
    CodeFileHandler,
    CodeHandler,
    RepositoryHandler,
    RestoreHandler,
    SnapshotDiffHandler,
    SnapshotHandler,
)
from .jobs.downloads import LogArchiveHandler, LogFileHandler, LogTextHandler
from .jobs.jobs import (
    ActionHandler,
    CheckpointsHandler,
    EnginesHandler,
    EventsHandler,
    JobActionsHandler,
    JobHandler,
    JobsHandler,
    ManifestHandler,
    ReplicasHandler,
    SpaceHandler,
)
from .jobs.logs import LogsHandler
from .jobs.resources import CurvesHandler as JobCurvesHandler
from .jobs.resources import LogMarkersHandler, ResourcesHandler
from .jobs.stacks import StacksHandler
from .jobs.sweeps import SweepActionHandler, SweepHandler, SweepPreviewHandler, SweepsHandler
from .jobs.terminals import TerminalHandler, TerminalsHandler
from .jobs.tries import TriesHandler, TryHandler
from .launch import ManifestTextHandler, PrefillHandler, PreviewHandler
from .notifications import NoticePreviewHandler, NotificationsHandler, RulesHandler, TestHandler, WebhookHandler
from .presets import ApplyPresetHandler, PresetHandler, PresetsHandler
from .stream import StreamHandler
from .tensorboard import (
    TensorBoardHandler,
    TensorBoardPageHandler,
    TensorBoardRestartHandler,
    TensorBoardRootHandler,
    TensorBoardsHandler,
)

ROUTES: dict[str, type[RequestHandler]] = {
    "engines": EnginesHandler,
    "jobs": JobsHandler,
    "job-actions": JobActionsHandler,
    "space": SpaceHandler,
    "jobs/{id}": JobHandler,
    "jobs/{id}/{action}": ActionHandler,
    "jobs/{id}/replicas": ReplicasHandler,
    "jobs/{id}/events": EventsHandler,
    "jobs/{id}/manifest": ManifestHandler,
    "jobs/{id}/checkpoints": CheckpointsHandler,
    "jobs/{id}/stacks": StacksHandler,
    "jobs/{id}/terminals": TerminalsHandler,
    "jobs/{id}/terminal": TerminalHandler,
    "jobs/{id}/resources": ResourcesHandler,
    "jobs/{id}/log-markers": LogMarkersHandler,
    "jobs/{id}/curves": JobCurvesHandler,
    "jobs/{id}/code": CodeHandler,
    "jobs/{id}/code-file": CodeFileHandler,
    "jobs/{id}/restored-code": RestoreHandler,
    "jobs/{id}/logs": LogsHandler,
    "jobs/{id}/logs/{stream}": LogFileHandler,
    "jobs/{id}/log-archive": LogArchiveHandler,
    "jobs/{id}/log-text": LogTextHandler,
    "jobs/{id}/archive": JobArchiveHandler,
    "imported-jobs": ImportHandler,
    "stream": StreamHandler,
    "launch/prefill": PrefillHandler,
    "launch/preview": PreviewHandler,
    "launch/manifest": ManifestTextHandler,
    "launch/sweep": SweepPreviewHandler,
    "launch/presets": PresetsHandler,
    "launch/presets/{id}": PresetHandler,
    "launch/applied-preset": ApplyPresetHandler,
    "sweeps": SweepsHandler,
    "sweeps/{id}": SweepHandler,
    "sweeps/{id}/{sweep_action}": SweepActionHandler,
    "launch/snapshot": SnapshotHandler,
    "launch/snapshot-diff": SnapshotDiffHandler,
    "launch/repository": RepositoryHandler,
    "tries": TriesHandler,
    "tries/{id}": TryHandler,
    "experiments/runs": RunsHandler,
    "experiments/runs/{id}": RunHandler,
    "experiments/runs/{id}/values": ValuesHandler,
    "experiments/curves": CurvesHandler,
    "experiments/values-at": ValuesAtHandler,
    "experiments/removal": RemovalHandler,
    "experiments/flow": FlowHandler,
    "experiments/artifacts/{id}": ArtifactHandler,
    "experiments/artifacts/{id}/preview": ArtifactPreviewHandler,
    "experiments/artifacts/{id}/file": ArtifactFileHandler,
    "experiments/artifacts/{id}/archive": ArtifactArchiveHandler,
    "experiments/artifacts/{id}/checksum": ArtifactChecksumHandler,
    "cluster/queues": QueuesHandler,
    "cluster/capacity": CapacityHandler,
    "cluster/nodes": NodesHandler,
    "cluster/volumes": VolumesHandler,
    "cluster/manifest-schema": ManifestSchemaHandler,
    "notifications": NotificationsHandler,
    "notifications/rules": RulesHandler,
    "notifications/webhook": WebhookHandler,
    "notifications/test": TestHandler,
    "notifications/preview": NoticePreviewHandler,
    "tensorboards": TensorBoardsHandler,
    "tensorboards/{id}": TensorBoardHandler,
    "tensorboards/{id}/restart": TensorBoardRestartHandler,
    "tensorboards/{id}/ui": TensorBoardRootHandler,
    "tensorboards/{id}/ui/{path}": TensorBoardPageHandler,
}
PARTS = {"action": "(stop|pause|resume|rerun|remove)", "sweep_action": "(stop|retry)", "path": "(.*)"}


def pattern(route: str) -> str:
    """Return the regular expression of a route, below the server's base URL."""
    return "/t9kjob/" + re.sub(r"{(\w+)}", lambda match: PARTS.get(match[1], "([^/]+)"), route)


def handlers() -> list[tuple[str, type[RequestHandler]]]:
    """Return the patterns of all routes with their handlers; the last one matches all other addresses."""
    return [*((pattern(route), handler) for route, handler in ROUTES.items()), ("/t9kjob(?:/.*)?", UnknownRoute)]


async def _no_such_route(_handler: ApiHandler, *_args: str) -> None:
    raise NotFound(_("There is no such address."), hint=_("The API is described in jupyterlab_t9kjob/openapi."))


class UnknownRoute(ApiHandler):
    """Answers 404 at all addresses of the extension without a route."""

    # Each verb has a function of its own, since `authorized` keeps the action of the first verb that it sees.
    get, post, put, patch, delete, head = (guarded(_no_such_route) for _verb in range(6))
