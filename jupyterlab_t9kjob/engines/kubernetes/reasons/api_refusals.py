"""Refusals of the API server: as typed errors at the field, and as reasons where the job's controller met them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ....core.errors import BadRequest, Conflict, FieldError, JobError, NotAllowed, NotFound, TooLarge, Unavailable
from ....core.job import Reason
from ....core.manifests.model import in_words
from ..client.api import ApiError, Json, Unreachable
from ..client.json_access import text
from ..objects.events import Happening
from ..objects.field_paths import field_of, pointer_of
from ..objects.kinds import ReplicaView
from ..objects.text import answer_of, listed, made, named, plain, quoted, waited
from .admission_rules import Rule, rule_of

_RIGHT: Final = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>[\w*]+) resource "(?P<resource>[^"]+)"'
    r' in API group "(?P<group>[^"]*)" (?:in the namespace "(?P<namespace>[^"]*)"|(?P<everywhere>at the cluster scope))'
)
_UNKNOWN_FIELD: Final = re.compile(r'(?P<how>unknown|duplicate) field "(?P<field>[^"]{1,1000})"')
_AT_A_FIELD: Final = re.compile(r"^(?P<field>(?:spec|metadata)[\w.\[\]/-]*): (?P<message>.+)", re.DOTALL)
_WRONG_VALUE: Final = re.compile(
    r"^(?:(?:Invalid|Unsupported|Duplicate) value: .*?: |Forbidden: |Too long: |Too many: )(?P<why>.+)$", re.DOTALL
)
"""What a field's error begins with (``field.ErrorType`` of Kubernetes)."""
_TYPE: Final = re.compile(r"must be of type (?P<type>\w+)")
_NO_WEBHOOK: Final = re.compile(r'failed calling webhook "(?P<webhook>[^"]{1,253})"')

_POD: Final = re.compile(r"[a-z0-9][-.a-z0-9]{0,252}")

_VERBS: Final = {"create": "create", "delete": "delete", "patch": "change", "update": "change", "get": "see",
                 "list": "list", "watch": "watch"}  # fmt: skip
_THINGS: Final = {
    "pytorchjobs": "PyTorchJobs",
    "pytorchtrainingjobs": "PyTorchTrainingJobs",
    "pods/log": "the logs of pods",
    "pods/exec": "terminals in pods",
    "persistentvolumeclaims": "PVCs",
}
_TYPES: Final = {"integer": "a whole number", "string": "text", "boolean": "true or false", "number": "a number",
                 "array": "a list", "object": "an object"}  # fmt: skip
_ADMIN: Final = "Whoever runs the cluster"
_AGAIN: Final = "Try again in a while."


def refused(error: ApiError | Unreachable, manifest: Json | None = None, *, edited: bool = False) -> JobError:
    """Return a refusal of the API server as an error for the user, at the field that it means.

    Parameters
    ----------
    error
        What came instead of an answer.
    manifest
        The job's object, where it was about to be created or changed.
    edited
        Whether the user wrote the manifest: then errors are at its own fields (``/manifest/…``), else at those of the
        spec that they come from.
    """
    if isinstance(error, Unreachable):
        return Unavailable(answer_of(error), hint="The cluster is tried again by itself.")
    found = _by_words(error, manifest, edited) or _by_status(error, manifest)
    found.message = plain(found.message)
    found.hint = plain(found.hint, 600) if found.hint else None
    found.verbatim = quoted(found.verbatim or error.message)
    return found


def of_pods(happenings: Sequence[Happening], place: ReplicaView | None = None, *, now: float) -> Reason | None:
    """Return why the job's controller could not create pods; None if no event says that it could not.

    A quota acts on pods, so a job that is too large for it is accepted, and its pods are refused (t9k.md §1.5).

    Parameters
    ----------
    happenings
        What happened to the job, newest first.
    place
        The replica that has no pod; None for any of them.
    now
        Seconds since the epoch: a long wait counts up.
    """
    for one in happenings:
        if place is not None and not _is_about(one, place):
            continue
        if one.warning and (
            "forbidden" in one.message or "denied" in one.message or one.reason.startswith("FailedCreate")
        ):
            rule, wait = rule_of(one.message), waited(one.first, now, " · waiting ")
            down = _NO_WEBHOOK.search(one.message)
            if down is not None:
                hint = f"Its pods are tried again by themselves. {_ADMIN} has to mend it if it stays so."
                return made("WebhookDown", _webhook_down(down, "to its pods") + wait, hint, verbatim=one.message)
            if rule is not None:
                return made(rule.code, rule.sentence + wait, rule.hint, verbatim=one.message, fix=rule.fix)
            sentence = f"The cluster refuses its pods{wait}"
            return made("Refused", sentence, "It is tried again by itself.", verbatim=one.message)
        if one.reason in ("SuccessfulCreatePod", "NewReplica"):
            return None
    return None


