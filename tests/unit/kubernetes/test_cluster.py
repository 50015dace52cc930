"""State of a cluster as the API returns it."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyterlab_t9kjob.engines.kubernetes.client.api import KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.client.watch.informer import Informer
from jupyterlab_t9kjob.engines.kubernetes.cluster.connection import Cluster
from jupyterlab_t9kjob.engines.kubernetes.cluster.namespace_watch import NamespaceWatch
from jupyterlab_t9kjob.engines.kubernetes.cluster.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.cluster.staleness import Trouble
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind

KIND = cast(
    JobKind,
    SimpleNamespace(engine="kubeflow", kind="PyTorchJob", plural="pytorchjobs", group="kubeflow.org"),
)
DENIED = ApiError(403, {"message": "may not list"})
LOST = Unreachable("No route.")

IN_BETWEEN = " before it, answers with an error"
BROKEN = ApiError(500, {"message": "no\x1b[1m\nquorum"})
State = tuple[float, ApiError | Unreachable] | None


def watch(state: State) -> Informer:
    watch = Informer(cast(KubeApi, None), "", lambda before, after: None)
    if state is not None:
        watch.stale_since, watch.error = state
    return watch


@pytest.mark.parametrize(
    ("jobs", "pods", "events", "problem_since", "told"),
    [
        (None, None, (9.0, DENIED), None, None),
        (None, (9.0, DENIED), (9.0, DENIED), 14.0, (14.0, "The cluster does not answer.")),
        ((13.0, LOST), (12.0, LOST), (9.0, DENIED), 14.0, (12.0, "The cluster does not answer.")),
        ((13.0, LOST), (12.5, LOST), (9.0, DENIED), None, (12.5, "No route.")),
        ((9.0, DENIED), None, None, None, (9.0, "You don't have permission to see PyTorchJobs in namespace lab.")),
        (
            (9.0, BROKEN),
            None,
            None,
            None,
            (9.0, "The cluster at , or a gateway before it, answers with an error (500)."),
        ),
        ((9.0, DENIED), None, None, 14.0, (14.0, "The cluster does not answer.")),
    ],
)
def test_since_when_changes_are_missed(
    jobs: State, pods: State, events: State, problem_since: float | None, told: Any
) -> None:
    """A right that was never there is no reason to call an outage older than it is."""
    cluster = Cluster(Settings())
    cluster.problem_since = problem_since
    cluster.trouble = Trouble("Unreachable", "The cluster does not answer.") if problem_since is not None else None
    space: Any = SimpleNamespace(name="lab", jobs={"kubeflow": watch(jobs)}, pods=watch(pods), events=watch(events))
    space.watched = partial(NamespaceWatch.watched, space)
    cluster.spaces["lab"] = space
    stale = cluster.stale(KIND)
    assert (stale and (stale.since, stale.trouble.sentence)) == told
    assert stale is None or stale.trouble.verbatim in (None, "may not list", "no[1m\nquorum", "no [1m\nquorum")
