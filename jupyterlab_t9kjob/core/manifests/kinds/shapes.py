"""Fields of the manifests and their types, to report mistakes before a cluster is asked.

Sources: t9k-facts.md (Spec; Dialects), Training Operator v1.9 `pkg/apis/kubeflow.org/v1/pytorch_types.go`, and the API
reference of Kubernetes for pods. The contents of an `ANYTHING` field are not checked and are kept unchanged.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Final

from ...translation import Text, _
from ..model import ManifestError, Notes, child, in_words


@dataclass(frozen=True)
class Plain:
    """A value that is neither object nor list.

    Attributes
    ----------
    types
        Python types of valid values.
    refusal
        Sentence that states the required type, for an invalid value; its parameters are ``field`` and ``found``.
    hint
        Sentence that says how to correct the value.
    lenient
        Other types that are accepted with a note.
    """

    types: tuple[type, ...]
    refusal: Text
    hint: Text | None = None
    lenient: tuple[type, ...] = ()


@dataclass(frozen=True)
class MapOf:
    """An object with arbitrary keys, whose values have one type."""

    value: Any


MOST_NUMBER: Final = 2**63 - 1
ANYTHING: Final = None
_NO_TEXT: Final = _("{field} must be text, and is {found}.", field="", found="")
_NO_NUMBER: Final = _("{field} must be a whole number, and is {found}.", field="", found="")
_NO_FLAG: Final = _("{field} must be true or false, and is {found}.", field="", found="")
_NO_QUANTITY: Final = _("{field} must be a quantity, such as 4 or 16Gi, and is {found}.", field="", found="")
_NO_LIST: Final = _("{field} must be a list, and is {found}.", field="", found="")
_NO_OBJECT: Final = _("{field} must be an object, and is {found}.", field="", found="")
_QUOTES: Final = _("Write it in quotes.")
_NO_QUOTES: Final = _("Write it without quotes.")
TEXT: Final = Plain((str,), _NO_TEXT, _QUOTES)
NUMBER: Final = Plain((int,), _NO_NUMBER, _NO_QUOTES)
FLAG: Final = Plain((bool,), _NO_FLAG, _NO_QUOTES)
QUANTITY: Final = Plain((str, int, float), _NO_QUANTITY)
COUNT: Final = Plain((str,), _NO_TEXT, _QUOTES, lenient=(int,))
TEXTS: Final = [TEXT]

RESOURCES: Final = {"limits": MapOf(QUANTITY), "requests": MapOf(QUANTITY), "claims": ANYTHING}
METADATA: Final = {
    "name": TEXT,
    "generateName": TEXT,
    "namespace": TEXT,
    "labels": MapOf(TEXT),
    "annotations": MapOf(TEXT),
    **dict.fromkeys(
        ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "ownerReferences",
         "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"),
    ),
}  # fmt: skip
CONTAINER: Final = {
    "name": TEXT,
    "image": TEXT,
    "imagePullPolicy": TEXT,
    "workingDir": TEXT,
    "command": TEXTS,
    "args": TEXTS,
    "env": [{"name": TEXT, "value": TEXT, "valueFrom": {**dict.fromkeys(
        ("configMapKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef")),
        "secretKeyRef": {"name": TEXT, "key": TEXT, "optional": FLAG},
    }}],
    "resources": RESOURCES,
    "volumeMounts": [{"name": TEXT, "mountPath": TEXT, "subPath": TEXT, "readOnly": FLAG, **dict.fromkeys(
        ("subPathExpr", "mountPropagation", "recursiveReadOnly"))}],
    **dict.fromkeys(
        ("envFrom", "lifecycle", "livenessProbe", "ports", "readinessProbe", "resizePolicy", "restartPolicy",
         "restartPolicyRules", "securityContext", "startupProbe", "stdin", "stdinOnce", "terminationMessagePath",
         "terminationMessagePolicy", "tty", "volumeDevices"),
    ),
}  # fmt: skip
VOLUME: Final = {
    "name": TEXT,
    "persistentVolumeClaim": {"claimName": TEXT, "readOnly": FLAG},
    "emptyDir": {"medium": TEXT, "sizeLimit": QUANTITY},
    **dict.fromkeys(
        ("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI",
         "ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "image",
         "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "projected", "quobyte", "rbd", "scaleIO", "secret",
         "storageos", "vsphereVolume"),
    ),
}  # fmt: skip
POD: Final = {
    "containers": [CONTAINER],
    "initContainers": [MapOf(ANYTHING)],
    "volumes": [VOLUME],
    "securityContext": MapOf(ANYTHING),
    "imagePullSecrets": [{"name": TEXT}],
    "nodeSelector": MapOf(TEXT),
    "tolerations": [MapOf(ANYTHING)],
    "priorityClassName": TEXT,
    "schedulerName": TEXT,
    **dict.fromkeys(
        ("activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy",
         "enableServiceLinks", "ephemeralContainers", "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers",
         "hostname", "hostnameOverride", "nodeName", "os", "overhead", "preemptionPolicy", "priority",
         "readinessGates", "resourceClaims", "resources", "restartPolicy", "runtimeClassName", "schedulingGates",
         "serviceAccount", "serviceAccountName", "setHostnameAsFQDN", "shareProcessNamespace", "subdomain",
         "terminationGracePeriodSeconds", "topologySpreadConstraints"),
    ),
}  # fmt: skip
TEMPLATE: Final = {"metadata": MapOf(ANYTHING), "spec": POD}
# Switches have both spellings here (t9k-facts.md, Dialects). `.dialect` translates them to one.
SWITCH: Final = {"enabled": FLAG, "enable": FLAG}
T9K: Final = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": METADATA,
    "spec": {
        "replicaSpecs": [{
            "type": TEXT,
            "replicas": NUMBER,
            "scalingWeight": NUMBER,
            "restartPolicy": TEXT,
            "template": TEMPLATE,
        }],
        "torchrunConfig": {
            **SWITCH,
            "maxRestarts": NUMBER,
            "procPerNode": COUNT,
            "rdzvBackend": TEXT,
            "extraOptions": TEXTS,
            "minNodes": NUMBER,
        },
        "elastic": {**SWITCH, "minReplicas": NUMBER, "maxReplicas": NUMBER, "expectedReplicas": NUMBER},
        "runMode": {
            "debug": {**SWITCH, "replicaSpecs": [{"type": TEXT, "skipInitContainer": FLAG, "command": TEXTS}]},
            "pause": {
                **SWITCH,
                "resumeSpecs": [{"type": TEXT, "skipInitContainer": FLAG, "command": TEXTS, "args": TEXTS}],
            },
        },
        "runPolicy": {"activeDeadlineSeconds": NUMBER, "backoffLimit": NUMBER, "cleanUpPolicy": TEXT},
        "scheduler": {"t9kScheduler": {"queue": TEXT, "priority": NUMBER}},
        "tensorboardSpec": {
            "image": TEXT,
            "resources": RESOURCES,
            "logDir": {
                "pvc": [{"name": TEXT, "subPath": TEXTS}],
                "s3": MapOf(ANYTHING),
                "http": MapOf(ANYTHING),
            },
            "trainingLogFilesets": TEXTS,
            "suspend": FLAG,
            "scheduler": ANYTHING,
            "runMode": ANYTHING,
        },
    },
    "status": ANYTHING,
}  # fmt: skip
REPLICA: Final = {"replicas": NUMBER, "restartPolicy": TEXT, "template": TEMPLATE}
PYTORCHJOB: Final = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": METADATA,
    "spec": {
        "pytorchReplicaSpecs": {"Master": REPLICA, "Worker": REPLICA},
        "nprocPerNode": COUNT,
        "elasticPolicy": {
            "minReplicas": NUMBER,
            "maxReplicas": NUMBER,
            **dict.fromkeys(
                ("rdzvBackend", "rdzvHost", "rdzvPort", "rdzvId", "rdzvConf", "standalone", "maxRestarts", "metrics",
                 "nProcPerNode")),
        },
        "runPolicy": {
            "suspend": FLAG,
            "cleanPodPolicy": TEXT,
            "ttlSecondsAfterFinished": NUMBER,
            "activeDeadlineSeconds": NUMBER,
            "backoffLimit": NUMBER,
            "schedulingPolicy": {
                "queue": TEXT,
                **dict.fromkeys(("minAvailable", "minResources", "priorityClass", "scheduleTimeoutSeconds")),
            },
            "managedBy": TEXT,
        },
    },
    "status": ANYTHING,
}  # fmt: skip
JOB: Final = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": METADATA,
    "spec": {
        "suspend": FLAG,
        "completionMode": TEXT,
        "completions": NUMBER,
        "parallelism": NUMBER,
        "backoffLimit": NUMBER,
        "activeDeadlineSeconds": NUMBER,
        "ttlSecondsAfterFinished": NUMBER,
        "template": TEMPLATE,
        **dict.fromkeys(
            ("backoffLimitPerIndex", "managedBy", "manualSelector", "maxFailedIndexes", "podFailurePolicy",
             "podReplacementPolicy", "selector", "successPolicy")),
    },
    "status": ANYTHING,
}  # fmt: skip
_NAMES: Final = {
    dict: _("an object"),
    list: _("a list"),
    str: _("text"),
    bool: _("true or false"),
    int: _("a number"),
    float: _("a fraction"),
    type(None): _("empty"),
}


def without_nulls(value: Any) -> Any:
    """Return a value without fields that are null, which Kubernetes treats as absent."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def check(value: Any, shape: Any, notes: Notes, pointer: str = "/manifest") -> None:
    """Check the types of known fields and note unknown ones.

    Parameters
    ----------
    value
        Part of a manifest.
    shape
        Fields of that part and their types.
    notes
        Collects a warning for each unknown field.
    pointer
        JSON pointer of that part.

    Raises
    ------
    ManifestError
        If a field has the wrong type. The cluster would refuse it too.
    """
    if shape is ANYTHING:
        return
    if isinstance(shape, Plain):
        _check_plain(value, shape, notes, pointer)
        return
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise _wrong_type(value, _NO_LIST, pointer)
        for index, item in enumerate(value):
            check(item, shape[0], notes, child(pointer, index))
        return
    if not isinstance(value, dict):
        raise _wrong_type(value, _NO_OBJECT, pointer)
    for key, item in value.items():
        if isinstance(shape, MapOf):
            check(item, shape.value, notes, child(pointer, key))
        elif key in shape:
            check(item, shape[key], notes, child(pointer, key))
        else:
            _note_unknown(key, list(shape), notes, pointer)


