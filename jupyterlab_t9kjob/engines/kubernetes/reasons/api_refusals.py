"""Refusals by the API server: as errors at the field of the form, and as reasons if a job's controller was refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ....core.errors import BadRequest, Conflict, FieldError, JobError, NotAllowed, NotFound, TooLarge, Unavailable
from ....core.job import Reason
from ....core.manifests.model import in_words
from ....core.translation import Text, _, _n
from ..client.api import ApiError, Json, Unreachable
from ..client.json_access import text
from ..objects.events import ClusterEvent
from ..objects.field_paths import field_of, pointer_of
from ..objects.kinds import ReplicaView
from ..objects.text import answer_of, cleaned, full_stop, listed, made, named, quoted, waiting_since

if TYPE_CHECKING:
    from .admission_rules import Rule

_PERMISSION: Final = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>[\w*]+) resource "(?P<resource>[^"]+)"'
    r' in API group "(?P<group>[^"]*)" (?:in the namespace "(?P<namespace>[^"]*)"|(?P<everywhere>at the cluster scope))'
)
_UNKNOWN_FIELD: Final = re.compile(r'(?P<how>unknown|duplicate) field "(?P<field>[^"]{1,1000})"')
_AT_A_FIELD: Final = re.compile(r"^(?P<field>(?:spec|metadata)[\w.\[\]/-]*): (?P<message>.+)", re.DOTALL)
_WRONG_VALUE: Final = re.compile(
    r"^(?:(?:Invalid|Unsupported|Duplicate) value: .*?: |Forbidden: |Too long: |Too many: )(?P<why>.+)$", re.DOTALL
)
"""Beginning of a field's error (``field.ErrorType`` of Kubernetes)."""
_TYPE: Final = re.compile(r"must be of type (?P<type>\w+)")
_NO_WEBHOOK: Final = re.compile(r'failed calling webhook "(?P<webhook>[^"]{1,253})"')

_POD: Final = re.compile(r"[a-z0-9][-.a-z0-9]{0,252}")

_THINGS: Final = {
    "jobs": "Jobs",
    "services": "Services",
    "pytorchjobs": "PyTorchJobs",
    "pytorchtrainingjobs": "PyTorchTrainingJobs",
    "trainjobs": "TrainJobs",
    "jobsets": "JobSets",
    "pods/log": _("logs of pods"),
    "pods/exec": _("terminals in pods"),
    "persistentvolumeclaims": "PVCs",
}
_AGAIN: Final = _("Try again in a while.")
_MOST_HINT: Final = 600
_MOST_WITHOUT_STOP: Final = 298


def refused(error: ApiError | Unreachable, manifest: Json | None = None, *, edited: bool = False) -> JobError:
    """Return a refusal by the API server as an error for the user, at the field that it is about.

    Parameters
    ----------
    error
        The API server's error, or that of the connection.
    manifest
        The job's object, if it was about to be created or changed.
    edited
        True if the user wrote the manifest: errors are at its own fields (``/manifest/…``) then, otherwise at the
        fields of the spec that the manifest's fields come from.
    """
    if isinstance(error, Unreachable):
        return Unavailable(answer_of(error), hint=_("The connection to the cluster is tried again by itself."))
    found = _by_message(error, manifest, edited) or _by_status(error, manifest)
    found.message = cleaned(Text.restored(found.message))
    found.hint = cleaned(Text.restored(found.hint), _MOST_HINT) if found.hint else None
    found.verbatim = quoted(found.verbatim or error.message)
    return found


def of_pods(cluster_events: Sequence[ClusterEvent], replica: ReplicaView | None = None, *, now: float) -> Reason | None:
    """Return why the job's controller could not create pods; None if no event reports a failure.

    A quota applies to pods, so a job that is too large for it is accepted, and its pods are refused.

    Parameters
    ----------
    cluster_events
        Events of the job, newest first.
    replica
        The replica that has no pod; None for any replica.
    now
        Seconds since the epoch; long waits are counted from their start.
    """
    for one in cluster_events:
        if replica is not None and not _is_about(one, replica):
            continue
        if one.warning and (
            "forbidden" in one.message or "denied" in one.message or one.reason.startswith("FailedCreate")
        ):
            return _of_refused_pods(one, now)
        if one.reason in ("SuccessfulCreatePod", "SuccessfulCreate", "NewReplica"):
            return None
    return None


