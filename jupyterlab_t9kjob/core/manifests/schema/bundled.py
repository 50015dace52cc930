"""Schema of a kind from the fields that this package knows, for clusters whose own schema can't be read."""

from __future__ import annotations

import re
from typing import Any, Final

from ...translation import Text, _
from ..kinds.formats import Format
from ..kinds.shapes import MapOf, Plain
from .model import JsonType, KindSchema, SchemaNode, Table

_NAMES: Final[dict[type, JsonType]] = {str: "string", int: "integer", float: "number", bool: "boolean"}

_DESCRIPTIONS: Final[dict[str, Text]] = {
    "apiVersion": _("Version of the schema of this object."),
    "kind": _("Kind of this object."),
    "metadata.name": _("Name of the job, unique in its namespace."),
    "metadata.namespace": _("Namespace of the job."),
    "metadata.labels": _("Labels by which jobs can be selected."),
    "spec.replicaSpecs": _("Types of replicas, each with its number and its pod template."),
    "spec.pytorchReplicaSpecs": _("Types of replicas: Master and Worker, each with its number and its pod template."),
    "*.replicas": _("Number of replicas of this type."),
    "*.restartPolicy": _("When a replica that ended is started again."),
    "*.template": _("Pod template from which the replicas are created."),
    "spec.replicaSpecs[].type": _("Name of this type of replicas."),
    "spec.torchrunConfig": _("Starts the replicas with torchrun."),
    "spec.torchrunConfig.procPerNode": _("Processes for each replica: a number, “gpu”, “cpu” or “auto”."),
    "spec.torchrunConfig.maxRestarts": _("How often torchrun starts the processes again after a failure."),
    "spec.torchrunConfig.rdzvBackend": _("Backend with which the replicas find each other."),
    "spec.torchrunConfig.extraOptions": _("More options of torchrun."),
    "spec.nprocPerNode": _("Processes for each replica: a number, “gpu”, “cpu” or “auto”."),
    "spec.runtimeRef": _("Training runtime of the cluster: the template of the job."),
    "spec.trainer": _("What the training container runs, and on how many nodes."),
    "spec.trainer.numNodes": _("Number of nodes, each with one pod."),
    "spec.trainer.numProcPerNode": _("Processes on each node."),
    "spec.replicatedJobs": _("Jobs that are started together, and together again after a failure."),
    "spec.replicatedJobs[].name": _("Name of the Jobs in this JobSet."),
    "spec.replicatedJobs[].replicas": _("Number of Jobs that are made from this template."),
    "spec.replicatedJobs[].template": _("Template from which the Jobs are created."),
    "spec.failurePolicy": _("What happens when a Job of the JobSet fails."),
    "spec.failurePolicy.maxRestarts": _("Number of restarts after which the job fails."),
    "spec.successPolicy": _("Which Jobs have to succeed."),
    "spec.network": _("Gives the pods names through a headless Service, so that they find each other."),
    "spec.completionMode": _("“Indexed” gives each replica an index, from which its rank follows."),
    "spec.completions": _("Number of replicas that the job has."),
    "spec.parallelism": _("Number of replicas that run at the same time."),
    "spec.elastic": _("Lets the number of replicas change while the job runs."),
    "spec.elasticPolicy": _("Lets the number of replicas change while the job runs."),
    "*.minReplicas": _("Smallest number of replicas with which the job runs."),
    "*.maxReplicas": _("Largest number of replicas."),
    "*.activeDeadlineSeconds": _("Time after which the job fails if it still runs, in seconds."),
    "*.backoffLimit": _("Number of restarts after which the job fails."),
    "spec.runPolicy.cleanUpPolicy": _("Which pods are deleted when the job ends."),
    "spec.runPolicy.cleanPodPolicy": _("Which pods are deleted when the job ends."),
    "*.ttlSecondsAfterFinished": _("Time after the end of the job at which it is deleted, in seconds."),
    "*.suspend": _("Pauses the job: its pods are deleted until this is false."),
    "spec.runMode.pause": _("Pauses the job: its pods are deleted until it is resumed."),
    "spec.runMode.debug": _("Starts the replicas without their command, so that you can log in to them."),
    "spec.scheduler.t9kScheduler.queue": _("Queue of the job."),
    "spec.scheduler.t9kScheduler.priority": _("Priority of the job in its queue."),
    "spec.tensorboardSpec": _("Runs a TensorBoard for the job."),
}

_COMMON: Final = re.compile(r"spec\.((replicaSpecs\[\]|pytorchReplicaSpecs\.[^.]+|elastic(Policy)?|runPolicy)\.)?\w+$")
"""Paths of fields that are described by their last name: kinds have them at different places."""


def bundled_schema(form: Format, note: Text | None = None) -> KindSchema:
    """Return the schema of a kind's known fields. Other fields are not refused, since a cluster may have more.

    Parameters
    ----------
    form
        The kind.
    note
        Sentence that says why the cluster's own schema is not used.
    """
    table = Table()
    root = add_shape(table, form.shape, "")
    return KindSchema(kind=form.kind, source="bundled", note=note, root=root, nodes=table.nodes)


def add_shape(table: Table, shape: Any, path: str) -> int:
    """Add the nodes of a shape to a table; return the index of its own node.

    Parameters
    ----------
    table
        The table.
    shape
        Fields and types, see `core.manifests.kinds.shapes`.
    path
        Dotted path of the value; items of a list are ``[]``.
    """
    said = described(path)
    if isinstance(shape, Plain):
        types = [_NAMES[one] for one in (*shape.types, *shape.lenient) if one in _NAMES]
        return table.add(SchemaNode(types=types, description=said))
    if isinstance(shape, list):
        items = add_shape(table, shape[0], f"{path}[]")
        return table.add(SchemaNode(types=["array"], description=said, items=items))
    if isinstance(shape, MapOf):
        values = add_shape(table, shape.value, f"{path}.*")
        return table.add(SchemaNode(types=["object"], description=said, values=values))
    if isinstance(shape, dict):
        fields = {name: add_shape(table, field, f"{path}.{name}" if path else name) for name, field in shape.items()}
        return table.add(SchemaNode(types=["object"], description=said, fields=fields))
    return table.add(SchemaNode(description=said))


def described(path: str) -> Text | None:
    """Return our own description of a field; None if there is none.

    Parameters
    ----------
    path
        Dotted path of the field in the manifest.
    """
    path = path.replace("spec.replicatedJobs[].template.spec.", "spec.", 1)
    found = _DESCRIPTIONS.get(path)
    if found is None and _COMMON.match(path):
        found = _DESCRIPTIONS.get(f"*.{path.rsplit('.', 1)[-1]}")
    return found