def _check_plain(value: Any, shape: Plain, notes: Notes, pointer: str) -> None:
    fits = isinstance(value, shape.types) and (not isinstance(value, bool) or bool in shape.types)
    if fits and isinstance(value, int) and abs(value) > MOST_NUMBER:
        message = _("{field} is larger than any number there.", field=in_words(pointer))
        raise ManifestError(message, code="WrongType", field=pointer)
    if fits and isinstance(value, str) and "\0" in value:
        message = _("{field} has a NUL character, which no process can be given.", field=in_words(pointer))
        raise ManifestError(message, code="WrongType", field=pointer, hint=_("Remove it."))
    if fits:
        return
    if isinstance(value, shape.lenient) and not isinstance(value, bool):
        message = _(
            "{field} is a number where the cluster wants text; it is written as “{value}”.",
            field=in_words(pointer),
            value=str(value),
        )
        notes.hint("Mended", message, pointer)
        return
    raise _wrong_type(value, shape.refusal, pointer, shape.hint)


def _wrong_type(value: Any, refusal: Text, pointer: str, hint: Text | None = None) -> ManifestError:
    message = refusal.with_params(field=in_words(pointer), found=_NAMES.get(type(value), _("something else")))
    return ManifestError(message, code="WrongType", field=pointer, hint=hint)


def _note_unknown(key: str, known: list[str], notes: Notes, pointer: str) -> None:
    message = _("{field} is not a known field of {object}.", field=key, object=in_words(pointer))
    if pointer == "/manifest":
        message = _("{field} is not a known field.", field=key)
    near = difflib.get_close_matches(key, known, 1, 0.75)
    hint = _("It is kept as written; a cluster that lacks it refuses the job.")
    if near:
        hint = _("Did you mean {field}?", field=near[0])
    notes.warn("UnknownField", message, child(pointer, key), hint)