def _of_refused_pods(one: ClusterEvent, now: float) -> Reason:
    """Return why pods were refused, by the event that reports it."""
    from .admission_rules import rule_of

    down, rule = _NO_WEBHOOK.search(one.message), rule_of(one.message)
    code, fix = "Refused", None
    if down is not None:
        code = "WebhookDown"
        sentence = _(
            "The webhook {webhook}, which has to agree to its pods, does not answer", webhook=named(down["webhook"])
        )
        hint: Text | None = _(
            "Its pods are tried again by themselves. An administrator of the cluster has to fix it if this does not"
            " change."
        )
    elif rule is not None:
        code, sentence, hint, fix = rule.code, rule.sentence, rule.hint, rule.fix
    else:
        sentence, hint = _("The cluster refuses its pods"), _("It is tried again by itself.")
    return made(code, waiting_since(sentence, one.first, now), hint, verbatim=one.message, fix=fix)


def _is_about(cluster_event: ClusterEvent, replica: ReplicaView) -> bool:
    """Return True if an event of the job names a replica's pod: both kinds end the pod's name with the replica's."""
    return any(pod.endswith(f"-{replica.name}") for pod in _POD.findall(cluster_event.message))


# -- by message --------------------------------------------------------------------------------------------------------


def _by_message(error: ApiError, manifest: Json | None, edited: bool) -> JobError | None:
    """Return the error for a message of a known form; None for others."""
    from .admission_rules import rule_of

    message = error.message
    unknown = list(_UNKNOWN_FIELD.finditer(message)) if "strict decoding" in message else []
    if unknown:
        return _unknown_fields(unknown, manifest)
    permission = _PERMISSION.search(message)
    if permission is not None:
        return _no_permission(permission, manifest)
    down = _NO_WEBHOOK.search(message)
    if down is not None:
        return Unavailable(
            _("The webhook {webhook}, which has to agree, does not answer.", webhook=named(down["webhook"])),
            code="WebhookDown",
            hint=_("Try again in a while. An administrator of the cluster has to fix it if this does not change."),
        )
    rule = rule_of(message) if error.status in (403, 422, 400) else None
    if rule is not None:
        return _of_rule(rule, error, manifest, edited)
    causes = [(field, words) for field, words in error.causes if field and field != "<nil>"]
    if causes:
        return _wrong_field(*causes[0], len(causes) - 1, manifest, edited)
    return None


def _no_permission(permission: re.Match[str], manifest: Json | None) -> JobError:
    verb, resource, user = permission["verb"], permission["resource"], permission["user"]
    full = f"{resource}.{permission['group']}" if permission["group"] else resource
    account = re.fullmatch(r"system:serviceaccount:([^:]*):([^:]*)", user)
    if account is not None:
        who: str = _("the service account {name} of namespace {namespace}", name=account[2], namespace=account[1])
    else:
        who = named(user) or _("this account")
    return NotAllowed(
        _missing_permission(
            verb, _THINGS.get(resource, named(resource)), None if permission["everywhere"] else permission["namespace"]
        ),
        hint=_(
            "An administrator of the cluster or the namespace can give {account} the permission “{verb}” on"
            " {resource}.",
            account=who,
            verb=named(verb),
            resource=named(full),
        ),
        field="/namespace" if manifest is not None and verb == "create" else None,
    )


def _missing_permission(verb: str, things: str, namespace: str | None) -> Text:
    """Return which permission the account does not have; `namespace` is None for the whole cluster."""
    if namespace is None:
        return _(
            "You don't have the permission “{verb}” on {things} in the whole cluster.", verb=named(verb), things=things
        )
    where = named(namespace)
    match verb:
        case "create":
            return _("You don't have permission to create {things} in namespace {where}.", things=things, where=where)
        case "delete":
            return _("You don't have permission to delete {things} in namespace {where}.", things=things, where=where)
        case "patch" | "update":
            return _("You don't have permission to change {things} in namespace {where}.", things=things, where=where)
        case "get":
            return _("You don't have permission to see {things} in namespace {where}.", things=things, where=where)
        case "list":
            return _("You don't have permission to list {things} in namespace {where}.", things=things, where=where)
        case "watch":
            return _("You don't have permission to watch {things} in namespace {where}.", things=things, where=where)
    return _(
        "You don't have the permission “{verb}” on {things} in namespace {where}.",
        verb=named(verb),
        things=things,
        where=where,
    )


