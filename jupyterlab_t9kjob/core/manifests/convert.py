"""Converts a spec to a manifest of any kind, and back: `render` and `parse`.

Both rely on two functions of a kind: ``build`` makes the manifest of a spec, and ``read`` makes a spec of those fields
of a manifest that the model has. `parse` then builds the spec that it has read and compares the result with the
manifest. The difference becomes `JobSpec.extra`, so no field of the manifest is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from ..errors import FieldError
from ..running.source import running
from ..spec import ConfigFile, JobSpec
from ..translation import _, listing
from .common_names import with_usual_names
from .diagnostics import diagnosed
from .entrypoints import log_directory, program_of
from .kinds import shapes
from .kinds.formats import Format, groups_of
from .model import Context, Kind, ManifestError, Notes, Parsed, in_words
from .names import (
    CONFIG,
    CONFIG_FILES,
    DISPLAY_NAME,
    ENV,
    ENV_LOG_DIR,
    SPEC,
)
from .own_fields import LAST_APPLIED, add_env, add_metadata, read_files, take_ours
from .registry import KINDS, difference, patched
from .remainder import complete, remainder
from .text.merge_patch import diff, leaves, merged

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
        A spec that the kind can run (see `.support.problems`). Settings that the kind does not have are left out.
    kind
        The manifest kind.
    context
        Namespace, owner and other facts that are not in the spec; none by default.
    dialect
        The cluster's dialect of the kind; None for the usual one.

    Raises
    ------
    FieldError
        If `spec.extra` breaks the manifest.
    """
    context = context or Context()
    form = KINDS[kind]
    manifest = _full(form, spec)
    try:
        canonical = _canonical(form, _complete(form, _checked(manifest, form, Notes())))
        read = _read(form, canonical, Notes(), spec.config_files)
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
    return form.sayable(patched(form, diagnosed(running(spec))))


# -- to a spec ---------------------------------------------------------------------------------------------------------


def parse(manifest: Any, *, dialect: Any = None) -> Parsed:
    """Read a manifest that we rendered, that a user wrote, or that a cluster returned.

    Parameters
    ----------
    manifest
        A PyTorchTrainingJob in either dialect, or a PyTorchJob. Its status is ignored.
    dialect
        The cluster's dialect, for notes about fields that would be rewritten; None for the usual one.

    Raises
    ------
    ManifestError
        If the manifest is of another kind, or a field has the wrong type. `field` is a JSON pointer that begins
        with ``/manifest``.
    """
    notes = Notes()
    if not isinstance(manifest, dict):
        raise ManifestError(_("A manifest is an object with apiVersion, kind, metadata and spec."))
    kind = kind_of(manifest, notes)
    form = KINDS[kind]
    checked = _checked(manifest, form, notes)
    notes.checks += form.translate(checked, form.usual if dialect is None else dialect)[1].checks
    checked = _inner(form, checked)
    metadata = checked["metadata"]
    name, namespace = metadata.get("name"), metadata.get("namespace")
    ours = take_ours(form, checked)
    spec = _read(form, _canonical(form, checked, notes), notes, read_files(ours.get(CONFIG_FILES)))
    spec = spec.model_copy(update={"display_name": ours.get(DISPLAY_NAME, "")[:256] or None})
    spec = _with_log_dir(form, spec, ours.get(ENV_LOG_DIR))
    if SPEC in ours:
        spec = complete(spec, ours[SPEC], _test(form, spec, ours.get(ENV_LOG_DIR)))
    _note_kept(spec, notes)
    return Parsed(spec=spec, notes=notes.checks, kind=kind, name=name, namespace=namespace)


def not_in_spec(manifest: dict[str, Any], spec: JobSpec) -> list[str]:
    """Return the fields of a manifest that its spec does not contain, as dotted paths.

    The list is nearly always empty, because `JobSpec.extra` keeps unknown fields. Fields that a cluster sets (`status`,
    uid …) and equivalent spellings are not listed.

    Parameters
    ----------
    manifest
        The manifest.
    spec
        The spec that was read from it.
    """
    kind = kind_of(manifest, Notes())
    form = KINDS[kind]
    checked = _inner(form, _checked(manifest, form, Notes()))
    take_ours(form, checked)
    checked["metadata"].pop("namespace", None)
    there = _said(diff(spelled(form, spec) or {}, _canonical(form, checked)))
    dropped = ["metadata.finalizers"] if (manifest.get("metadata") or {}).get("finalizers") else []
    return [*dropped, *(".".join(path) for path in leaves(there))]


