"""Join `paths.yaml` with the schemas of the pydantic models into one OpenAPI 3.1 document."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from ..core import capacity, job
from ..core.code.model import DEFAULT_LEAVE_OUT
from ..core.engine.terminals import TerminalList
from ..core.evictions.model import MOST_CONTINUATIONS
from ..core.manifests.schema import KindSchema
from ..core.manifests.text.yaml_reader import MOST_BYTES
from ..core.spec import (
    ENV_NAME_PATTERN,
    MAX_INT32,
    MAX_NODES,
    MAX_PRIORITY,
    MAX_PROCESSES,
    NAME_PATTERN,
    NAMESPACE_PATTERN,
)
from ..experiments import model as experiments
from ..experiments.artifacts import model as artifacts
from ..handlers import messages, terminal_messages
from ..jobs.bulk import JobActions, JobActionsResult
from ..jobs.checkpoints import Checkpoints
from ..jobs.history import Space
from ..jobs.metrics.curves import JobCurves
from ..jobs.sweeps.service import SweepResult, SweepResults
from ..launch import model as launch
from ..launch.notebooks.arguments import CELLS, INSTALL
from ..launch.sweeps import model as sweeps
from ..notifications import model as notifications
from ..presets import model as presets
from ..resources import model as resources
from ..snapshots import model as snapshots
from ..stacks import model as stacks
from ..tensorboard import model as tensorboard
from ..tries import model as tries

HERE = Path(__file__).parent
DOCUMENT = HERE / "openapi.json"
REF = "#/components/schemas/{model}"

REQUESTS: dict[str, Any] = {
    "CreateJob": messages.CreateJob,
    "JobActions": JobActions,
    "PrefillRequest": launch.PrefillRequest,
    "PreviewRequest": launch.PreviewRequest,
    "ExpandSweep": sweeps.ExpandSweep,
    "CreateSweep": messages.CreateSweep,
    "ImportJob": messages.ImportJob,
    "ReadManifestRequest": launch.ReadManifestRequest,
    "SavePreset": presets.SavePreset,
    "RenamePreset": presets.RenamePreset,
    "ApplyPreset": presets.ApplyPreset,
    "SnapshotRequest": snapshots.SnapshotRequest,
    "SnapshotDiffRequest": snapshots.SnapshotDiffRequest,
    "RepositoryRequest": snapshots.RepositoryRequest,
    "RestoreRequest": snapshots.RestoreRequest,
    "TryRequest": tries.TryRequest,
    "TakeStacks": stacks.TakeStacks,
    "OpenTensorBoard": tensorboard.OpenTensorBoard,
    "CurvesRequest": experiments.CurvesRequest,
    "ValuesAtRequest": experiments.ValuesAtRequest,
    "EditRun": experiments.EditRun,
    "RemoveRuns": experiments.RemoveRuns,
    "EditArtifact": artifacts.EditArtifact,
    "ChecksumRequest": artifacts.ChecksumRequest,
    "WebhookRules": notifications.WebhookRules,
    "SetWebhook": notifications.SetWebhook,
    "TestWebhook": notifications.TestWebhook,
    "PreviewNotice": notifications.PreviewNotice,
    "Subscribe": messages.Subscribe,
    "LogRequest": messages.LogRequest,
    "TerminalInput": terminal_messages.TerminalInput,
}
ANSWERS: dict[str, Any] = {
    "EngineList": messages.EngineList,
    "JobPage": messages.JobPage,
    "Job": job.Job,
    "JobActionsResult": JobActionsResult,
    "Space": Space,
    "JobCurves": JobCurves,
    "LaunchPreview": launch.LaunchPreview,
    "ReadManifest": launch.ReadManifest,
    "SweepPreview": sweeps.SweepPreview,
    "SweepResult": SweepResult,
    "PresetList": presets.PresetList,
    "Preset": presets.Preset,
    "AppliedPreset": presets.AppliedPreset,
    "SweepResults": SweepResults,
    "Capacity": capacity.Capacity,
    "NodeList": capacity.NodeList,
    "QueueList": capacity.QueueList,
    "VolumeList": messages.VolumeList,
    "KindSchema": KindSchema,
    "ReplicaList": messages.ReplicaList,
    "EventList": messages.EventList,
    "ManifestView": job.ManifestView,
    "Checkpoints": Checkpoints,
    "ResourceView": resources.ResourceView,
    "LogMarkers": resources.LogMarkers,
    "JobCode": snapshots.JobCode,
    "CodeText": snapshots.CodeText,
    "Restored": snapshots.Restored,
    "SnapshotPreview": snapshots.SnapshotPreview,
    "RepositoryFacts": snapshots.RepositoryFacts,
    "FileDiff": snapshots.FileDiff,
    "Try": tries.Try,
    "StackList": stacks.StackList,
    "StackDump": stacks.StackDump,
    "LogStreamList": messages.LogStreamList,
    "Prefill": launch.Prefill,
    "TensorBoardList": messages.TensorBoardList,
    "TensorBoard": tensorboard.TensorBoard,
    "RunTable": experiments.RunTable,
    "RunDetail": experiments.RunDetail,
    "RunRow": experiments.RunRow,
    "Curves": experiments.Curves,
    "ValuesAt": experiments.ValuesAt,
    "Points": experiments.Points,
    "Removal": experiments.Removal,
    "Flow": artifacts.Flow,
    "ArtifactDetail": artifacts.ArtifactDetail,
    "Preview": artifacts.Preview,
    "Checksum": artifacts.Checksum,
    "Notifications": notifications.Notifications,
    "Delivery": notifications.Delivery,
    "NoticePreview": notifications.NoticePreview,
    "ApiError": messages.ApiError,
    "StreamMessage": messages.StreamMessage,
    "LogMessage": messages.LogMessage,
    "TerminalList": TerminalList,
    "TerminalOutput": terminal_messages.TerminalOutput,
}
CONSTANTS: dict[str, Any] = {
    "NAME_PATTERN": NAME_PATTERN,
    "NAMESPACE_PATTERN": NAMESPACE_PATTERN,
    "ENV_NAME_PATTERN": ENV_NAME_PATTERN,
    "ACTIVE_PHASES": sorted(job.ACTIVE_PHASES),
    "NOTEBOOK_CELLS_OPTION": CELLS,
    "NOTEBOOK_INSTALL_OPTION": INSTALL,
    "LEAVE_OUT": DEFAULT_LEAVE_OUT,
    "MANIFEST_BYTES": MOST_BYTES,
    "MAX_INT32": MAX_INT32,
    "MAX_NODES": MAX_NODES,
    "MAX_PROCESSES": MAX_PROCESSES,
    "MAX_PRIORITY": MAX_PRIORITY,
    "MOST_CONTINUATIONS": MOST_CONTINUATIONS,
}
"""Constants that the page needs without a request; `make api` writes them as TypeScript constants."""
PATH_PARTS = {
    "action": {"enum": ["stop", "pause", "resume", "rerun", "remove"]},
    "sweep_action": {"enum": ["stop", "retry"]},
}
QUERY = {"namespace": {"pattern": NAMESPACE_PATTERN}}
"""Schemas that are added to the query parameters of `paths.yaml`, by name."""
# Error answers of all operations, and those of operations with a body.
COMMON = (400, 403, 404, 503)
COMMON_WITH_BODY = (413, 422)
ERRORS = {
    400: "The request is malformed",
    403: "Not logged in, not allowed, or asked from another origin",
    404: "Not found, or asked from another origin",
    409: "The object exists, or its phase does not allow the action",
    413: "The request or the answer is too large",
    422: "A field is invalid",
    502: "The TensorBoard process does not answer",
    503: "The service is unavailable, or the server is stopping",
}


def schemas() -> dict[str, Any]:
    """Return the components: all models of the API as JSON schema 2020-12.

    A model whose schema as a request differs, since fields with a default may be left out, has a second schema whose
    name ends in `Input`.
    """
    inputs: list[tuple[str, JsonSchemaMode, Any]] = [
        (name, "validation", TypeAdapter(model)) for name, model in REQUESTS.items()
    ]
    outputs: list[tuple[str, JsonSchemaMode, Any]] = [
        (name, "serialization", TypeAdapter(model)) for name, model in ANSWERS.items()
    ]
    tops, definitions = TypeAdapter.json_schemas(
        inputs + outputs, ref_template=REF, schema_generator=GenerateJsonSchema
    )
    found: dict[str, Any] = dict(definitions.get("$defs", {}))
    for (name, _mode), schema in tops.items():
        if schema != {"$ref": REF.format(model=name)} and name not in found:
            found[str(name)] = schema
    text = json.dumps(found)
    text = re.sub(r"(\w+)-Input\b", r"\1Input", text)
    text = re.sub(r"(\w+)-Output\b", r"\1", text)
    result: dict[str, Any] = json.loads(text)
    return dict(sorted(result.items()))


def _answer(what: str | None) -> dict[str, Any]:
    if what is None:
        return {"description": "Done"}
    if what == "any":
        return {"description": "OK", "content": {"*/*": {}}}
    if "/" in what:
        return {"description": "OK", "content": {what: {}}}
    schema = {"$ref": REF.format(model=what)}
    return {"description": "OK", "content": {"application/json": {"schema": schema}}}


def _operation(path: str, spec: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"operationId": spec["operationId"], "summary": spec["summary"]}
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": PATH_PARTS.get(name, {"type": "string"})}
        for name in re.findall(r"{(\w+)}", path)
    ]
    for name, schema in spec.get("query", {}).items():
        required = {"required": True} if schema.get("required") else {}
        schema = {key: value for key, value in schema.items() if key != "required"}
        parameters.append({"name": name, "in": "query", **required, "schema": {**schema, **QUERY.get(name, {})}})
    if parameters:
        result["parameters"] = parameters
    if "body" in spec:
        name = spec["body"]
        name = name + "Input" if name + "Input" in components else name
        schema = {"$ref": REF.format(model=name)}
        result["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    answers = {str(code): _answer(what) for code, what in spec.items() if isinstance(code, int)}
    if "x-socket" in spec:
        result["x-socket"] = spec["x-socket"]
        answers["101"] = {"description": "The socket is open"}
    for code in (*COMMON, *(COMMON_WITH_BODY if "body" in spec else ()), *spec.get("errors", [])):
        answers[str(code)] = {**_answer("ApiError"), "description": ERRORS[code]}
    if "any" in spec.values():  # TensorBoard's own answers are passed on.
        for answer in answers.values():
            answer["content"] = {**answer.get("content", {}), "*/*": {}}
        answers["default"] = {"description": "Answer of the TensorBoard process", "content": {"*/*": {}}}
    result["responses"] = dict(sorted(answers.items()))
    return result


def document() -> dict[str, Any]:
    """Return the whole OpenAPI document."""
    components = schemas()
    routes: dict[str, Any] = yaml.safe_load((HERE / "paths.yaml").read_text("utf-8"))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "jupyterlab_t9kjob",
            "version": version("jupyterlab_t9kjob"),
            "description": "Below `t9kjob/` of the Jupyter server's base URL.",
        },
        "security": [{"token": []}],
        "paths": {
            f"/t9kjob/{path}": {verb: _operation(path, spec, components) for verb, spec in verbs.items()}
            for path, verbs in routes.items()
        },
        "x-constants": CONSTANTS,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "`token …` with the Jupyter server's token; pages of the server send a cookie and"
                    " its `X-XSRFToken` instead.",
                }
            },
        },
    }


def main() -> None:
    """Write `openapi.json`."""
    DOCUMENT.write_text(json.dumps(document(), indent=1, ensure_ascii=False) + "\n", "utf-8")
