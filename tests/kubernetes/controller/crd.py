"""Structural CRDs of PyTorchTrainingJob in both dialects (Spec, Dialects) and of TensorBoard; both prune.

Not public is the real one's schema: types and allowed values are those of the documents, the pod template's are taken
from the cluster's own OpenAPI.
"""

from __future__ import annotations

import asyncio
from typing import Any

from .api import GROUP, Api, Object, Refused

STRING: Object = {"type": "string"}
BOOLEAN: Object = {"type": "boolean"}
INTEGER: Object = {"type": "integer", "format": "int32"}
QUANTITY: Object = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}


def array(items: Object, **more: Any) -> Object:
    return {"type": "array", "items": items, **more}


def record(required: tuple[str, ...] = (), **properties: Object) -> Object:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def one_of(*values: str) -> Object:
    return {"type": "string", "enum": list(values)}


def fixed(schema: Object, name: str) -> Object:
    """Return a schema whose value is immutable after creation."""
    rule = {"rule": "self == oldSelf", "message": f"{name} is immutable"}
    return {**schema, "x-kubernetes-validations": [rule]}


def pod_template(openapi: Object) -> Object:
    """The schema of a PodTemplateSpec as a CRD may have it: no references, no defaults, no metadata but the usual."""
    schemas = openapi["components"]["schemas"]
    texts = {"type": "object", "additionalProperties": STRING}
    metadata = record(name=STRING, namespace=STRING, labels=texts, annotations=texts, finalizers=array(STRING))

    def inline(schema: Object) -> Object:
        if "allOf" in schema and len(schema["allOf"]) == 1:
            schema = schema["allOf"][0]
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            if name.endswith(".ObjectMeta"):
                return metadata
            schema = schemas[name]
        if "oneOf" in schema:  # a quantity, or an integer or string
            return QUANTITY
        plain = {key: schema[key] for key in ("type", "format", "required", "enum") if key in schema}
        if "properties" in schema:
            plain["properties"] = {key: inline(value) for key, value in schema["properties"].items()}
        if "additionalProperties" in schema:
            plain["additionalProperties"] = inline(schema["additionalProperties"])
        if "items" in schema:
            plain["items"] = inline(schema["items"])
        return plain

    return inline({"$ref": "/io.k8s.api.core.v1.PodTemplateSpec"})


def job_spec(template: Object, older: bool) -> Object:
    switch = {"enable" if older else "enabled": BOOLEAN}
    command = array(STRING)
    whole = {"type": "integer", "format": "int32", "minimum": 0}
    per_type = {"type": STRING, "skipInitContainer": BOOLEAN, "command": command}
    log_dir = record(
        pvc=array(record(("name",), name=STRING, subPath=array(STRING))),
        s3=record(secretRef=record(name=STRING), uri=array(STRING)),
        http=record(url=array(STRING)),
    )
    resources = template["properties"]["spec"]["properties"]["containers"]["items"]["properties"]["resources"]
    tensorboard = {
        "image": STRING,
        "trainingLogFilesets": array(STRING),
        "resources": resources,
        "scheduler": record(t9kScheduler=record(queue=STRING)),
        **({"runMode": STRING} if older else {"logDir": log_dir, "suspend": BOOLEAN}),
    }
    torchrun = {
        "maxRestarts": whole,
        "procPerNode": STRING,
        "rdzvBackend": one_of("c10d", "etcd", "etcd-v2"),
        "extraOptions": array(STRING),
        **({"minNodes": whole} if older else {}),
    }
    elastic = {
        "minReplicas": fixed(whole, "minReplicas"),
        "maxReplicas": fixed(whole, "maxReplicas"),
        "expectedReplicas": whole,
    }
    resume = array(record(**per_type, args=command), maxItems=20)
    return record(
        ("replicaSpecs",),
        replicaSpecs=array(
            record(
                ("type",),
                type=STRING,
                replicas={**whole, "default": 1},
                scalingWeight=whole,
                restartPolicy=one_of("Always", "OnFailure", "Never", "ExitCode"),
                template=template,
            ),
            minItems=1,
        ),
        torchrunConfig=record(**switch, **torchrun),
        elastic=record(**switch, **elastic),
        runMode=record(
            debug=record(**switch, replicaSpecs=array(record(**per_type))),
            **({} if older else {"pause": record(**switch, resumeSpecs=resume)}),
        ),
        runPolicy=record(
            activeDeadlineSeconds={"type": "integer", "format": "int64", "minimum": 1},
            backoffLimit=whole,
            cleanUpPolicy=one_of("None", "All", "Unfinished"),
        ),
        tensorboardSpec=record(**tensorboard),
        scheduler=record(t9kScheduler=record(queue=STRING, priority={**whole, "maximum": 100})),
    )


