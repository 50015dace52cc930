"""Converts a `JobSpec` to a ``TrainJob`` (``trainer.kubeflow.org/v1alpha1``) of Kubeflow Trainer, and back.

A TrainJob runs a runtime of the cluster, with a command of its own, on a number of nodes. The runtime is the one for
PyTorch that Trainer installs, unless the spec names another. The pods are those of one Indexed Job of a JobSet, so
the first has a name by which the others find it. Trainer's own variables (``PET_*``) don't set the rendezvous, and only
some runtimes have them, so the torchrun command has all options, as on other engines.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ....spec import RUNTIME_PATTERN, JobSpec, ReplicaSpec, TrainingRuntime
from ...model import Notes
from ...names import CONTAINER
from ..indexed_job import MOST_BACKOFF, TYPE, add_world, build_metadata, indexed_command, read_part, read_queue
from ..pod_template import build_template, compact
from ..template_reader import read_groups, read_metadata, whole
from ..torchrun.launcher import (
    canonical_command,
    command_in,
    read_launched,
)
from .spelling import GROUP, KIND, NODE, TEMPLATE

API_VERSION: Final = f"{GROUP}/v1alpha1"
TRAINING: Final = CONTAINER
"""Name of the training container in the style `TEMPLATE`; in the pods it has the name that its runtime gives it."""
RUNTIME: Final = "torch-distributed"
OF_NAMESPACE: Final = "TrainingRuntime"
_DEFAULTS: Final = {"suspend": False, "managedBy": f"{GROUP}/trainjob-controller"}
_RUNTIME_DEFAULTS: Final = {"apiGroup": GROUP, "kind": "ClusterTrainingRuntime"}

__all__ = ["API_VERSION", "KIND", "TRAINING", "build", "canonical", "read", "templates"]


# -- from a spec -------------------------------------------------------------------------------------------------------


def build(spec: JobSpec) -> dict[str, Any]:
    """Return the manifest of a spec in the style `TEMPLATE`, without its `extra` and our annotations and variables."""
    replicas, host = spec.total_replicas, _host(spec.name)
    template = build_template(spec, spec.replica_specs[0], indexed_command(spec, host))
    if spec.torchrun is None:
        add_world(template, host, replicas)
    processes = spec.torchrun.proc_per_node if spec.torchrun is not None else 1
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": build_metadata(spec, {}),
        "spec": compact({
            "runtimeRef": _reference(spec.runtime.training_runtime),
            "suspend": spec.paused or None,
            "activeDeadlineSeconds": spec.run_policy.active_deadline_seconds,
            # Without the number, Trainer takes that of the GPUs of a node.
            "trainer": compact({"numNodes": replicas, "numProcPerNode": None if processes == "gpu" else processes}),
            TEMPLATE: template,
        }),
    }  # fmt: skip


def _reference(runtime: TrainingRuntime | None) -> dict[str, Any]:
    if runtime is None:
        return {"name": RUNTIME}
    return compact({"name": runtime.name, "kind": OF_NAMESPACE if runtime.in_namespace else None})


def _host(name: str) -> str:
    """Return the host name of a job's first replica."""
    return f"{name}-{NODE}-0-0.{name}"


# -- canonical form ----------------------------------------------------------------------------------------------------


def canonical(manifest: dict[str, Any], _notes: Notes | None = None) -> dict[str, Any]:
    """Return a manifest of the style `TEMPLATE` in the form of `build`, with the same meaning.

    Parameters
    ----------
    manifest
        A manifest whose fields have the right types.
    """
    spec = {name: value for name, value in manifest["spec"].items() if _DEFAULTS.get(name) != value}
    runtime = spec.get("runtimeRef", {})
    return {
        **manifest,
        "metadata": compact(manifest.get("metadata", {})),
        "spec": compact({
            **spec,
            "runtimeRef": {name: value for name, value in runtime.items() if _RUNTIME_DEFAULTS.get(name) != value},
            "trainer": compact(spec.get("trainer", {})),
            TEMPLATE: canonical_command(spec[TEMPLATE], TRAINING),
        }),
    }  # fmt: skip


# -- to a spec ---------------------------------------------------------------------------------------------------------


def read(manifest: dict[str, Any]) -> JobSpec:
    """Return the spec of a canonical manifest. Fields that the model lacks are ignored.

    Raises
    ------
    pydantic.ValidationError
        If a value is not valid in a spec.
    """
    return read_launched(manifest, lambda launcher: _read_fields(manifest, launcher=launcher), build, _command)


def _command(manifest: dict[str, Any]) -> tuple[Any, Any]:
    return command_in(manifest["spec"][TEMPLATE], TRAINING)


def _read_fields(manifest: dict[str, Any], *, launcher: bool) -> dict[str, Any]:
    spec, name = manifest["spec"], manifest["metadata"]["name"]
    replicas = whole(spec.get("trainer", {}).get("numNodes"), 1, 10_000) or 1
    torchrun, part = read_part(spec[TEMPLATE], _host(name), replicas, TRAINING, launcher=launcher)
    fields = {**read_metadata(manifest), **read_groups([(ReplicaSpec(type=TYPE, replicas=replicas), part)])}
    runtime = fields["runtime"].model_copy(update={"training_runtime": _runtime(spec.get("runtimeRef", {}))})
    return {
        **fields,
        **read_queue(fields),
        "runtime": runtime,
        "torchrun": torchrun,
        "run_policy": {"active_deadline_seconds": whole(spec.get("activeDeadlineSeconds"), 1, MOST_BACKOFF)},
        "paused": spec.get("suspend", False),
    }


def _runtime(reference: dict[str, Any]) -> TrainingRuntime | None:
    """Return the runtime that a canonical reference names; None for the usual one, and for other references."""
    name = reference.get("name", RUNTIME)
    in_namespace = reference == {"name": name, "kind": OF_NAMESPACE}
    if (name == RUNTIME and not in_namespace) or not (in_namespace or reference == {"name": name}):
        return None
    if not re.fullmatch(RUNTIME_PATTERN, name) or len(name) > 253:
        return None
    return TrainingRuntime(name=name, in_namespace=in_namespace)


def templates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pod template of a manifest, in a list. In a cluster's style, it has only the fields of ``trainer``."""
    spec = manifest["spec"]
    if TEMPLATE in spec:
        return [spec[TEMPLATE]] if spec[TEMPLATE] else []
    return [{"spec": {"containers": [spec["trainer"]]}}] if spec.get("trainer") else []
