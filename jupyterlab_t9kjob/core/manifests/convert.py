"""A spec ⇄ a manifest, whichever kind it is: `render` and `parse`.

Both rest on two functions of a kind: ``build`` makes the manifest of a spec, ``read`` a spec of a
manifest, as far as the model goes. What is lost between them is found by building what was read:
the difference is `JobSpec.extra`, so nothing of a manifest is lost, whatever it says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic import ValidationError

from ..errors import FieldError
from ..spec import JobSpec
from ..translation import _, listing
from .common_names import with_usual_names
from .entrypoints import log_directory
from .kinds import shapes
from .kinds.formats import Format
from .model import Context, Kind, ManifestError, Notes, Parsed, in_words
from .names import (
    DISPLAY_NAME,
    ENV,
    ENV_LOG_DIR,
    SPEC,
)
from .own_fields import add_env, add_metadata, take_ours
from .registry import KINDS
from .remainder import complete, remainder
from .text.merge_patch import apply, diff, leaves

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


# -- from a spec -------------------------------------------------------------------------------------------------------


def render(
    spec: JobSpec,
    kind: Kind,
    *,
    context: Context | None = None,
    dialect: Any = None,
) -> dict[str, Any]:
    """Return the manifest of a spec.

    Parameters
    ----------
    spec
        A spec that the kind can run (see `.support.problems`); what it can't say is left out.
    kind
        The engine that is to run it.
    context
        What else goes into it; nothing by default.
    dialect
        The cluster's spelling of the kind; None for the usual one.

    Raises
    ------
    FieldError
        If `spec.extra` makes something of it that is no job any more.
    """
    context = context or Context()
    form = KINDS[kind]
    manifest = _full(form, spec)
    try:
        read = _read(form, _canonical(form, _checked(manifest, form, Notes())), Notes())
    except ManifestError as error:
        message = _("The extra content breaks the manifest: {error}", error=error.message)
        raise FieldError(message, field="/spec/extra", hint=_("Change or remove it.")) from error
    add_metadata(manifest, spec, context)
    annotations = manifest["metadata"]["annotations"]
    if added := add_env(form, manifest, spec, context):
        annotations[ENV] = ",".join(added)
    read = _with_log_dir(form, read, log_directory(spec) if ENV_LOG_DIR in added else None)
    if rest := remainder(spec.model_copy(update={"display_name": None}), read):
        annotations[SPEC] = rest
    if not annotations:
        del manifest["metadata"]["annotations"]
    return form.translate(manifest, form.usual if dialect is None else dialect)[0]


def _full(form: Format, spec: JobSpec) -> dict[str, Any]:
    manifest: dict[str, Any] = apply(form.build(spec), spec.extra)
    return manifest


# -- to a spec ---------------------------------------------------------------------------------------------------------


def parse(manifest: Any, *, dialect: Any = None) -> Parsed:
    """Read a manifest, whoever made it: ours, pasted, or as the cluster has it.

    Parameters
    ----------
    manifest
        A PyTorchTrainingJob in either spelling, or a PyTorchJob; its status doesn't matter.
    dialect
        The cluster's spelling, for notes of what would be written differently; None for the usual one.

    Raises
    ------
    ManifestError
        If it is of another kind, or a field has the wrong type. `field` is a JSON pointer that begins
        with ``/manifest``.
    """
    notes = Notes()
    if not isinstance(manifest, dict):
        raise ManifestError(_("A manifest is an object with apiVersion, kind, metadata and spec."))
    kind = kind_of(manifest, notes)
    form = KINDS[kind]
    checked = _checked(manifest, form, notes)
    notes.checks += form.translate(checked, form.usual if dialect is None else dialect)[1].checks
    checked = form.translate(checked, form.usual)[0]
    metadata = checked["metadata"]
    name, namespace = metadata.get("name"), metadata.get("namespace")
    ours = take_ours(form, checked)
    spec = _read(form, _canonical(form, checked, notes), notes)
    spec = spec.model_copy(update={"display_name": ours.get(DISPLAY_NAME, "")[:256] or None})
    spec = _with_log_dir(form, spec, ours.get(ENV_LOG_DIR))
    if SPEC in ours:
        spec = complete(spec, ours[SPEC], _test(form, spec, ours.get(ENV_LOG_DIR)))
    _note_kept(spec, notes)
    return Parsed(spec=spec, notes=notes.checks, kind=kind, name=name, namespace=namespace)


def not_in_spec(manifest: dict[str, Any], spec: JobSpec) -> list[str]:
    """Return what of a manifest its spec does not say, in words; next to nothing, for there is `JobSpec.extra`.

    What a cluster has put there (`status`, uid …) does not count, nor what means the same in other words.
    """
    kind = kind_of(manifest, Notes())
    form = KINDS[kind]
    checked = _checked(manifest, form, Notes())
    checked = form.translate(checked, form.usual)[0]
    take_ours(form, checked)
    checked["metadata"].pop("namespace", None)
    there = _said(diff(_settled(form, spec) or {}, _canonical(form, checked)))
    dropped = ["metadata.finalizers"] if (manifest.get("metadata") or {}).get("finalizers") else []
    return [*dropped, *(".".join(path) for path in leaves(there))]


def _said(patch: dict[str, Any]) -> dict[str, Any]:
    """Return a patch without what it removes."""
    said = {key: _said(value) if isinstance(value, dict) else value for key, value in patch.items()}
    return {key: value for key, value in said.items() if value not in (None, {})}


def kind_of(manifest: dict[str, Any], notes: Notes) -> Kind:
    """Return the kind of a manifest, by its own words or, without these, by what is in it.

    Raises
    ------
    ManifestError
        If it is something else.
    """
    kind, version, spec = manifest.get("kind"), manifest.get("apiVersion"), manifest.get("spec")
    for name, form in KINDS.items():
        if kind == form.kind:
            if version != form.api_version:
                message = _("The manifest has no apiVersion; it is read as {known}.", known=form.api_version)
                if isinstance(version, str):
                    message = _(
                        "The manifest says apiVersion {version}; it is read as {known}.",
                        version=version,
                        known=form.api_version,
                    )
                notes.warn("OtherVersion", message, "/manifest/apiVersion")
            return name
        if kind is None and isinstance(spec, dict) and form.replicas in spec:
            message = _("The manifest doesn't say its kind; it is read as a {kind}.", kind=form.kind)
            notes.hint("NoKind", message, "/manifest/kind")
            return name
    known = listing([f"{form.kind} ({form.api_version})" for form in KINDS.values()])
    if kind is None:
        message = _("The manifest doesn't say its kind, and has no replicas by which to tell it.")
        hint = _("Paste it from “apiVersion” on. What can be read: {kinds}.", kinds=known)
        raise ManifestError(message, code="NoKind", field="/manifest/kind", hint=hint)
    message = _("This is a {kind}, not a job that can be read here.", kind=str(kind)[:80])
    hint = _("What can be read: {kinds}.", kinds=known)
    raise ManifestError(message, code="WrongKind", field="/manifest/kind", hint=hint)


def _checked(manifest: dict[str, Any], form: Format, notes: Notes) -> dict[str, Any]:
    """Return a copy of the right shape, without nulls and without what a cluster has put there."""
    result = shapes.without_nulls(manifest)
    result.pop("status", None)
    shapes.check(result, form.shape, notes)
    spec = result.get("spec")
    if spec is None or not spec.get(form.replicas):
        field = f"/manifest/spec/{form.replicas}"
        part = _("This looks like a part of a manifest; paste all of it.")
        hint = part if spec else _("Paste the whole manifest.")
        message = _("{field} is missing: nothing says what is to run.", field=f"spec.{form.replicas}")
        raise ManifestError(message, code="NoReplicas", field=field, hint=hint)
    groups = spec[form.replicas]
    pairs = groups.items() if isinstance(groups, dict) else enumerate(groups)
    for key, group in pairs:
        found = group
        for name in ("template", "spec", "containers"):  # of a type that the kind does not know, anything may be said
            found = found.get(name) if isinstance(found, dict) else None
        if not found:
            field = f"/manifest/spec/{form.replicas}/{key}/template/spec/containers"
            message = _("{field} is missing: a replica needs a container.", field=in_words(field))
            raise ManifestError(message, code="NoContainer", field=field)
        if isinstance(groups, list) and "type" not in group:
            group["type"] = "worker"
    metadata = {
        key: value
        for key, value in result.get("metadata", {}).items()
        if key in ("name", "generateName", "namespace", "labels", "annotations") or key not in shapes.METADATA
    }
    metadata.get("annotations", {}).pop(LAST_APPLIED, None)
    return {"apiVersion": form.api_version, "kind": form.kind, **_without(result, "apiVersion", "kind"),
            "metadata": metadata}  # fmt: skip


def _without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in names}


def _read(form: Format, manifest: dict[str, Any], notes: Notes) -> JobSpec:
    """Return the spec of a canonical manifest, with what the model lacks as `extra`."""
    named, renames = with_usual_names(form, manifest, notes)
    try:
        spec = form.read(named)
    except ValidationError as error:
        raise _no_job(error) from None
    extra = diff(form.build(spec), named)
    return spec.model_copy(update={"extra": _merged(extra, renames)})


def _canonical(form: Format, manifest: dict[str, Any], notes: Notes | None = None) -> dict[str, Any]:
    try:
        return form.canonical(manifest, notes)
    except ValidationError as error:
        raise _no_job(error) from None


def _no_job(error: ValidationError) -> ManifestError:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    message = _("The manifest amounts to no job: {error}.", error=first["msg"])
    if where:
        message = _("The manifest amounts to no job: {field}: {error}.", field=where, error=first["msg"])
    return ManifestError(message, code="InvalidSpec")


def _merged(extra: dict[str, Any], renames: dict[str, Any]) -> dict[str, Any]:
    """Join two patches that touch different things."""
    result = dict(extra)
    for key, value in renames.items():
        here = result.get(key)
        if isinstance(here, dict) and isinstance(value, dict):
            result[key] = _merged(here, value)
        elif key not in result:
            result[key] = value
    return result


def _with_log_dir(form: Format, spec: JobSpec, log_dir: str | None) -> JobSpec:
    """Return a spec whose first log directory is the one that the job is told."""
    if not log_dir or log_directory(spec) == log_dir:
        return spec
    others = [path for path in spec.tensorboard.log_dirs if path != log_dir]
    for paths in ([log_dir, *others], [log_dir, *others[1:]]):
        board = spec.tensorboard.model_copy(update={"log_dirs": paths})
        told = spec.model_copy(update={"tensorboard": board})
        if form.build(told) == form.build(spec):
            return told
    return spec


def _test(form: Format, read: JobSpec, log_dir: str | None) -> Callable[[JobSpec], bool]:
    """Return whether a spec amounts to the manifest that was read, and to its log directory if that is ours."""
    wanted = _settled(form, read)
    told = None if log_dir is None else (log_dir, log_directory(read))

    def fits(spec: JobSpec) -> bool:
        return _settled(form, spec) == wanted and (told is None or log_directory(spec) in told)

    return fits


def _settled(form: Format, spec: JobSpec) -> dict[str, Any] | None:
    """Return the manifest of a spec in its one form; None if it is none."""
    try:
        return _canonical(form, _checked(_full(form, spec), form, Notes()))
    except ManifestError:
        return None


def _note_kept(spec: JobSpec, notes: Notes) -> None:
    kept = [".".join(path) for path in leaves(spec.extra)]
    if kept:
        fields = listing(kept, 5)
        notes.hint("Kept", _("Kept as written, though the form has no field for it: {fields}.", fields=fields))