def job_status() -> Object:
    replica = record(
        name=STRING, uid=STRING, phase=STRING, containers=array(record(name=STRING, state=STRING, exitCode=INTEGER))
    )
    dependent = record(apiVersion=STRING, kind=STRING, name=STRING, namespace=STRING, uid=STRING)
    counts = ("creating", "pending", "running", "succeeded", "failed", "unknown", "deleted")
    return record(
        phase=STRING,
        conditions=array(CONDITION),
        tasks=array(
            record(
                type=STRING,
                restartCount=INTEGER,
                # three generations of the documents have three names (Status)
                replicas=array(replica),
                status=array(replica),
                replicaStatus=array(replica),
            )
        ),
        aggregate=record(**dict.fromkeys(counts, INTEGER)),
        backoffCount=INTEGER,
        tensorboard=record(
            name=STRING, dependent=dependent, ready=BOOLEAN, reason=STRING, action=STRING, note=STRING, type=STRING
        ),
    )


CONDITION = record(
    type=STRING,
    status=one_of("True", "False", "Unknown"),
    reason=STRING,
    message=STRING,
    lastTransitionTime={"type": "string", "format": "date-time"},
)


def definition(group: str, kind: str, short: list[str], spec: Object, status: Object) -> Object:
    plural = kind.lower() + "s"
    columns = [
        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": record(
                apiVersion=STRING, kind=STRING, metadata={"type": "object"}, spec=spec, status=status
            )
        },
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": short,
            },
            "versions": [version],
        },
    }


async def install(api: Api, dialect: str) -> None:
    """Put the CRDs into the cluster, in place of what is there, and wait until the API server shows them."""
    template = pod_template(await api.ask("GET", "/openapi/v3/api/v1"))
    spec = job_spec(template, older=dialect == "older")
    status = record(
        phase=STRING,
        conditions=array(CONDITION),
        url=STRING,
        pod=record(phase=STRING, reference=record(name=STRING, uid=STRING)),
    )
    for crd in (
        definition("tensorstack.dev", "TensorBoard", [], spec["properties"]["tensorboardSpec"], status),
        definition(GROUP, "PyTorchTrainingJob", ["pj"], spec, job_status()),
    ):
        await replace(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
    switch = "enable" if dialect == "older" else "enabled"
    while True:
        shown = await api.find(f"/openapi/v3/apis/{GROUP}/v1beta1") or {}
        kind = shown.get("components", {}).get("schemas", {}).get("dev.tensorstack.batch.v1beta1.PyTorchTrainingJob")
        if kind and switch in kind["properties"]["spec"]["properties"]["torchrunConfig"]["properties"]:
            return
        await asyncio.sleep(0.1)


async def replace(api: Api, path: str, thing: Object) -> None:
    there = await api.find(f"{path}/{thing['metadata']['name']}")
    if there is None:
        await api.ask("POST", path, thing)
        return
    for _ in range(5):
        version = there["metadata"]["resourceVersion"]
        try:
            await api.ask(
                "PUT",
                f"{path}/{thing['metadata']['name']}",
                {**thing, "metadata": {**thing["metadata"], "resourceVersion": version}},
            )
            return
        except Refused as error:
            if error.status != 409:
                raise
            there = await api.ask("GET", f"{path}/{thing['metadata']['name']}")


async def remove(api: Api) -> None:
    """Take the job's CRD away, and every job with it."""
    await api.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pytorchtrainingjobs.{GROUP}")