def _unknown_fields(unknown: Sequence[re.Match[str]], manifest: Json | None) -> JobError:
    pointer = pointer_of(unknown[0]["field"], manifest)
    names = [in_words(pointer_of(one["field"], manifest)) for one in unknown]
    if unknown[0]["how"] == "duplicate":
        message = _("{field} is set twice.", field=names[0].with_words(named))
        return FieldError(message, code="DuplicateField", field=pointer, hint=_("Remove one."))
    hint = _("Check the spelling. The cluster would drop it without a message, so the job was not created.")
    return FieldError(
        _("This cluster does not know {fields}.", fields=listed(names)), code="UnknownField", field=pointer, hint=hint
    )


def _of_rule(rule: Rule, error: ApiError, manifest: Json | None, edited: bool) -> JobError:
    """Return the error for a rule; a webhook's message may name the field itself."""
    at_field = _AT_A_FIELD.match(rule.verbatim) if rule.code == "WebhookDenied" else None
    if at_field is not None:
        wrong = _wrong_field(at_field["field"], at_field["message"], 0, manifest, edited)
        wrong.hint = rule.hint
        return wrong
    message = full_stop(rule.sentence)
    if rule.field is not None:
        return FieldError(message, code=rule.code, field=rule.field, hint=rule.hint, verbatim=error.message)
    return NotAllowed(message, code=rule.code, hint=rule.hint, verbatim=error.message)


def _wrong_field(field: str, words: str, others: int, manifest: Json | None, edited: bool) -> JobError:
    """Return the error for a field whose value is not accepted.

    Parameters
    ----------
    field, words
        The field's path in the manifest, and the API server's message about it.
    others
        Number of other fields that are not accepted.
    manifest, edited
        See `refused`.
    """
    pointer = pointer_of(field, manifest)
    hint = None
    if others:
        hint = _n("The cluster names {n} other field below.", "The cluster names {n} other fields below.", others)
    at = pointer if edited else field_of(pointer, manifest) or pointer
    sentence = cleaned(_value_error(pointer, words), _MOST_WITHOUT_STOP)
    return FieldError(full_stop(sentence), code="Invalid", field=at, hint=hint)


def _value_error(pointer: str, words: str) -> Text:
    """Return why the value of a field is not accepted, a sentence without a full stop."""
    field = in_words(pointer).with_words(named)
    kind, wrong = _TYPE.search(words), _WRONG_VALUE.match(words)
    if pointer == "/manifest/metadata/name":
        return _("The name can't be used: it has small letters, digits and dashes, and begins with a letter")
    if words.startswith("Required value"):
        why = words.partition(": ")[2]
        return _("{field} is missing: {why}", field=field, why=why) if why else _("{field} is missing", field=field)
    if kind is not None:
        return _type_error(field, kind["type"])
    if words.startswith("Unsupported value"):
        supported = words.partition("supported values: ")[2]
        if supported:
            return _("{field} must be one of {values}", field=field, values=supported)
        return _("{field} has a value that is not supported", field=field)
    if words.startswith("Duplicate value"):
        return _("{field} is set twice", field=field)
    return _("{field} is wrong: {why}", field=field, why=wrong["why"] if wrong is not None else words)


def _type_error(field: Text, kind: str) -> Text:
    match kind:
        case "integer":
            return _("{field} must be a whole number", field=field)
        case "string":
            return _("{field} must be text", field=field)
        case "boolean":
            return _("{field} must be true or false", field=field)
        case "number":
            return _("{field} must be a number", field=field)
        case "array":
            return _("{field} must be a list", field=field)
        case "object":
            return _("{field} must be an object", field=field)
    return _("{field} must be of type {type}", field=field, type=named(kind))


# -- by status ---------------------------------------------------------------------------------------------------------