def _said(patch: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a patch that set a value, without those that remove one."""
    said = {key: _said(value) if isinstance(value, dict) else value for key, value in patch.items()}
    return {key: value for key, value in said.items() if value not in (None, {})}


def overridden(spec: JobSpec, kind: Kind) -> list[str]:
    """Return the fields of a spec that have no effect, because its extra content sets their fields of the manifest.

    Parameters
    ----------
    spec
        The job.
    kind
        The manifest kind.

    Returns
    -------
    list of str
        JSON pointers of fields that say what runs, and on how many nodes.
    """
    form, found = KINDS[kind], []
    for one in (spec.model_copy(update={"extra": {}}), spec):
        manifest = spelled(form, one)
        if manifest is None:
            return []
        found.append(_sets(_read(form, manifest, Notes(), [])))
    wanted, said = found
    return [pointer for pointer, value in wanted.items() if said[pointer] != value]


def _sets(spec: JobSpec) -> dict[str, Any]:
    """Return the values of a spec that extra content may replace, by JSON pointer."""
    programs = [program_of(spec, group) for group in spec.replica_specs]
    torchrun = spec.torchrun
    return {
        "/spec/entrypoint/value": {program.entrypoint.value for program in programs},
        "/spec/args": {tuple(program.args) for program in programs},
        "/spec/working_dir": spec.working_dir,
        "/spec/replica_specs/0/replicas": spec.total_replicas,
        "/spec/torchrun/proc_per_node": torchrun.proc_per_node if torchrun else None,
        "/spec/torchrun/extra_options": torchrun.extra_options if torchrun else None,
        "/spec/elastic": spec.elastic,
    }


def kind_of(manifest: dict[str, Any], notes: Notes) -> Kind:
    """Return the kind of a manifest, by its `kind` field or, if it has none, by its field of replica types.

    Parameters
    ----------
    manifest
        Manifest of any kind.
    notes
        Collects assumptions about a missing kind or another API version.

    Raises
    ------
    ManifestError
        If the kind is not registered.
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
        if kind is None and isinstance(spec, dict) and not form.single and form.replicas in spec:
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
    """Check the types of a manifest's fields; return a copy without nulls and without fields that a cluster sets.

    Parameters
    ----------
    manifest
        A manifest as written, or in the form of the kind's own functions.
    form
        Its kind.
    notes
        Collects a warning for each unknown field.
    """
    result = shapes.without_nulls(manifest)
    result.pop("status", None)
    shapes.check(result, form.shape, notes)
    metadata = {
        key: value
        for key, value in result.get("metadata", {}).items()
        if key in ("name", "generateName", "namespace", "labels", "annotations") or key not in shapes.METADATA
    }
    metadata.get("annotations", {}).pop(LAST_APPLIED, None)
    return {"apiVersion": form.api_version, "kind": form.kind, **_without(result, "apiVersion", "kind"),
            "metadata": metadata}  # fmt: skip


def _inner(form: Format, checked: dict[str, Any]) -> dict[str, Any]:
    """Return a checked manifest in the dialect of the kind's own functions."""
    return _complete(form, form.translate(checked, form.usual if form.inner is None else form.inner)[0])


def _complete(form: Format, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest whose replica types have names, if the kind names them; refuse one without containers."""
    spec = manifest.get("spec")
    if spec is None or not spec.get(form.replicas):
        field = f"/manifest/spec{form.place}/{form.replicas}"
        part = _("This looks like a part of a manifest; paste all of it.")
        hint = part if spec else _("Paste the whole manifest.")
        message = _("{field} is missing: nothing says what is to run.", field=in_words(field))
        raise ManifestError(message, code="NoReplicas", field=field, hint=hint)
    for pointer, group in groups_of(form, spec):
        found: Any = group
        for name in ("template", "spec", "containers"):  # an unknown replica type may have any shape
            found = found.get(name) if isinstance(found, dict) else None
        if not found:
            field = f"/manifest/spec{form.place}{pointer}/template/spec/containers"
            message = _("{field} is missing: a replica needs a container.", field=in_words(field))
            raise ManifestError(message, code="NoContainer", field=field)
        if form.listed_by and form.listed_by not in group:
            group[form.listed_by] = "worker"
    return manifest


def _without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in names}


def _read(form: Format, manifest: dict[str, Any], notes: Notes, files: list[ConfigFile]) -> JobSpec:
    """Return the spec of a canonical manifest, with the fields that the model lacks as `extra`.

    Parameters
    ----------
    form, manifest
        The manifest, and its kind.
    notes
        Collects what is assumed.
    files
        Config files of the job, whose texts are in no field of the manifest.
    """
    named, renames = with_usual_names(form, manifest, notes)
    try:
        spec = form.read(named)
    except ValidationError as error:
        raise _no_job(error) from None
    if files and _mounts_files(form, named):
        spec = spec.model_copy(update={"config_files": files})
    return spec.model_copy(update={"extra": merged(difference(form, spec, named), renames)})


def _mounts_files(form: Format, manifest: dict[str, Any]) -> bool:
    """Return True if the pods have the volume of config files."""
    return any(
        volume.get("name") == CONFIG
        for template in form.templates(manifest)
        for volume in template.get("spec", {}).get("volumes", [])
    )


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


def _with_log_dir(form: Format, spec: JobSpec, log_dir: str | None) -> JobSpec:
    """Return a spec whose first log directory is the value of ``T9KJOB_LOG_DIR`` in the manifest."""
    if not log_dir or log_directory(spec) == log_dir:
        return spec
    built, others = form.build(spec), [path for path in spec.tensorboard.log_dirs if path != log_dir]
    for paths in ([log_dir, *others], [log_dir, *others[1:]]):
        board = spec.tensorboard.model_copy(update={"log_dirs": paths})
        told = spec.model_copy(update={"tensorboard": board})
        if form.build(told) == built:
            return told
    return spec


def _test(form: Format, read: JobSpec, log_dir: str | None) -> Callable[[JobSpec], bool]:
    """Return a function that is True for specs with the manifest and the log directory that were read."""
    wanted = spelled(form, read)
    told = None if log_dir is None else (log_dir, log_directory(read))

    def fits(spec: JobSpec) -> bool:
        return spelled(form, spec) == wanted and (told is None or log_directory(spec) in told)

    return fits


def spelled(form: Format, spec: JobSpec) -> dict[str, Any] | None:
    """Return the canonical manifest of a spec in the dialect `inner`; None if the spec's extra content breaks it.

    Parameters
    ----------
    form
        The format.
    spec
        The job.
    """
    try:
        return _canonical(form, _complete(form, _checked(_full(form, spec), form, Notes())))
    except ManifestError:
        return None


def _note_kept(spec: JobSpec, notes: Notes) -> None:
    kept = [".".join(path) for path in leaves(_said(spec.extra))]
    if kept:
        fields = listing(kept, 5)
        notes.hint("Kept", _("Kept as written, though the form has no field for it: {fields}.", fields=fields))
