"""Entry points of the engines in a cluster. All engines share one connection."""

from __future__ import annotations

from ...core.engine.context import EngineContext
from ...core.engine.protocol import Engine
from .cluster.connection import Cluster
from .cluster.settings import Settings
from .engine import KubernetesEngine
from .objects.indexed_job import IndexedJob
from .objects.jobset.jobset import JobSet
from .objects.kinds import JobKind
from .objects.kubeflow import Kubeflow
from .objects.t9k import T9k
from .objects.trainjob import TrainJob


def make_t9k(context: EngineContext) -> Engine | None:
    """Make the engine for PyTorchTrainingJobs of T9k; None if the trait `kubernetes` is off."""
    return _make(T9k(), context)


def make_trainer(context: EngineContext) -> Engine | None:
    """Make the engine for TrainJobs of Kubeflow Trainer; None if the trait `kubernetes` is off."""
    return _make(TrainJob(), context)


def make_kubeflow(context: EngineContext) -> Engine | None:
    """Make the engine for PyTorchJobs of Kubeflow; None if the trait `kubernetes` is off."""
    return _make(Kubeflow(), context)


def make_jobset(context: EngineContext) -> Engine | None:
    """Make the engine for JobSets; None if the trait `kubernetes` is off."""
    return _make(JobSet(), context)


def make_indexed_job(context: EngineContext) -> Engine | None:
    """Make the engine for Indexed Jobs of Kubernetes; None if the trait `kubernetes` is off."""
    return _make(IndexedJob(), context)


def connect(context: EngineContext) -> Cluster:
    """Return the connection to the cluster, with the settings of the server extension."""
    traits = context.parent
    return Cluster(
        Settings(
            enabled=traits.kubernetes,
            context=traits.kubernetes_context,
            namespaces=tuple(traits.kubernetes_namespaces),
            volumes=tuple(traits.kubernetes_volumes),
            owner=traits.kubernetes_owner,
            keep_logs=traits.keep_rank_logs,
            follow_replicas=traits.follow_replicas,
            followed_logs=traits.followed_logs,
            log_bytes=traits.log_bytes_per_job,
            prometheus=traits.prometheus,
            prometheus_token_file=traits.prometheus_token_file,
            prometheus_ca_file=traits.prometheus_ca_file,
            debug_image=traits.kubernetes_debug_image,
            once=context.once,
        )
    )


def _make(kind: JobKind, context: EngineContext) -> Engine | None:
    cluster = context.shared(connect)
    if not cluster.settings.enabled:
        return None
    return KubernetesEngine(kind, cluster, context.home, context.root, once=context.once)
