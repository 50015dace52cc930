"""Rules of a cluster that refuse a pod or a job, told from the words of the refusal.

The same words come as an answer to us, and as an event where the job's controller was refused its pods.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ....core.job import Fix
from ....core.quantity import amount
from ..objects.text import listed, named

OPERATORS_CONTAINER: Final = "init-pytorch"
"""Kubeflow's training operator gives it to the workers of a job that has a master (kube-engines.md §2.2)."""
SETTING: Final = "Make pods fit the restricted standard"
"""Label of the form's field."""
RESTRICT: Final = Fix(label="Make the pods fit", changes={"/spec/security/restricted": True})


@dataclass(frozen=True)
class Rule:
    """A refusal as understood.

    Attributes
    ----------
    code
        For programs.
    sentence, hint
        What stands against it, and what to do.
    field
        JSON pointer into the spec, where one field is to blame.
    verbatim
        The words that matter, without what stands before them.
    fix
        A change of the spec by which the rule would be kept, if there is one.
    """

    code: str
    sentence: str
    hint: str | None
    field: str | None
    verbatim: str
    fix: Fix | None = None


_RESOURCES: Final = "/spec/replica_specs/0/resources"
_FREE: Final = "It starts when others of the namespace have freed enough; ended pods that were kept can count as well."
_ASK: Final = "Ask for less, or ask whoever runs the cluster for more."

_GATEKEEPER: Final = {
    "R001": (
        "You may not use this queue",
        "Choose another queue, or ask whoever runs T9k for it.",
        "/spec/scheduling/queue",
    ),
    "R002": ("The queue's quota is not enough for this job", "Ask for less, or choose another queue.", _RESOURCES),
    "R003": (
        "The queue does not take resources of this shape",
        "State requests and limits for CPU, memory and GPUs as the queue wants them.",
        _RESOURCES,
    ),
    "R026": (
        "A container may have one shared GPU at most",
        "Ask for one nvidia.com/gpu.shared, or for whole GPUs.",
        f"{_RESOURCES}/device",
    ),
    "R027": ("This scheduler is not allowed here", "Choose another scheduler.", "/spec/scheduling/scheduler"),
}  # fmt: skip
"""Rules of T9k's admission by the code in their message (t9k.md §1.5)."""


def rule_of(message: str) -> Rule | None:
    """Return the rule by which something was refused; None if the words are of no known one."""
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
        return Rule("QuotaExceeded", f"The quota {quota} of the namespace is used up", _ASK, _RESOURCES, match[0])
    if short.startswith("count/"):
        sentence = f"The quota {quota} allows {limits[short]} {named(short[6:])}, and {used[short]} are there"
        return Rule("QuotaExceeded", sentence, "Delete jobs that are not needed any more.", None, match[0])
    thing = named(short.removeprefix("requests.").removeprefix("limits."))
    sentence = (
        f"The quota {quota} allows {limits[short]} {thing}, {used[short]} are used, and a replica needs {asked[short]}"
    )
    needed, allowed = amount(asked[short]), amount(limits[short])
    never = needed is not None and allowed is not None and needed > allowed
    field = f"{_RESOURCES}/{'memory' if thing == 'memory' else 'cpu' if thing == 'cpu' else 'device'}"
    return Rule("QuotaExceeded", sentence, _ASK if never else f"{_FREE} {_ASK}", field, match[0])


def _must_specify(match: re.Match[str]) -> Rule:
    what = listed(match["what"].replace(";", ",").split(","))
    sentence = f"The quota {named(match['quota'])} wants every container to state {what}"
    return Rule("QuotaNeedsResources", sentence, "Set them under Resources.", _RESOURCES, match[0])


