"""Checks of a job's size on this machine: replicas, processes, memory and accelerators."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.checks import Check
from ....core.spec import JobSpec
from ....core.texts.quantity import amount
from ....core.translation import Text, _, _n
from ..devices.machine import cpu_count
from ..devices.pool import DevicePool, PooledDevice
from .command import processes_of
from .limits import most_memory, most_processes

MOST_REPLICAS = 256
"""Each replica is a torchrun process of about 200 MB."""
MOST_PROCESSES = 1024
LEAST_MEMORY = 100 * 1024**2
"""Bytes of private memory that a process needs at least after the import of PyTorch.

PyTorch 2.13 for CPUs needs 144 MiB on Linux.
"""
_PROCESSES_FIELD = "/spec/torchrun/proc_per_node"


def size_checks(spec: JobSpec, pool: DevicePool) -> Iterator[Check]:
    """Yield checks of a job's size (blocking).

    Parameters
    ----------
    spec
        The job.
    pool
        Accelerators of this machine.
    """
    devices = pool.devices()
    problem = pool.problem()
    yield from _device_counts(spec, devices, problem)
    replicas = spec.total_replicas
    processes = sum((processes_of(spec, group) or 0) * group.replicas for group in spec.replica_specs)
    if replicas > MOST_REPLICAS:
        message = _(
            "{replicas} replicas are more than one machine can run: each is a launcher of its own.", replicas=replicas
        )
        hint = _("Ask for at most {most}; processes per replica cost less.", most=MOST_REPLICAS)
        yield _error("TooManyReplicas", message, "/spec/replica_specs/0/replicas", hint)
    elif processes > MOST_PROCESSES:
        message = _("{processes} processes are more than one machine can run.", processes=processes)
        yield _error(
            "TooManyProcesses", message, _PROCESSES_FIELD, _("Ask for at most {most} in all.", most=MOST_PROCESSES)
        )
    else:
        yield from _limits(spec, processes)
    yield from _requested_memory(spec)
    yield from _processes_per_node(spec, processes, devices, problem)


def _processes_per_node(
    spec: JobSpec, processes: int, devices: list[PooledDevice], problem: Text | None
) -> Iterator[Check]:
    if spec.torchrun is None:
        return
    asked = [group.resources.device_count for group in spec.replica_specs]
    if spec.torchrun.proc_per_node != "gpu":
        cores = cpu_count()
        if processes > cores:
            message = _n(
                "{processes} processes share {n} CPU core and slow each other down.",
                "{processes} processes share {n} CPU cores and slow each other down.",
                cores,
                processes=processes,
            )
            yield Check(level="warning", code="FewCores", message=message, field=_PROCESSES_FIELD)
        yield from _shared_devices(spec.torchrun.proc_per_node, min(filter(None, asked), default=None))
    elif not devices:
        message = _("One process per GPU was asked for, and this machine has no GPU.")
        yield _error("NoDevices", message, _PROCESSES_FIELD, problem or _("Set a number, such as 2."))
    elif 0 in asked:
        message = _("One process per GPU was asked for, and no GPUs.")
        hint = _("Set how many GPUs the job needs.")
        yield _error("NoDevicesAsked", message, _device_field(asked.index(0)), hint)


def _shared_devices(processes: int, devices: int | None) -> Iterator[Check]:
    """Check that each process of a node has a GPU of its own."""
    if devices is None or devices >= processes:
        return
    message = _n(
        "{processes} processes share {n} GPU, and NCCL wants one for each.",
        "{processes} processes share {n} GPUs, and NCCL wants one for each.",
        devices,
        processes=processes,
    )
    hint = _n(
        "Set {n} process, or one for each GPU.",
        "Set {n} processes, or one for each GPU.",
        devices,
    )
    yield Check(level="warning", code="SharedDevices", message=message, field=_PROCESSES_FIELD, hint=hint)


def _limits(spec: JobSpec, ranks: int) -> Iterator[Check]:
    """Check that this machine can start the job's processes, and has memory for them."""
    launched = spec.torchrun is not None
    processes = ranks + spec.total_replicas * launched
    field = _PROCESSES_FIELD if launched else "/spec/replica_specs/0/replicas"
    most = most_processes()
    if most is not None and processes > most:
        message = _(
            "The job starts {processes} processes, and only {most} are allowed here.", processes=processes, most=most
        )
        hint = _("Ask for fewer, or have the limit on processes raised (ulimit -u, or the container's pids limit).")
        yield _error("TooManyProcesses", message, field, hint)
        return
    memory = most_memory()
    if launched and processes * LEAST_MEMORY > memory:
        message = _n(
            "{n} process that imports PyTorch needs {needed} of memory or more, and this machine has {size}.",
            "{n} processes that import PyTorch need {needed} of memory or more, and this machine has {size}.",
            processes,
            needed=_size(processes * LEAST_MEMORY),
            size=_size(memory),
        )
        fewer = memory // LEAST_MEMORY - spec.total_replicas
        hint = _("Ask for at most {most} in all.", most=fewer) if fewer > 0 else _("Ask for fewer nodes.")
        yield _error("TooLittleMemory", message, field, hint)


def _requested_memory(spec: JobSpec) -> Iterator[Check]:
    asked = [(amount(group.resources.memory.request) or 0) * group.replicas for group in spec.replica_specs]
    memory = most_memory()
    if sum(asked) > memory:
        message = _(
            "The job asks for {asked} of memory, and this machine has {size}.",
            asked=_size(sum(asked)),
            size=_size(memory),
        )
        field = f"/spec/replica_specs/{asked.index(max(asked))}/resources/memory/request"
        yield _error("TooLittleMemory", message, field, _("Ask for less, or run the job in a cluster."))


def _device_counts(spec: JobSpec, devices: list[PooledDevice], problem: Text | None) -> Iterator[Check]:
    """Check the number of accelerators: this machine's pool does not grow while a job waits."""
    asked = [group.resources.device_count for group in spec.replica_specs]
    totals = [count * group.replicas for count, group in zip(asked, spec.replica_specs, strict=True)]
    total, field = sum(totals), _device_field(totals.index(max(totals)))
    if total > len(devices):
        yield _error("TooManyDevices", _too_many_devices(total, len(devices)), field, problem or _fewer(len(devices)))
    elif devices and not total:
        message = _("The job asks for no GPU, so it sees none and runs on the CPU.")
        yield Check(level="hint", code="RunsOnCpu", message=message, field=field)
    elif max(asked) > 1 and any(device.gpu is not None and device.gpu.is_part for device in devices):
        message = _("A process sees only one of several parts (MIG) of a GPU.")
        hint = _("Set 1 GPU, and several nodes.")
        yield Check(level="warning", code="OnePartEach", message=message, field=field, hint=hint)


def _too_many_devices(asked: int, devices: int) -> Text:
    if not devices:
        return _n(
            "The job asks for {n} GPU, and this machine has none.",
            "The job asks for {n} GPUs, and this machine has none.",
            asked,
        )
    return _n(
        "The job asks for {n} GPU, and this machine has {devices}.",
        "The job asks for {n} GPUs, and this machine has {devices}.",
        asked,
        devices=devices,
    )


def _fewer(devices: int) -> Text:
    return _("Ask for at most {most}.", most=devices) if devices else _("Ask for none; the job then runs on the CPU.")


def _error(code: str, message: Text, field: str, hint: Text) -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)


def _device_field(group: int) -> str:
    return f"/spec/replica_specs/{group}/resources/device"


def _size(size: float) -> str:
    return f"{size / 1024**3:.3g} GiB"
