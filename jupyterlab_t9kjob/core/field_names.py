"""Names of request fields as the form shows them, for messages: people know no JSON pointers."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 100
_NAMES: Final = {
    r"": "The request",
    r"/spec": "The spec",
    r"/spec/name": "Name",
    r"/spec/display_name": "Display name",
    r"/spec/labels(/.*)?": "Labels",
    r"/spec/entrypoint": "Entrypoint",
    r"/spec/entrypoint/kind": "The kind of the entrypoint",
    r"/spec/entrypoint/value": "Entrypoint",
    r"/spec/args": "Arguments",
    r"/spec/args/([0-9]{1,9})": "Argument {}",
    r"/spec/working_dir": "Working directory",
    r"/spec/env": "Environment",
    r"/spec/env/([0-9]{1,9})": "Variable {}",
    r"/spec/env/([0-9]{1,9})/name": "The name of variable {}",
    r"/spec/env/([0-9]{1,9})/value": "The value of variable {}",
    r"/spec/env/([0-9]{1,9})/secret(/.*)?": "The secret of variable {}",
    r"/namespace": "Namespace",
    r"/engine": "Engine",
    r"/spec/runtime/image": "Image",
    r"/spec/runtime/pull_policy": "Pull",
    r"/spec/runtime/pull_secrets(/.*)?": "Pull secrets",
    r"/spec/runtime/kernel": "Kernel",
    r"/spec/scheduling/queue": "Queue",
    r"/spec/scheduling/priority": "Priority",
    r"/spec/scheduling/priority_class": "Priority class",
    r"/spec/scheduling/node_selector(/.*)?": "Nodes with",
    r"/spec/scheduling/tolerations(/.*)?": "Tolerates",
    r"/spec/scheduling/scheduler": "Scheduler",
    r"/spec/torchrun": "torchrun",
    r"/spec/torchrun/proc_per_node": "Processes",
    r"/spec/torchrun/max_restarts": "Worker restarts",
    r"/spec/torchrun/extra_options": "torchrun options",
    r"/spec/torchrun/extra_options/([0-9]{1,9})": "torchrun option {}",
    r"/spec/replica_specs": "Replica types",
    r"/spec/replica_specs/([0-9]{1,9})": "Replica type {}",
    r"/spec/replica_specs/\d+/replicas": "Nodes",
    r"/spec/replica_specs/\d+/restart_policy": "Restart",
    r"/spec/replica_specs/\d+/resources/device(/count)?": "GPUs",
    r"/spec/replica_specs/\d+/resources/cpu(/.*)?": "CPU",
    r"/spec/replica_specs/\d+/resources/memory(/.*)?": "Memory",
    r"/spec/shm/size_limit": "Shared memory",
    r"/spec/elastic(/.*)?": "Elastic",
    r"/spec/run_policy/backoff_limit": "The number of restarts",
    r"/spec/run_policy/active_deadline_seconds": "Deadline",
    r"/spec/run_policy/clean_up": "When finished",
    r"/spec/run_policy/ttl_seconds": "Delete after",
    r"/spec/keep_logs": "Logs",
    r"/spec/paused": "Start",
    r"/spec/mounts": "Volumes",
    r"/spec/mounts/([0-9]{1,9})": "Volume {}",
    r"/spec/mounts/([0-9]{1,9})/claim": "The PVC of volume {}",
    r"/spec/mounts/([0-9]{1,9})/mount_path": "The path in the job of volume {}",
    r"/spec/mounts/([0-9]{1,9})/sub_path": "The folder of volume {}",
    r"/spec/security(/.*)?": "User",
    r"/spec/tensorboard/log_dirs": "Log directories",
    r"/spec/tensorboard/log_dirs/([0-9]{1,9})": "Log directory {}",
    r"/spec/tensorboard/cluster(/.*)?": "TensorBoard in the cluster",
}
_NAMED: Final = [(re.compile(pattern, re.DOTALL), name) for pattern, name in _NAMES.items()]


def name_of(pointer: str) -> str:
    """Return what a field is called; one that no form shows by its own key, “request_id”.

    Parameters
    ----------
    pointer
        JSON pointer into the body of a request; an empty one is the request itself.
    """
    for pattern, name in _NAMED:
        found = pattern.fullmatch(pointer)
        if found is not None:
            return name.format(*(int(group) + 1 for group in found.groups() if group and group[0] != "/"))
    *above, key = pointer.split("/")
    key = _shown(key)
    if re.fullmatch("[0-9]{1,9}", key) and above:
        return f"Entry {int(key) + 1} of “{_shown(above[-1])}”"
    return f"“{key}”"


def _shown(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")[:_LONGEST]
