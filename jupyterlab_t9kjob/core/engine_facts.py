"""Facts that an engine declares about its jobs, so that no other code has to know the engine by name."""

from __future__ import annotations

from pydantic import Field

from .spec import Model, RestartPolicy


class RestartTexts(Model):
    """What each restart policy does on an engine, in a sentence for the form; a policy may be left out."""

    with_torchrun: dict[RestartPolicy, str] = Field(default_factory=dict)
    without_torchrun: dict[RestartPolicy, str] = Field(default_factory=dict)


class EngineFacts(Model):
    """Facts about the jobs of an engine. They never change while the server runs.

    The defaults describe a minimal engine: its jobs run elsewhere, and have neither namespaces nor manifests nor pods.
    """

    shares_lab_filesystem: bool = Field(
        False,
        description="Jobs are processes of the machine or container of this Jupyter server, and see its files at the"
        " same paths.",
    )
    runs_in_kernel: bool = Field(
        False, description="Jobs run with the Python of a kernel; otherwise in a container image."
    )
    has_namespaces: bool = Field(False, description="Jobs live in namespaces that the user can choose.")
    has_pods: bool = Field(False, description="Replicas are pods, with an image, mounts and a node.")
    manifest_kind: str | None = Field(
        None, description="Name of the manifest kind in which jobs are written; null: jobs have no manifest."
    )
    manifest_object: str | None = Field(
        None, description="`kind` of the objects that such manifests describe: “PyTorchJob”; null: no manifest."
    )
    restart_texts: RestartTexts = Field(default_factory=RestartTexts)
