"""Jobs as a real cluster had them (Kubernetes 1.34, training operator 1.9.3, the tests' own controller of T9k's kind).

Each file in `objects` has one job with its pods and events, made to be in the situation that the file is named after,
read with kubectl, and cut to what tells about it. `refusals.json` has answers of the API server that were no success,
with what had been asked for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jupyterlab_t9kjob.core.job import Reason
from jupyterlab_t9kjob.core.manifests import parse
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.cluster.pod_fields import slim
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView, State
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k
from jupyterlab_t9kjob.engines.kubernetes.reasons.job import reason_of
from jupyterlab_t9kjob.engines.kubernetes.reasons.replica import replica_reason

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "objects").glob("*.json"))
REFUSALS: dict[str, dict[str, Any]] = json.loads((HERE / "refusals.json").read_text())

AFTER = 130.0
"""Seconds after its creation at which a job is looked at."""


@dataclass(frozen=True)
class Situation:
    job: dict[str, Any]
    pods: list[dict[str, Any]]
    events: list[dict[str, Any]]
    after: float = AFTER

    def __post_init__(self) -> None:
        self.pods[:] = map(slim, self.pods)  # as a watch keeps them: a reader of another field fails here

    @property
    def kind(self) -> Any:
        return T9k() if self.job["kind"] == "PyTorchTrainingJob" else Kubeflow()

    @property
    def spec(self) -> JobSpec:
        return parse(self.job).spec

    @property
    def state(self) -> State:
        return self.kind.state(self.job, self.pods)

    @property
    def replicas(self) -> list[ReplicaView]:
        return self.kind.replicas(self.job, self.pods)

    @property
    def now(self) -> float:
        created = seconds(self.job["metadata"]["creationTimestamp"])
        assert created is not None
        return created + self.after

    def reason(self, **more: Any) -> Reason:
        arguments = {"state": self.state, "replicas": self.replicas, "events": self.events, "now": self.now} | more
        found = reason_of(self.job, self.spec, **arguments)
        assert found is not None
        return found

    def of_place(self, name: str) -> Reason | None:
        place = next(place for place in self.replicas if place.name == name)
        return replica_reason(place, self.state, self.events, now=self.now)

    def later(self, after: float) -> Situation:
        return replace(self, after=after)


def situation(name: str) -> Situation:
    return Situation(**json.loads((HERE / "objects" / f"{name}.json").read_text()))
