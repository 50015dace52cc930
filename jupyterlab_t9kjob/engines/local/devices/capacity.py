"""Capacity of this machine, in the API's model of a cluster with one node."""

from __future__ import annotations

import time
from typing import Final

from ....core.capacity import Amount, Capacity, NodeCapacity, Pool
from ....core.engine.info import Machine

GPU: Final = "nvidia.com/gpu"
"""Resource name of accelerators in the specs of local jobs."""


def node_of(machine: Machine) -> NodeCapacity:
    """Return this machine as a node.

    Jobs do not reserve cores, and memory counts as allocated while it is in use. Each accelerator belongs to one job.
    """
    devices = machine.devices
    claimed = sum(device.claimed_by is not None for device in devices)
    used = sum(device.used_by is not None or device.claimed_by is not None for device in devices)
    amounts = [Amount(resource="cpu", total=machine.cpus, free=machine.cpus)]
    if machine.memory_total is not None and machine.memory_available is not None:
        free = min(machine.memory_available, machine.memory_total)
        amounts.append(
            Amount(resource="memory", total=machine.memory_total, allocated=machine.memory_total - free, free=free)
        )
    if devices:
        amounts.append(Amount(resource=GPU, total=len(devices), allocated=claimed, free=len(devices) - used))
    return NodeCapacity(
        name=machine.hostname,
        product=next((device.name for device in devices), None),
        amounts=amounts,
    )


def capacity_of(node: NodeCapacity) -> Capacity:
    """Return the capacity of a single node on which all jobs belong to this user."""
    amounts = {amount.resource: amount for amount in node.amounts}
    gpus = amounts.pop(GPU, None)
    held = gpus.allocated if gpus is not None else 0.0
    pools = []
    if gpus is not None:
        pools = [
            Pool(
                resource=GPU,
                product=node.product,
                nodes=1,
                amount=gpus,
                mine=held,
                most_on_a_node=gpus.free,
                largest_node=gpus.total,
            )
        ]
    return Capacity(
        time=time.time(),
        server=node.name,
        nodes=1,
        amounts=list(amounts.values()),
        pools=pools,
        mine={GPU: held} if held else {},
    )
