"""The API's models of a cluster's capacity: amounts, nodes, quotas and queues."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from .job import Time
from .spec import Model
from .translation import Text

COUNTING: Final = (
    "True while nodes or pods are read for the first time, so that the numbers will change soon. For an account without"
    " permission to see them all, also while quotas, pods and jobs of its namespaces are read."
)


class Amount(Model):
    """Amount of one resource on one or more nodes, in its base unit (devices, cores, bytes)."""

    resource: str = Field(description="`nvidia.com/gpu`, `cpu`, `memory`.")
    total: float = Field(0.0, description="Amount that exists.")
    unhealthy: float = Field(
        0.0, description="Part of the total that pods can't get: broken, or reserved for the node."
    )
    allocated: float = Field(0.0, description="Amount that pods which have not ended hold.")
    free: float = Field(0.0, description="Amount that a pod can get now; 0 on a node that accepts no pods.")


class Taint(Model):
    """A taint of a node, which keeps pods without a toleration away."""

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
    taints: list[Taint] = Field(default_factory=list, description="Taints that keep pods away.")
    product: str | None = Field(None, description="Product name of its accelerators, from its labels.")
    product_label: str | None = Field(None, description="Label with the product name.")
    pods: int = Field(0, description="Number of its pods that have not ended.")
    amounts: list[Amount] = Field(default_factory=list)
    mine: dict[str, float] = Field(default_factory=dict, description="Amounts that this user's jobs hold, by resource.")


class Pool(Model):
    """The accelerators of one kind in the whole cluster."""

    resource: str
    product: str | None = None
    product_label: str | None = Field(None, description="Label with the product name that all of its nodes have.")
    nodes: int = 0
    amount: Amount
    most_on_a_node: float = Field(0.0, description="Largest free amount on one node, which limits a replica.")
    largest_node: float = Field(0.0, description="Largest total amount of one node.")
    most_beside: dict[str, float] = Field(
        default_factory=dict, description="CPU and memory: largest free amount on one of its nodes."
    )
    mine: float = Field(0.0, description="Allocated amount that this user's jobs hold.")


class QuotaLine(Model):
    """One limit of a namespace, or of a queue."""

    quota: str = Field(description="Name of the ResourceQuota or queue.")
    resource: str = Field(description="Name in the quota: `requests.nvidia.com/gpu`, `limits.cpu`, `pods`.")
    used: float | None = Field(None, description="Used amount; null if unknown.")
    hard: float
    scoped: bool = Field(
        False, description="True if the quota counts only some pods, such as those of a priority class."
    )


class NamespaceQuota(Model):
    """The limits of one namespace."""

    namespace: str
    lines: list[QuotaLine] = Field(default_factory=list)
    limited: Text | None = Field(None, description="Sentence that says why the limits are not known.")


class Capacity(Model):
    """Capacity of a cluster as far as it is known; `limited` says why a part is missing."""

    time: Time = Field(description="Time of the numbers; in the past if the cluster can't be reached.")
    server: str = Field("", description="Host of the API server.")
    nodes: int = 0
    amounts: list[Amount] = Field(default_factory=list, description="CPU and memory of all nodes together.")
    most_on_a_node: dict[str, float] = Field(
        default_factory=dict, description="CPU and memory: largest free amount on one node."
    )
    pools: list[Pool] = Field(default_factory=list, description="Accelerators by kind, the largest pool first.")
    mine: dict[str, float] | None = Field(
        None,
        description="Accelerators, CPU and memory that this user's jobs hold, by resource; null if unknown.",
    )
    quotas: list[NamespaceQuota] = Field(default_factory=list, description="Quotas of the namespaces that are read.")
    counting: bool = Field(False, description=COUNTING)
    limited: Text | None = Field(
        None, description="Sentences that say why a part is missing; without nodes there are no pools."
    )


class NodeList(Model):
    """All nodes of a cluster."""

    time: Time
    nodes: list[NodeCapacity] = Field(default_factory=list)
    counting: bool = Field(False, description=COUNTING)
    limited: Text | None = Field(None, description="Sentences that say why a part is missing.")


class Queue(Model):
    """A queue for jobs: one of T9k's scheduler, or a LocalQueue of Kueue."""

    name: str
    kind: Text = Field(description="“T9k queue”, “Kueue queue”.")
    open: bool = True
    reason: Text | None = Field(
        None, description="Sentence that says why it accepts no jobs, or none of this namespace."
    )
    default: bool = Field(False, description="True for the queue of jobs that name none.")
    priority: int | None = None
    preemptible: bool | None = Field(None, description="True if its jobs can be preempted.")
    max_duration: float | None = Field(None, description="Seconds of running after which its jobs are ended or paused.")
    waiting: int | None = Field(None, description="Number of jobs that wait in it.")
    quota: list[QuotaLine] = Field(default_factory=list)
    borrows: bool = Field(False, description="True if its jobs can use the unused quota of other queues.")


class QueueList(Model):
    """The queues that a namespace can use; `limited` says why they are not known."""

    queues: list[Queue] = Field(default_factory=list)
    applied: str | None = Field(
        None, description="Queue to which the cluster assigns jobs that name none; null if it assigns none."
    )
    limited: Text | None = None
