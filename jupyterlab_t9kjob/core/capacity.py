"""What a cluster has, and how much of it is free, as the API tells it."""

from __future__ import annotations

from pydantic import Field

from .spec import Model


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
    pods: int = Field(0, description="Pods on it that have not ended.")
    amounts: list[Amount] = Field(default_factory=list)


class Pool(Model):
    """The accelerators of one kind in the whole cluster."""

    resource: str
    product: str | None = None
    nodes: int = 0
    amount: Amount
    most_on_a_node: float = Field(0.0, description="The most that is free on one node: what decides for a replica.")
    mine: float = Field(0.0, description="What of the allocated this user's jobs hold.")


class QuotaLine(Model):
    """One limit of a namespace."""

    quota: str
    resource: str = Field(description="As in the quota: `requests.nvidia.com/gpu`, `limits.cpu`, `pods`.")
    used: float
    hard: float


class Capacity(Model):
    """What is known of a cluster's capacity; `limited` says why that is not all."""

    pools: list[Pool] = Field(default_factory=list)
    quotas: list[QuotaLine] = Field(default_factory=list)
    limited: str | None = None