def _webhook_down(down: re.Match[str], to: str = "") -> str:
    return f"The webhook {named(down['webhook'])}, which has to agree{f' {to}' if to else ''}, does not answer"


def _is_about(happening: Happening, place: ReplicaView) -> bool:
    """Whether an event of the job names a replica's pod: both kinds name pods after their place."""
    return any(pod.endswith(f"-{place.name}") for pod in _POD.findall(happening.message))


def _by_words(error: ApiError, manifest: Json | None, edited: bool) -> JobError | None:
    """Return what the words mean, where they have a form that is known."""
    message = error.message
    unknown = list(_UNKNOWN_FIELD.finditer(message)) if "strict decoding" in message else []
    if unknown:
        return _unknown_fields(unknown, manifest)
    right = _RIGHT.search(message)
    if right is not None:
        return _no_right(right, manifest)
    down = _NO_WEBHOOK.search(message)
    if down is not None:
        return Unavailable(
            f"{_webhook_down(down)}.", code="WebhookDown", hint=f"{_AGAIN} {_ADMIN} has to mend it if it stays so."
        )
    rule = rule_of(message) if error.status in (403, 422, 400) else None
    if rule is not None:
        return _of_rule(rule, error, manifest, edited)
    causes = [(field, words) for field, words in error.causes if field and field != "<nil>"]
    if causes:
        return _wrong_field(*causes[0], len(causes) - 1, manifest, edited)
    return None


def _by_status(error: ApiError, manifest: Json | None) -> JobError:
    """Return what the status means."""
    name, kind = text(manifest, "metadata", "name") or "", text(manifest, "kind") or "such kind of object"
    if error.status == 409:
        return _conflict(error, name, text(manifest, "metadata", "namespace"))
    if error.status == 401:
        hint = "Its token or certificate may have expired. Log in to the cluster again."
        return NotAllowed("The cluster does not accept who this lab says it is.", code="Unauthorized", hint=hint)
    if error.status == 403:
        return NotAllowed("The cluster refuses it.", hint=f"{_ADMIN} can say more.")
    if error.status == 404:
        return _not_there(error, named(kind))
    if error.status == 413:
        return TooLarge(
            "The manifest is larger than the cluster takes.", hint="Put large texts into files on a volume."
        )
    if error.status == 422:
        return FieldError("The cluster does not accept the manifest.", field="/manifest")
    if error.status == 429:
        after = f" in {round(error.retry_after)} s" if isinstance(error.retry_after, int | float) else " in a while"
        return Unavailable("The cluster has too much to do.", code="TooManyRequests", hint=f"Try again{after}.")
    if error.status in (408, 504) or error.reason == "Timeout":
        hint = "It may have been done all the same: look before you repeat it."
        return Unavailable("The cluster did not answer in time.", code="Timeout", hint=hint)
    if error.status >= 500:
        return Unavailable("The cluster has a trouble of its own.", code=error.reason or None, hint=_AGAIN)
    if error.status == 410:
        return Unavailable("The cluster has forgotten where we were.", code="Expired", hint=_AGAIN)
    if "namespace of the provided object does not match" in error.message:
        hint = "Take the namespace out of the manifest, or choose the same in the form."
        return FieldError("The manifest names another namespace.", field="/manifest/metadata/namespace", hint=hint)
    if "does not match the expected API version" in error.message:
        return FieldError("The manifest is of another version.", field="/manifest/apiVersion")
    return BadRequest("The cluster does not understand the request.", field="/manifest" if manifest else None)


def _conflict(error: ApiError, name: str, namespace: str | None) -> JobError:
    where = f" in namespace {named(namespace)}" if namespace else ""
    if error.reason == "AlreadyExists":
        if "is being deleted" in error.message:
            message, hint = f"A job {named(name)} is still being deleted{where}.", "Choose another name, or wait."
        else:
            message, hint = f"There is a job {named(name)}{where} already.", "Choose another name."
        return Conflict(message, code="AlreadyExists", field="/spec/name", hint=hint)
    return Conflict("The job was changed meanwhile.", code="Conflict", hint="Look at it as it is now, and try again.")


