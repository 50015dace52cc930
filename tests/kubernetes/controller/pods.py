"""From a job to the pods and the Service that it needs (Launch, Pods)."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass

from .api import GROUP, Object

PORT = 29500  # not public
NOTE = "controller.test/"  # begins the names of annotations that choose


def switched_on(config: Object | None) -> bool:
    """Return True if `enabled`, or `enable` in the older dialect, is true."""
    config = config or {}
    return bool(config.get("enabled", config.get("enable", False)))


def infix(job: Object) -> str:
    """Five hex digits, the same for all that one life of a job makes."""
    return hashlib.sha1(job["metadata"]["uid"].encode()).hexdigest()[:5]


def dependent_name(job: Object) -> str:
    """The name of the job's Service and of its TensorBoard."""
    return f"{job['metadata']['name']}-{infix(job)}"


def owner(job: Object) -> Object:
    meta = job["metadata"]
    reference = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "PyTorchTrainingJob",
        "name": meta["name"],
        "uid": meta["uid"],
    }
    return {**reference, "controller": True, "blockOwnerDeletion": True}


@dataclass(frozen=True)
class Replica:
    """A place in the job that one pod after the other fills."""

    type: str
    index: int
    rank: int
    spec: Object
    name: str

    @property
    def is_master(self) -> bool:
        return self.rank == 0

    @property
    def restart_policy(self) -> str:
        return self.spec.get("restartPolicy", "Never")


def replicas(job: Object) -> list[Replica]:
    """All places, the master's first."""
    found: list[Replica] = []
    for spec, count in zip(job["spec"]["replicaSpecs"], counts(job), strict=True):
        for index in range(count):
            name = f"{dependent_name(job)}-{spec['type']}-{index}"
            found.append(Replica(spec["type"], index, len(found), spec, name))
    return found


