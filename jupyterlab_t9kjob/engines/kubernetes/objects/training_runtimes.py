"""Images and defaults of the training runtimes of Kubeflow Trainer: templates of jobs that an administrator offers.

Sources: Kubeflow Trainer v2.3, the API trainer.kubeflow.org/v1alpha1 and the runtimes in `manifests/base/runtimes`.
"""

from __future__ import annotations

from typing import Final

from ....core.engine.info import RuntimeImage
from ..client.api import Json
from ..client.json_access import part, parts, text, value, whole
from .resources import amounts_of, is_accelerator

GROUP: Final = "trainer.kubeflow.org"
VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")
OF_CLUSTER: Final = "clustertrainingruntimes"
OF_NAMESPACE: Final = "trainingruntimes"
_FRAMEWORK: Final = f"{GROUP}/framework"
_STEP: Final = f"{GROUP}/trainjob-ancestor-step"
_WITH_TORCH: Final = frozenset({None, "torch", "deepspeed", "torchtune"})
"""Frameworks whose images have PyTorch; None stands for a runtime without the label."""


def images_of(runtime: Json) -> list[RuntimeImage]:
    """Return the images in which a runtime trains with PyTorch; usually one, none of another framework.

    Parameters
    ----------
    runtime
        A TrainingRuntime or ClusterTrainingRuntime.
    """
    name = text(runtime, "metadata", "name")
    framework = text(runtime, "metadata", "labels", _FRAMEWORK)
    if name is None or framework not in _WITH_TORCH:
        return []
    processes = value(runtime, "spec", "mlPolicy", "torch", "numProcPerNode")
    found: dict[str, RuntimeImage] = {}
    for job in parts(runtime, "spec", "template", "spec", "replicatedJobs"):
        if not _trains(job):
            continue
        for container in parts(job, "template", "spec", "template", "spec", "containers"):
            image = text(container, "image")
            if image is not None and text(container, "name") in ("node", "trainer"):
                found[image] = RuntimeImage(
                    image=image,
                    runtime=name,
                    namespace=text(runtime, "metadata", "namespace"),
                    framework=framework,
                    nodes=whole(runtime, "spec", "mlPolicy", "numNodes"),
                    processes=str(processes)[:32] if isinstance(processes, str | int) else None,
                    gpus=_gpus(container),
                )
    return list(found.values())


def _gpus(container: Json) -> int | None:
    """Return the number of accelerators that a container has by its runtime; None if it has none."""
    limits = amounts_of(part(container, "resources", "limits"))
    return int(sum(amount for name, amount in limits.items() if is_accelerator(name))) or None


def _trains(job: Json) -> bool:
    """Return True for the replicated job that trains; others load models and data."""
    step = text(part(job, "template", "metadata", "labels"), _STEP)
    return step == "trainer" or (step is None and text(job, "name") == "node")