def _not_there(error: ApiError, kind: str) -> JobError:
    missing = re.search(r'namespaces "(?P<name>[^"]*)" not found', error.message)
    if missing is not None:
        message = f"There is no namespace {named(missing['name'])}."
        return FieldError(message, code="NoSuchNamespace", field="/namespace", hint="Choose one that exists.")
    if error.reason != "NotFound" or "could not find the requested resource" in error.message:
        hint = f"{_ADMIN} has to install what runs such jobs, or has taken it away."
        return Unavailable(f"This cluster has no {kind} (any more).", code="NoSuchKind", hint=hint)
    return NotFound("It is not there (any more).")


def _no_right(right: re.Match[str], manifest: Json | None) -> JobError:
    verb, resource = right["verb"], right["resource"]
    thing = _THINGS.get(resource, named(resource))
    where = "in the whole cluster" if right["everywhere"] else f"in namespace {named(right['namespace'] or '')}"
    full = f"{resource}.{right['group']}" if right["group"] else resource
    account = re.fullmatch(r"system:serviceaccount:([^:]*):([^:]*)", right["user"])
    who = f"the service account {account[2]} of namespace {account[1]}" if account else right["user"] or "this account"
    return NotAllowed(
        f"This lab may not {_VERBS.get(verb, named(verb))} {thing} {where}.",
        hint=f"{_ADMIN} or the namespace can give {named(who)} the right “{named(verb)}” on {named(full)}.",
        field="/namespace" if manifest is not None and verb == "create" else None,
    )


def _unknown_fields(unknown: Sequence[re.Match[str]], manifest: Json | None) -> JobError:
    pointer = pointer_of(unknown[0]["field"], manifest)
    words = [in_words(pointer_of(one["field"], manifest)) for one in unknown]
    if unknown[0]["how"] == "duplicate":
        return FieldError(
            f"{named(words[0])} is there twice.", code="DuplicateField", field=pointer, hint="Remove one."
        )
    message = f"This cluster knows no {listed(words)}."
    hint = "Check the spelling. It would be dropped in silence, so the job was not created."
    return FieldError(message, code="UnknownField", field=pointer, hint=hint)


def _of_rule(rule: Rule, error: ApiError, manifest: Json | None, edited: bool) -> JobError:
    """Return a rule's refusal; a webhook may name the field itself."""
    named_field = _AT_A_FIELD.match(rule.verbatim) if rule.code == "WebhookDenied" else None
    if named_field is not None:
        wrong = _wrong_field(named_field["field"], named_field["message"], 0, manifest, edited)
        wrong.hint = rule.hint
        return wrong
    sentence = rule.sentence if rule.sentence.endswith(".") else f"{rule.sentence}."
    if rule.field is not None:
        return FieldError(sentence, code=rule.code, field=rule.field, hint=rule.hint, verbatim=error.message)
    return NotAllowed(sentence, code=rule.code, hint=rule.hint, verbatim=error.message)


def _wrong_field(field: str, words: str, others: int, manifest: Json | None, edited: bool) -> JobError:
    pointer = pointer_of(field, manifest)
    name = named(in_words(pointer))
    kind, wrong = _TYPE.search(words), _WRONG_VALUE.match(words)
    if pointer == "/manifest/metadata/name":
        sentence = "The name can't be used: it has small letters, digits and dashes, and begins with a letter"
    elif words.startswith("Required value"):
        _, _, why = words.partition(": ")
        sentence = f"{name} is missing{f': {why}' if why else ''}"
    elif kind is not None:
        sentence = f"{name} must be {_TYPES.get(kind['type'], named(kind['type']))}"
    elif words.startswith("Unsupported value"):
        _, _, supported = words.partition("supported values: ")
        sentence = f"{name} must be one of {supported}" if supported else f"{name} has a value that is not supported"
    elif words.startswith("Duplicate value"):
        sentence = f"{name} is there twice"
    elif wrong is not None:
        sentence = f"{name} is wrong: {wrong['why']}"
    else:
        sentence = f"{name} is wrong: {words}"
    hint = f"The cluster names {others} more below." if others else None
    at = pointer if edited else field_of(pointer, manifest) or pointer
    sentence = plain(sentence, 298)
    return FieldError(
        sentence if sentence.endswith(("…", ".")) else f"{sentence}.", code="Invalid", field=at, hint=hint
    )