def _by_status(error: ApiError, manifest: Json | None) -> JobError:
    """Return the error for a status, if the message has no known form."""
    name, kind = text(manifest, "metadata", "name") or "", text(manifest, "kind")
    match error.status:
        case 409:
            return _conflict(error, name, text(manifest, "metadata", "namespace"))
        case 401:
            hint = _("Its token or certificate may have expired. Log in to the cluster again.")
            return NotAllowed(
                _("The cluster does not accept the credentials of this lab."), code="Unauthorized", hint=hint
            )
        case 403:
            return NotAllowed(
                _("The cluster refuses the request."), hint=_("An administrator of the cluster can say more.")
            )
        case 404:
            return _not_there(error, kind)
        case 413:
            return TooLarge(
                _("The manifest is larger than the cluster accepts."), hint=_("Put large texts into files on a volume.")
            )
        case 422:
            return FieldError(_("The cluster does not accept the manifest."), field="/manifest")
        case 410:
            return Unavailable(_("The cluster no longer has the requested version."), code="Expired", hint=_AGAIN)
    if error.status == 429 or error.status >= 500 or error.status == 408 or error.reason == "Timeout":
        return _overloaded(error)
    if "namespace of the provided object does not match" in error.message:
        hint = _("Take the namespace out of the manifest, or choose the same in the form.")
        return FieldError(_("The manifest names another namespace."), field="/manifest/metadata/namespace", hint=hint)
    if "does not match the expected API version" in error.message:
        return FieldError(_("The manifest has another API version."), field="/manifest/apiVersion")
    return BadRequest(_("The cluster does not understand the request."), field="/manifest" if manifest else None)


def _overloaded(error: ApiError) -> JobError:
    """Return the error for an API server that can't answer now."""
    if error.status == 429:
        hint = _AGAIN
        if isinstance(error.retry_after, int | float):
            hint = _("Try again in {seconds} s.", seconds=round(error.retry_after))
        return Unavailable(_("The cluster has too much to do."), code="TooManyRequests", hint=hint)
    if error.status in (408, 504) or error.reason == "Timeout":
        hint = _("The request may have been carried out: check that before you repeat it.")
        return Unavailable(_("The cluster did not answer in time."), code="Timeout", hint=hint)
    return Unavailable(_("The cluster has an internal error."), code=error.reason or None, hint=_AGAIN)


def _conflict(error: ApiError, name: str, namespace: str | None) -> JobError:
    """Return the error for a name that is taken, or an object that changed meanwhile."""
    job, where = named(name), named(namespace) if namespace else None
    if error.reason != "AlreadyExists":
        hint = _("Check its current state, and try again.")
        return Conflict(_("The job was changed meanwhile."), code="Conflict", hint=hint)
    if "is being deleted" in error.message:
        if where:
            message = _("A job {job} is still being deleted in namespace {namespace}.", job=job, namespace=where)
        else:
            message = _("A job {job} is still being deleted.", job=job)
        hint = _("Choose another name, or wait.")
    else:
        if where:
            message = _("There is already a job {job} in namespace {namespace}.", job=job, namespace=where)
        else:
            message = _("There is already a job {job}.", job=job)
        hint = _("Choose another name.")
    return Conflict(message, code="AlreadyExists", field="/spec/name", hint=hint)


def _not_there(error: ApiError, kind: str | None) -> JobError:
    """Return the error for an object, a kind or a namespace that does not exist."""
    missing = re.search(r'namespaces "(?P<name>[^"]*)" not found', error.message)
    if missing is not None:
        message = _("There is no namespace {namespace}.", namespace=named(missing["name"]))
        return FieldError(message, code="NoSuchNamespace", field="/namespace", hint=_("Choose one that exists."))
    if error.reason != "NotFound" or "could not find the requested resource" in error.message:
        hint = _("An administrator of the cluster has to install what runs such jobs, or has removed it.")
        if kind:
            message = _("This cluster has no {kind}.", kind=named(kind))
        else:
            message = _("This cluster does not have this kind of object.")
        return Unavailable(message, code="NoSuchKind", hint=hint)
    return NotFound(_("The object does not exist or was deleted."))
