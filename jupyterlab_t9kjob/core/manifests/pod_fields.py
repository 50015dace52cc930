"""Fields of a job's pods for which a spec has no field: they become part of `JobSpec.extra`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..running.source import running
from ..spec import JobSpec
from .diagnostics import diagnosed
from .kinds.pod_template import training_container
from .model import Kind
from .registry import KINDS, difference, patched

ChangePod = Callable[[dict[str, Any], dict[str, Any]], None]
"""Changes the `spec` of a pod template and its training container."""


def with_pod_fields(spec: JobSpec, kind: Kind, change: ChangePod) -> JobSpec:
    """Return a spec whose manifest has changed pods.

    Parameters
    ----------
    spec
        The job.
    kind
        The manifest kind.
    change
        Called for the pod template of each replica type.
    """
    form = KINDS[kind]
    job = diagnosed(running(spec))
    manifest = patched(form, job)
    for template in form.templates(manifest):
        pod = template["spec"]
        at = training_container(pod["containers"], form.training)
        if at is not None:
            change(pod, pod["containers"][at])
    return spec.model_copy(update={"extra": difference(form, job, manifest)})