def counts(job: Object) -> list[int]:
    """How many replicas of each type; under elastic training they share `expectedReplicas` by their weights."""
    specs = job["spec"]["replicaSpecs"]
    written = [spec.get("replicas", 1) for spec in specs]
    elastic = job["spec"].get("elastic")
    if not switched_on(elastic) or "expectedReplicas" not in elastic:
        return written
    least, most = node_range(job)
    total = min(max(elastic["expectedReplicas"], least), most)
    weights = [spec.get("scalingWeight", 1) for spec in specs]
    shares = [total * weight // max(1, sum(weights)) for weight in weights]
    shares[0] += total - sum(shares)
    return shares


def node_range(job: Object) -> tuple[int, int]:
    """The least and the greatest number of replicas with which the job runs."""
    total = sum(spec.get("replicas", 1) for spec in job["spec"]["replicaSpecs"])
    elastic = job["spec"].get("elastic") or {}
    if switched_on(elastic):
        least = elastic.get("minReplicas", 1)
        return least, max(least, elastic.get("maxReplicas", total))
    return min(job["spec"].get("torchrunConfig", {}).get("minNodes", total), total), total


def training_container(spec: Object) -> Object:
    """The one called `python`, else the first."""
    return next((c for c in spec["containers"] if c["name"] == "python"), spec["containers"][0])


def build_service(job: Object) -> Object:
    """Headless: gives every pod a name that the others can look up, ready or not."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": dependent_name(job), "ownerReferences": [owner(job)]},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"tensorstack.dev/owner-name": job["metadata"]["name"]},
            "ports": [{"name": "master", "port": PORT}],
        },
    }


def build_pod(job: Object, replica: Replica, resumed: bool, notes: Object) -> Object:
    """The pod that fills a replica's place.

    Parameters
    ----------
    job, replica
        What it is for.
    resumed
        Whether the job has been paused before: `resumeSpecs` hold.
    notes
        The annotations of which some stand for an admission webhook.
    """
    template = copy.deepcopy(replica.spec.get("template", {}))
    meta, spec = template.get("metadata", {}), template["spec"]
    total = sum(counts(job))
    master = f"{dependent_name(job)}-{job['spec']['replicaSpecs'][0]['type']}-0.{dependent_name(job)}"
    container = training_container(spec)
    container["env"] = [
        {"name": "MASTER_ADDR", "value": master},
        {"name": "MASTER_PORT", "value": str(PORT)},
        {"name": "RANK", "value": str(replica.rank)},
        {"name": "WORLD_SIZE", "value": str(total)},
        *container.get("env", []),  # after them, so that $(MASTER_ADDR) can be used
    ]
    run_mode = job["spec"].get("runMode", {})
    if resumed:
        override(spec, container, find(run_mode.get("pause", {}).get("resumeSpecs"), replica.type))
    if switched_on(run_mode.get("debug")):
        found = find(run_mode["debug"].get("replicaSpecs"), replica.type)
        override(spec, container, {"command": ["sleep", "inf"], **found, "args": []})
    elif switched_on(job["spec"].get("torchrunConfig")):
        container["args"] = torchrun(job, replica, container)
        container["command"] = ["torchrun"]
    spec |= {"restartPolicy": "Never", "hostname": replica.name, "subdomain": dependent_name(job)}
    admit(spec, notes)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **{key: meta[key] for key in ("annotations",) if key in meta},
            "name": replica.name,
            "labels": {**meta.get("labels", {}), **labels(job, replica)},
            "ownerReferences": [owner(job)],
        },
        "spec": spec,
    }


def admit(spec: Object, notes: Object) -> None:
    """Change a pod's spec as the annotations want."""
    containers = spec["containers"] + spec.get("initContainers", [])
    for container in containers:
        container["image"] = notes.get(NOTE + "image", container.get("image"))
        if notes.get(NOTE + "fit") == "true":
            resources = container.get("resources", {})
            for part in ("limits", "requests"):
                kept = {name: size for name, size in resources.get(part, {}).items() if name not in ("cpu", "memory")}
                resources[part] = kept
    if files := notes.get(NOTE + "files"):
        name, *keys = files.split("/")
        spec["volumes"] = [*spec.get("volumes", []), {"name": "files-of-the-image", "configMap": {"name": name}}]
        for container in containers:
            mounts = [{"name": "files-of-the-image", "mountPath": f"/{key}", "subPath": key} for key in keys]
            container["volumeMounts"] = [*container.get("volumeMounts", []), *mounts]


def labels(job: Object, replica: Replica) -> dict[str, str]:
    found = {
        "tensorstack.dev/owner-name": job["metadata"]["name"],
        "replica-type": replica.type,
        "replica-index": str(replica.index),
    }
    if replica.is_master:
        found["job-role"] = "master"
    if scheduler := job["spec"].get("scheduler", {}).get("t9kScheduler"):  # there is none here; its labels are set
        found["scheduler.tensorstack.dev/group-name"] = job["metadata"]["name"]
        found["scheduler.tensorstack.dev/role"] = replica.type
        found["scheduler.tensorstack.dev/queue"] = scheduler.get("queue", "default")
    return found


def torchrun(job: Object, replica: Replica, container: Object) -> list[str]:
    """The arguments of `torchrun`: its options, then what the container's are; its command does not count.

    Which options the real controller gives is not public.
    """
    config = job["spec"]["torchrunConfig"]
    least, most = node_range(job)
    per_node = config.get("procPerNode")
    if per_node == "gpu":
        per_node = gpus(container) or "gpu"
    options = [
        f"--nnodes={most if least == most else f'{least}:{most}'}",
        f"--rdzv_id={job['metadata']['uid']}",
        f"--rdzv_backend={config.get('rdzvBackend', 'c10d')}",
        "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)",
        f"--rdzv_conf=is_host={int(replica.is_master)}",
    ]
    if per_node is not None:
        options.append(f"--nproc_per_node={per_node}")
    if "maxRestarts" in config:
        options.append(f"--max_restarts={config['maxRestarts']}")
    return [*options, *config.get("extraOptions", []), *container.get("args", [])]


def gpus(container: Object) -> int:
    limits = container.get("resources", {}).get("limits", {})
    return sum(int(count) for name, count in limits.items() if name.rsplit("/", 1)[-1] in ("gpu", "dcu"))


def find(specs: list[Object] | None, type_: str) -> Object:
    return next((spec for spec in specs or [] if spec.get("type") == type_), {})


def override(spec: Object, container: Object, by: Object) -> None:
    """Apply a debug or resume spec."""
    for key in ("command", "args"):
        if key in by:
            container[key] = by[key]
    if by.get("skipInitContainer"):
        spec.pop("initContainers", None)
