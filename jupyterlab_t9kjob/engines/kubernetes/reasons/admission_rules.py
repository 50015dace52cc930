"""Rules of a cluster that refuse a pod or a job, recognized by the words of the refusal.

A refusal has the same words whether it answers a request of the lab or appears in an event, where the job's controller
was refused a pod.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ....core.job import Fix
from ....core.texts.quantity import amount
from ....core.translation import Text, _, sentences
from ..objects.text import listed, named

OPERATORS_CONTAINER: Final = "init-pytorch"
"""Init container that Kubeflow's operator adds to the workers of a job with a master (`initcontainer.go`)."""
SETTING: Final = _("Make pods fit the restricted standard")
"""Label of the form's field."""
RESTRICT: Final = Fix(label=_("Make the pods fit"), changes={"/spec/security/restricted": True})


@dataclass(frozen=True)
class Rule:
    """A refusal that was recognized.

    Attributes
    ----------
    code
        Code of the reason or error.
    sentence, hint
        What the rule forbids, and what the user can do. The sentence has no full stop.
    field
        JSON pointer into the spec, if one field is the cause.
    verbatim
        The part of the refusal that matters.
    fix
        Change of the spec that keeps the rule; None if there is none.
    """

    code: str
    sentence: Text
    hint: Text | None
    field: str | None
    verbatim: str
    fix: Fix | None = None


_RESOURCES: Final = "/spec/replica_specs/0/resources"
_FREE: Final = _(
    "It starts when others of the namespace have freed enough; ended pods that were kept can count as well."
)
_ASK: Final = _("Ask for less, or ask an administrator of the cluster for more.")


def rule_of(message: str) -> Rule | None:
    """Return the rule by which something was refused; None if the message is not recognized."""
    for pattern, make in _RULES:
        match = pattern.search(message)
        if match is not None:
            return make(match)
    return None


def _quota(match: re.Match[str]) -> Rule:
    asked, used, limits = (_amounts(match[name]) for name in ("requested", "used", "limited"))
    quota = named(match["quota"])
    short = next((name for name in asked if name in used and name in limits), None)
    if short is None:
        sentence = _("The quota {quota} of the namespace is used up", quota=quota)
        return Rule("QuotaExceeded", sentence, _ASK, _RESOURCES, match[0])
    if short.startswith("count/"):
        sentence = _(
            "The quota {quota} allows {limit} {kind}, and {used} exist",
            quota=quota,
            limit=limits[short],
            kind=named(short[6:]),
            used=used[short],
        )
        return Rule("QuotaExceeded", sentence, _("Delete jobs that are no longer needed."), None, match[0])
    resource = named(short.removeprefix("requests.").removeprefix("limits."))
    sentence = _(
        "The quota {quota} allows {limit} {resource}, {used} are used, and a replica needs {asked}",
        quota=quota,
        limit=limits[short],
        resource=resource,
        used=used[short],
        asked=asked[short],
    )
    needed, allowed = amount(asked[short]), amount(limits[short])
    never = needed is not None and allowed is not None and needed > allowed
    field = f"{_RESOURCES}/{'memory' if resource == 'memory' else 'cpu' if resource == 'cpu' else 'device'}"
    return Rule("QuotaExceeded", sentence, _ASK if never else sentences(_FREE, _ASK), field, match[0])


def _must_specify(match: re.Match[str]) -> Rule:
    sentence = _(
        "The quota {quota} wants every container to state {resources}",
        quota=named(match["quota"]),
        resources=listed(match["what"].replace(";", ",").split(",")),
    )
    return Rule("QuotaNeedsResources", sentence, _("Set them under Resources."), _RESOURCES, match[0])


def _limit_range(match: re.Match[str]) -> Rule:
    bound, resource, allowed, asked = (named(match[name]) for name in ("bound", "resource", "allowed", "asked"))
    if bound == "minimum":
        sentence = _(
            "A container may have {allowed} {resource} at least here, and this asks for {asked}",
            allowed=allowed,
            resource=resource,
            asked=asked,
        )
        hint = _("Ask for {allowed} or more.", allowed=allowed)
    else:
        sentence = _(
            "A container may have {allowed} {resource} at most here, and this asks for {asked}",
            allowed=allowed,
            resource=resource,
            asked=asked,
        )
        hint = _("Ask for {allowed} or less.", allowed=allowed)
    field = f"{_RESOURCES}/{resource}" if resource in ("cpu", "memory") else f"{_RESOURCES}/device"
    return Rule("OutOfRange", sentence, hint, field, match[0])