def _limit_range(match: re.Match[str]) -> Rule:
    bound, resource, allowed, asked = (named(match[name]) for name in ("bound", "resource", "allowed", "asked"))
    least = bound == "minimum"
    sentence = (
        f"A container may have {allowed} {resource} at {'least' if least else 'most'} here, and this asks for {asked}"
    )
    field = f"{_RESOURCES}/{resource}" if resource in ("cpu", "memory") else f"{_RESOURCES}/device"
    return Rule("OutOfRange", sentence, f"Ask for {allowed} or {'more' if least else 'less'}.", field, match[0])


_MISSING: Final = re.compile(
    r"(?:allowPrivilegeEscalation != false|unrestricted capabilities|runAsNonRoot != true|seccompProfile) \("
)
"""Violations of the restricted standard that are mostly fields that are missing."""


def _pod_security(match: re.Match[str]) -> Rule:
    level, what = named(match["level"]), match["what"]
    kinds = re.split(r"\), (?=[a-zA-Z])", what.removesuffix(")"))
    # The name of a missing field is enough here; the whole message is quoted below the sentence.
    short = [kind.partition(" (")[0] if _MISSING.match(kind) else f"{kind})" for kind in kinds]
    sentence = (
        f"The namespace enforces the Pod Security Standard {level}, and the pods don't fit it: {', '.join(short)}"
    )
    if f'"{OPERATORS_CONTAINER}"' in what:
        hint = (
            f"The training operator itself adds the container {OPERATORS_CONTAINER} to workers. Use 1 node, or make the"
            " job elastic, for then it has no such container; or ask whoever runs the cluster to change the operator."
        )
        return Rule("PodSecurity", sentence, hint, "/spec/security", match[0])
    root = [kind for kind in kinds if kind.startswith("runAsUser=0 (")]
    if all(_MISSING.match(kind) or kind in root for kind in kinds):
        other = " and another user than 0 (root)" if root else ""
        hint = f"Clone the job with “{SETTING}” turned on{other}."
        return Rule("PodSecurity", sentence, hint, "/spec/security", match[0], fix=None if root else RESTRICT)
    also = f"Turn on “{SETTING}”, and take" if level.startswith("restricted") else "Take"
    hint = f"{also} the fields that it names out of the manifest."
    return Rule("PodSecurity", sentence, hint, "/spec/security", match[0])


def _service_account(match: re.Match[str]) -> Rule:
    sentence = f"There is no service account {named(match['name'])} in its namespace"
    return Rule("NoServiceAccount", sentence, "Name one that exists, or none.", "/spec/extra", match[0])


def _priority_class(match: re.Match[str]) -> Rule:
    sentence = f"There is no priority class {named(match['name'])}"
    return Rule("NoPriorityClass", sentence, "Choose one that exists.", "/spec/scheduling/priority_class", match[0])


def _terminating(match: re.Match[str]) -> Rule:
    sentence = f"The namespace {named(match['namespace'])} is being deleted"
    return Rule("NamespaceTerminating", sentence, "Choose another one.", "/namespace", match[0])


def _gatekeeper(match: re.Match[str]) -> Rule:
    sentence, hint, field = _GATEKEEPER[match["code"]]
    return Rule(match["code"], sentence, hint, field, match["message"])


def _policy(match: re.Match[str]) -> Rule:
    sentence = f"The cluster's policy {named(match['policy'])} does not allow it: {match['message']}"
    hint = "That is a rule of this cluster: change the job to it, or ask whoever runs the cluster."
    return Rule("PolicyDenied", sentence, hint, None, match[0])


def _webhook(match: re.Match[str]) -> Rule:
    sentence = f"The cluster does not allow it: {match['message']}"
    hint = f"That is a rule of this cluster, of its webhook {named(match['webhook'])}."
    return Rule("WebhookDenied", sentence, hint, None, match["message"])


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
    """Return how many of a device there are as a number: the API server writes 9000 as 9k."""
    number = amount(quantity) if resource.rpartition(".")[2] not in ("cpu", "memory", "ephemeral-storage") else None
    return quantity if number is None or number != int(number) or number > 2**53 else str(int(number))
