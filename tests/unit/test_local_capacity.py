"""Free resources of this machine."""

from jupyterlab_t9kjob.core.engine.info import DeviceInfo, Machine
from jupyterlab_t9kjob.engines.local.devices.capacity import capacity_of, node_of


def test_the_machine_is_the_only_node_of_its_pool() -> None:
    devices = [DeviceInfo(index=index, id=str(index), name="A100") for index in range(3)]
    devices[0] = devices[0].model_copy(update={"claimed_by": "a-job"})
    (pool,) = capacity_of(node_of(Machine(hostname="here", cpus=8, devices=devices))).pools
    assert (pool.nodes, pool.largest_node, pool.most_on_a_node, pool.mine) == (1, 3, 2, 1)
