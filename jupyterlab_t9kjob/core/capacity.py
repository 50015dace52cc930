"""What a cluster has, and how much of it is free, as the API tells it."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from .job import Time
from .spec import Model
from .translation import Sentence

COUNTING: Final = (
    "Whether nodes or pods are still being read for the first time, so that what is told will change soon;"
    " for an account that may not see them all, also quotas, pods and jobs of its namespaces."
)


class Amount(Model):
    """One resource of a node, or of many; in its base unit (devices, cores, bytes)."""

    resource: str = Field(description="`nvidia.com/gpu`, `cpu`, `memory`.")
    total: float = Field(0.0, description="What there is.")
    unhealthy: float = Field(0.0, description="What of it can't be had: broken, or kept for the node itself.")
    allocated: float = Field(0.0, description="What pods hold that have not ended.")
    free: float = Field(0.0, description="What a pod can have now; nothing of a node that takes none.")


class Taint(Model):
    """What keeps pods away from a node that do not tolerate it."""

    key: str
    value: str = ""
    effect: str


class NodeCapacity(Model):
    """A node and what is free on it."""

    name: str
    address: str | None = None
    roles: list[str] = Field(default_factory=list)
    ready: bool = True
    cordoned: bool = False
    taints: list[Taint] = Field(default_factory=list, description="Those that keep pods away.")
    product: str | None = Field(None, description="Of its accelerators, as its labels say.")
    product_label: str | None = Field(None, description="The label that says it.")
    pods: int = Field(0, description="Pods on it that have not ended.")
    amounts: list[Amount] = Field(default_factory=list)
    mine: dict[str, float] = Field(default_factory=dict, description="What this user's jobs hold of it, by resource.")


class Pool(Model):
    """The accelerators of one kind in the whole cluster."""

    resource: str
    product: str | None = None
    product_label: str | None = Field(None, description="The label that all of its nodes have, with the product.")
    nodes: int = 0
    amount: Amount
    most_on_a_node: float = Field(0.0, description="The most that is free on one node: what decides for a replica.")
    largest_node: float = Field(0.0, description="The most that one of its nodes has, free or not.")
    most_beside: dict[str, float] = Field(
        default_factory=dict, description="CPU and memory: the most that is free on one of its nodes."
    )
    mine: float = Field(0.0, description="What of the allocated this user's jobs hold.")


class QuotaLine(Model):
    """One limit of a namespace, or of a queue."""

    quota: str = Field(description="Whose limit it is: a ResourceQuota or a queue, by its name.")
    resource: str = Field(description="As in the quota: `requests.nvidia.com/gpu`, `limits.cpu`, `pods`.")
    used: float | None = Field(None, description="Null where nobody tells.")
    hard: float
    scoped: bool = Field(False, description="Whether it counts only some pods, such as those of a priority class.")


class NamespaceQuota(Model):
    """The limits of one namespace."""

    namespace: str
    lines: list[QuotaLine] = Field(default_factory=list)
    limited: Sentence | None = Field(None, description="Why they are not known, a sentence.")


class Capacity(Model):
    """What is known of a cluster's capacity now; `limited` says why that is not all."""

    time: Time = Field(description="When it was right; older than now where the cluster can't be reached.")
    server: str = Field("", description="Host of the API server.")
    nodes: int = 0
    amounts: list[Amount] = Field(default_factory=list, description="CPU and memory of all nodes together.")
    most_on_a_node: dict[str, float] = Field(
        default_factory=dict, description="CPU and memory: the most that is free on one node."
    )
    pools: list[Pool] = Field(default_factory=list, description="The largest first.")
    mine: dict[str, float] | None = Field(
        None,
        description="What this user's jobs hold, by resource, accelerators, CPU and memory; null where not known.",
    )
    quotas: list[NamespaceQuota] = Field(default_factory=list, description="Of the namespaces that are looked at.")
    counting: bool = Field(False, description=COUNTING)
    limited: Sentence | None = Field(
        None, description="Why not all is known, in sentences; there are no pools if nodes are not."
    )


class NodeList(Model):
    """All nodes of a cluster."""

    time: Time
    nodes: list[NodeCapacity] = Field(default_factory=list)
    counting: bool = Field(False, description=COUNTING)
    limited: Sentence | None = Field(None, description="Why not all is known, in sentences.")


class Queue(Model):
    """A queue that a job can be put into: one of T9k's scheduler, or a LocalQueue of Kueue."""

    name: str
    kind: Sentence = Field(description="“T9k queue”, “Kueue queue”.")
    open: bool = True
    reason: Sentence | None = Field(None, description="Why it takes no job, or none of this namespace, a sentence.")
    default: bool = Field(False, description="What a job gets that names none.")
    priority: int | None = None
    preemptible: bool | None = Field(None, description="Whether its jobs may have to give way to others.")
    max_duration: float | None = Field(None, description="Seconds after which its jobs are ended or paused.")
    waiting: int | None = Field(None, description="Jobs that wait in it.")
    quota: list[QuotaLine] = Field(default_factory=list)
    borrows: bool = Field(False, description="Whether its jobs may get more than its quota, of what others leave.")


class QueueList(Model):
    """The queues that a namespace can use; `limited` says why they are not known."""

    queues: list[Queue] = Field(default_factory=list)
    applied: str | None = Field(
        None, description="Name of the queue that the cluster puts a job into that names none; null: it gets none."
    )
    limited: Sentence | None = None