_MISSING: Final = re.compile(
    r"(?:allowPrivilegeEscalation != false|unrestricted capabilities|runAsNonRoot != true|seccompProfile) \("
)
"""Violations of the restricted standard that mostly mean a missing field."""


def _pod_security(match: re.Match[str]) -> Rule:
    level, what = named(match["level"]), match["what"]
    kinds = re.split(r"\), (?=[a-zA-Z])", what.removesuffix(")"))
    # The name of a missing field is enough here; the whole message is quoted below the sentence.
    short = [kind.partition(" (")[0] if _MISSING.match(kind) else f"{kind})" for kind in kinds]
    sentence = _(
        "The namespace enforces the Pod Security Standard {level}, and the pods don't fit it: {violations}",
        level=level,
        violations=", ".join(short),
    )
    if f'"{OPERATORS_CONTAINER}"' in what:
        hint = _(
            "The training operator itself adds the container {container} to workers. Use 1 node, or make the job"
            " elastic: such jobs do not have the container. Or ask an administrator of the cluster to change the"
            " operator.",
            container=OPERATORS_CONTAINER,
        )
        return Rule("PodSecurity", sentence, hint, "/spec/security", match[0])
    root = [kind for kind in kinds if kind.startswith("runAsUser=0 (")]
    if root and all(_MISSING.match(kind) or kind in root for kind in kinds):
        hint = _("Clone the job with “{setting}” turned on and another user than 0 (root).", setting=SETTING)
        return Rule("PodSecurity", sentence, hint, "/spec/security", match[0])
    if all(_MISSING.match(kind) for kind in kinds):
        hint = _("Clone the job with “{setting}” turned on.", setting=SETTING)
        return Rule("PodSecurity", sentence, hint, "/spec/security", match[0], fix=RESTRICT)
    if level.startswith("restricted"):
        hint = _("Turn on “{setting}”, and take the fields that it names out of the manifest.", setting=SETTING)
    else:
        hint = _("Take the fields that it names out of the manifest.")
    return Rule("PodSecurity", sentence, hint, "/spec/security", match[0])


def _service_account(match: re.Match[str]) -> Rule:
    sentence = _("There is no service account {name} in its namespace", name=named(match["name"]))
    return Rule("NoServiceAccount", sentence, _("Name one that exists, or none."), "/spec/extra", match[0])


def _priority_class(match: re.Match[str]) -> Rule:
    sentence = _("There is no priority class {name}", name=named(match["name"]))
    field = "/spec/scheduling/priority_class"
    return Rule("NoPriorityClass", sentence, _("Choose one that exists."), field, match[0])


def _terminating(match: re.Match[str]) -> Rule:
    sentence = _("The namespace {namespace} is being deleted", namespace=named(match["namespace"]))
    return Rule("NamespaceTerminating", sentence, _("Choose another one."), "/namespace", match[0])


_GATEKEEPER: Final = {
    "R001": (
        _("You may not use this queue"),
        _("Choose another queue, or ask an administrator of T9k for permission."),
        "/spec/scheduling/queue",
    ),
    "R002": (
        _("The queue's quota is not enough for this job"),
        _("Ask for less, or choose another queue."),
        _RESOURCES,
    ),
    "R003": (
        _("The queue does not take resources of this shape"),
        _("State requests and limits for CPU, memory and GPUs as the queue wants them."),
        _RESOURCES,
    ),
    "R026": (
        _("A container may have one shared GPU at most"),
        _("Ask for one nvidia.com/gpu.shared, or for whole GPUs."),
        f"{_RESOURCES}/device",
    ),
    "R027": (
        _("This scheduler is not allowed here"),
        _("Choose another scheduler."),
        "/spec/scheduling/scheduler",
    ),
}
"""Sentence, hint and field of T9k's admission rules, by the code in the message (t9k-facts.md, Success and failure)."""


