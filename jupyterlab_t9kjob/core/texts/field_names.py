"""Names of request fields as the form shows them. Messages use these names instead of JSON pointers."""

from __future__ import annotations

import re
from typing import Final

from ..translation import Text, _

_LONGEST: Final = 100
_NAMES: Final = {
    r"": _("The request"),
    r"/spec": _("The spec"),
    r"/spec/name": _("Name"),
    r"/spec/display_name": _("Display name"),
    r"/spec/labels(/.*)?": _("Labels"),
    r"/spec/entrypoint": _("Entrypoint"),
    r"/spec/entrypoint/kind": _("The kind of the entrypoint"),
    r"/spec/entrypoint/value": _("Entrypoint"),
    r"/spec/args": _("Arguments"),
    r"/spec/args/([0-9]{1,9})": _("Argument {number}", number=1),
    r"/spec/working_dir": _("Working directory"),
    r"/spec/source": _("Code"),
    r"/spec/source/folder": _("Folder"),
    r"/spec/source/leave_out": _("Left out"),
    r"/spec/source/leave_out/([0-9]{1,9})": _("Pattern {number}", number=1),
    r"/spec/source/address": _("Address"),
    r"/spec/source/ref": _("Branch or commit"),
    r"/spec/source/secret": _("Credentials"),
    r"/spec/env": _("Environment"),
    r"/spec/env/([0-9]{1,9})": _("Variable {number}", number=1),
    r"/spec/env/([0-9]{1,9})/name": _("The name of variable {number}", number=1),
    r"/spec/env/([0-9]{1,9})/value": _("The value of variable {number}", number=1),
    r"/spec/env/([0-9]{1,9})/secret(/.*)?": _("The secret of variable {number}", number=1),
    r"/namespace": _("Namespace"),
    r"/engine": _("Engine"),
    r"/spec/runtime/image": _("Image"),
    r"/spec/runtime/pull_policy": _("Pull"),
    r"/spec/runtime/pull_secrets(/.*)?": _("Pull secrets"),
    r"/spec/runtime/training_runtime(/.*)?": _("Training runtime"),
    r"/spec/runtime/kernel": _("Kernel"),
    r"/spec/scheduling/queue": _("Queue"),
    r"/spec/scheduling/priority": _("Priority"),
    r"/spec/scheduling/priority_class": _("Priority class"),
    r"/spec/scheduling/node_selector(/.*)?": _("Nodes with"),
    r"/spec/scheduling/tolerations(/.*)?": _("Tolerates"),
    r"/spec/scheduling/scheduler": _("Scheduler"),
    r"/spec/torchrun": _("torchrun"),
    r"/spec/torchrun/proc_per_node": _("Processes"),
    r"/spec/torchrun/max_restarts": _("Worker restarts"),
    r"/spec/torchrun/extra_options": _("torchrun options"),
    r"/spec/torchrun/extra_options/([0-9]{1,9})": _("torchrun option {number}", number=1),
    r"/spec/replica_specs": _("Replica types"),
    r"/spec/replica_specs/([0-9]{1,9})": _("Replica type {number}", number=1),
    r"/spec/replica_specs/\d+/replicas": _("Nodes"),
    r"/spec/replica_specs/\d+/restart_policy": _("Restart"),
    r"/spec/replica_specs/\d+/resources/device(/count)?": _("GPUs"),
    r"/spec/replica_specs/\d+/resources/cpu(/.*)?": _("CPU"),
    r"/spec/replica_specs/\d+/resources/memory(/.*)?": _("Memory"),
    r"/spec/shm/size_limit": _("Shared memory"),
    r"/spec/elastic(/.*)?": _("Elastic"),
    r"/spec/run_policy/backoff_limit": _("The number of restarts"),
    r"/spec/run_policy/active_deadline_seconds": _("Deadline"),
    r"/spec/run_policy/clean_up": _("When finished"),
    r"/spec/run_policy/ttl_seconds": _("Delete after"),
    r"/spec/run_policy/resume_evicted": _("After an eviction"),
    r"/spec/keep_logs": _("Logs"),
    r"/spec/diagnostics": _("Diagnostics"),
    r"/spec/paused": _("Start"),
    r"/spec/config_files": _("Config files"),
    r"/spec/config_files/([0-9]{1,9})": _("Config file {number}", number=1),
    r"/spec/config_files/([0-9]{1,9})/path": _("The path of config file {number}", number=1),
    r"/spec/config_files/([0-9]{1,9})/text": _("The text of config file {number}", number=1),
    r"/spec/mounts": _("Volumes"),
    r"/spec/mounts/([0-9]{1,9})": _("Volume {number}", number=1),
    r"/spec/mounts/([0-9]{1,9})/claim": _("The PVC of volume {number}", number=1),
    r"/spec/mounts/([0-9]{1,9})/mount_path": _("The path in the job of volume {number}", number=1),
    r"/spec/mounts/([0-9]{1,9})/sub_path": _("The folder of volume {number}", number=1),
    r"/spec/security(/.*)?": _("User"),
    r"/spec/tensorboard/log_dirs": _("Log directories"),
    r"/spec/tensorboard/log_dirs/([0-9]{1,9})": _("Log directory {number}", number=1),
    r"/spec/tensorboard/cluster(/.*)?": _("TensorBoard in the cluster"),
}
_NAMED: Final = [(re.compile(pattern, re.DOTALL), name) for pattern, name in _NAMES.items()]


def name_of(pointer: str) -> Text:
    """Return the name of a field. A field that no form shows is named by its key: “request_id”.

    Parameters
    ----------
    pointer
        JSON pointer into the body of a request; empty for the request itself.
    """
    for pattern, name in _NAMED:
        found = pattern.fullmatch(pointer)
        if found is not None:
            indices = [int(group) for group in found.groups() if group and group[0] != "/"]
            return name.with_params(number=indices[0] + 1) if indices else name
    *above, key = pointer.split("/")
    key = _shown(key)
    if re.fullmatch("[0-9]{1,9}", key) and above:
        return _("Entry {number} of “{list}”", number=int(key) + 1, list=_shown(above[-1]))
    return Text.verbatim(f"“{key}”")


def _shown(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")[:_LONGEST]