def _gatekeeper(match: re.Match[str]) -> Rule:
    sentence, hint, field = _GATEKEEPER[match["code"]]
    return Rule(match["code"], sentence, hint, field, match["message"])


def _policy(match: re.Match[str]) -> Rule:
    sentence = _(
        "The cluster's policy {policy} does not allow it: {message}",
        policy=named(match["policy"]),
        message=match["message"],
    )
    hint = _("That is a rule of this cluster: change the job to it, or ask an administrator of the cluster.")
    return Rule("PolicyDenied", sentence, hint, None, match[0])


def _webhook(match: re.Match[str]) -> Rule:
    sentence = _("The cluster does not allow it: {message}", message=match["message"])
    hint = _("That is a rule of this cluster, of its webhook {webhook}.", webhook=named(match["webhook"]))
    return Rule("WebhookDenied", sentence, hint, None, match["message"])


def _no_runtime(match: re.Match[str]) -> Rule:
    name = named(match["name"])
    sentence = _("There is no runtime {name} in the cluster", name=name)
    if match["kind"].lower().startswith("t"):
        sentence = _("There is no runtime {name} in the namespace", name=name)
    hint = _(
        "Choose one that exists: the choices for “Training runtime” are those of the cluster and the namespace. An"
        " administrator can install others."
    )
    return Rule("NoSuchRuntime", sentence, hint, "/manifest/spec/runtimeRef/name", match[0])


_WEBHOOK: Final = r'admission webhook "(?P<webhook>[^"]{1,253})" denied the request: ?'
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Rule]], ...]] = (
    (
        re.compile(
            r"exceeded quota: (?P<quota>[^,\s]+), requested: (?P<requested>\S+), used: (?P<used>\S+),"
            r" limited: (?P<limited>\S+)"
        ),
        _quota,
    ),
    (re.compile(r"failed quota: (?P<quota>[^:\s]+): must specify (?P<what>[^\s]+)"), _must_specify),
    (
        re.compile(
            r"(?P<bound>maximum|minimum) (?P<resource>\S+) usage per (?:Container|Pod) is (?P<allowed>[^,\s]+),"
            r" but (?:limit|request) is (?P<asked>[^,\s\]]+)"
        ),
        _limit_range,
    ),
    (re.compile(r'violates PodSecurity "(?P<level>[^"]+)": (?P<what>.+)', re.DOTALL), _pod_security),
    (re.compile(r'error looking up service account \S+: serviceaccount "(?P<name>[^"]+)" not found'), _service_account),
    (re.compile(r"no PriorityClass with name (?P<name>\S+) was found"), _priority_class),
    (
        re.compile(
            r'(?P<kind>(?:cluster)?trainingruntimes?)\.trainer\.kubeflow\.org "(?P<name>[^"]+)" not found', re.I
        ),
        _no_runtime,
    ),
    (re.compile(r"in namespace (?P<namespace>\S+) because it is being terminated"), _terminating),
    (re.compile(_WEBHOOK + rf"(?P<message>.*\b(?P<code>{'|'.join(_GATEKEEPER)})\b.*)", re.DOTALL), _gatekeeper),
    (
        re.compile(r"ValidatingAdmissionPolicy '(?P<policy>[^']+)' .*?denied request: (?P<message>.*)", re.DOTALL),
        _policy,
    ),
    (re.compile(_WEBHOOK + r"(?P<message>.*)", re.DOTALL), _webhook),
)


def _amounts(text: str) -> dict[str, str]:
    """Read ``requests.cpu=4,requests.memory=8Gi``."""
    pairs = (item.partition("=") for item in text.split(",")[:50])
    return {name: named(_number(name, value)) for name, sign, value in pairs if sign}


def _number(resource: str, quantity: str) -> str:
    """Return a quantity of a device as a number: the API server writes 9000 as 9k."""
    number = amount(quantity) if resource.rpartition(".")[2] not in ("cpu", "memory", "ephemeral-storage") else None
    return quantity if number is None or number != int(number) or number > 2**53 else str(int(number))
