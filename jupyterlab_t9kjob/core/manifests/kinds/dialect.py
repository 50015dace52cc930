"""The two dialects of PyTorchTrainingJob that ``v1beta1`` has had (t9k-facts.md, Dialects).

================  =====================================================  ======================================
feature           older                                                  current
================  =====================================================  ======================================
switches          ``enable``                                             ``enabled``
elastic jobs      ``torchrunConfig.minNodes``                            ``elastic``
TensorBoard       ``tensorboardSpec.trainingLogFilesets``                ``tensorboardSpec.logDir``
pausing           –                                                      ``runMode.pause``
================  =====================================================  ======================================

All other modules use the current dialect. Manifests are translated when they are read and before they are submitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from ...translation import Text, _, _n, listing
from ..json_values import as_object
from ..model import Notes, child

GROUP: Final = "batch.tensorstack.dev"
KIND: Final = "PyTorchTrainingJob"


@dataclass(frozen=True)
class Dialect:
    """Dialect in which a cluster reads PyTorchTrainingJobs.

    Attributes
    ----------
    switch
        Name of switches: ``enabled`` or ``enable``.
    elastic
        True if elastic jobs have a block of their own; False if they use ``torchrunConfig.minNodes``.
    log_dir
        True if TensorBoard reads ``logDir``; False if it reads ``trainingLogFilesets``.
    pause
        True if jobs can be paused.
    certain
        True if the dialect was found in the cluster's schema. Otherwise a dry run must precede each create, because a
        wrong switch turns torchrun off without an error.
    """

    switch: str = "enabled"
    elastic: bool = True
    log_dir: bool = True
    pause: bool = True
    certain: bool = True

    @property
    def is_older(self) -> bool:
        """True for the older spelling of switches."""
        return self.switch == "enable"

    @classmethod
    def from_schema(cls, document: Any) -> Dialect:
        """Return the dialect of a cluster.

        Parameters
        ----------
        document
            ``/openapi/v3/apis/batch.tensorstack.dev/v1beta1``, ``/openapi/v2``, or the
            CustomResourceDefinition itself.

        Returns
        -------
        Dialect
            The current dialect with `certain` False if the document does not contain the kind's fields.
        """
        for schema in schemas_of(document, GROUP, KIND):
            spec = child_schema(schema, "spec")
            torchrun = properties_of(child_schema(spec, "torchrunConfig"))
            if not torchrun.keys() & {"enabled", "enable"}:
                continue
            board = properties_of(child_schema(spec, "tensorboardSpec"))
            return cls(
                switch="enabled" if "enabled" in torchrun else "enable",
                elastic="elastic" in properties_of(spec) or "minNodes" not in torchrun,
                log_dir="logDir" in board or "trainingLogFilesets" not in board,
                pause="pause" in properties_of(child_schema(spec, "runMode")),
            )
        return cls(certain=False)


CURRENT: Final = Dialect()
OLDER: Final = Dialect(switch="enable", elastic=False, log_dir=False, pause=False)


def dialect_of(manifest: dict[str, Any]) -> Dialect:
    """Return the dialect of a manifest whose fields have the right types."""
    spec = manifest.get("spec", {})
    mode, torchrun = spec.get("runMode", {}), spec.get("torchrunConfig", {})
    switches = [torchrun, spec.get("elastic", {}), mode.get("debug", {}), mode.get("pause", {})]
    older = any("enable" in switch for switch in switches) and not any("enabled" in switch for switch in switches)
    return Dialect(
        switch="enable" if older else "enabled",
        elastic="minNodes" not in torchrun,
        log_dir="trainingLogFilesets" not in spec.get("tensorboardSpec", {}),
    )


def translate(manifest: dict[str, Any], to: Dialect) -> tuple[dict[str, Any], Notes]:
    """Translate a manifest to a dialect.

    Parameters
    ----------
    manifest
        A PyTorchTrainingJob with fields of the right types, in either dialect or a mixture.
    to
        The dialect of the result.

    Returns
    -------
    manifest, notes
        The translated manifest, and notes about each change. A warning names fields that `to` does not have.
    """
    result, notes = deepcopy(manifest), Notes()
    spec = result.get("spec")
    if isinstance(spec, dict):
        _translate_switches(spec, to, notes)
        (_to_elastic if to.elastic else _to_min_nodes)(spec, to, notes)
        if isinstance(board := spec.get("tensorboardSpec"), dict):
            (_to_log_dir if to.log_dir else _to_filesets)(board, notes)
        _drop_pause(spec, to, notes)
    return result, notes


def _translate_switches(spec: dict[str, Any], to: Dialect, notes: Notes) -> None:
    wanted, other = to.switch, "enable" if to.switch == "enabled" else "enabled"
    mode = spec.get("runMode", {})
    blocks = {
        "torchrunConfig": spec.get("torchrunConfig"),
        "elastic": spec.get("elastic"),
        "runMode/debug": mode.get("debug"),
        "runMode/pause": mode.get("pause"),
    }
    changed = []
    for path, block in blocks.items():
        if not isinstance(block, dict) or other not in block:
            continue
        field = f"/manifest/spec/{path}/{other}"
        value = block.pop(other)
        if wanted in block and block[wanted] != value:
            message = _(
                "{block} has {wanted} and {other}, which disagree; {wanted} counts.",
                block=path.replace("/", "."),
                wanted=wanted,
                other=other,
            )
            notes.warn("BothSpellings", message, field)
            continue
        rest = dict(block)
        block.clear()
        block.update({wanted: value, **rest})
        changed.append(f"{path.replace('/', '.')}.{other}")
    if changed:
        notes.hint("DialectSwitch", _respelled(changed, wanted), f"/manifest/spec/{changed[0].replace('.', '/')}")


def _respelled(fields: list[str], wanted: str) -> Text:
    """Return the sentence that names the translated switches and their new spelling."""
    if wanted == "enabled":
        return _n(
            "{fields} is the older spelling; it is written as {wanted}.",
            "{fields} are the older spelling; they are written as {wanted}.",
            len(fields),
            fields=listing(fields),
            wanted=wanted,
        )
    return _n(
        "{fields} is the newer spelling; it is written as {wanted}.",
        "{fields} are the newer spelling; they are written as {wanted}.",
        len(fields),
        fields=listing(fields),
        wanted=wanted,
    )


def _to_elastic(spec: dict[str, Any], to: Dialect, notes: Notes) -> None:
    torchrun = spec.get("torchrunConfig")
    if not isinstance(torchrun, dict) or "minNodes" not in torchrun:
        return
    least, most = torchrun.pop("minNodes"), total_replicas(spec)
    field = "/manifest/spec/torchrunConfig/minNodes"
    if not torchrun.get(to.switch):
        notes.hint("DialectElastic", _("torchrunConfig.minNodes has no effect with torchrun off; left out."), field)
    elif "elastic" in spec:
        notes.hint("DialectElastic", _("torchrunConfig.minNodes is left out: elastic says it too."), field)
    elif least < most:
        spec["elastic"] = {to.switch: True, "minReplicas": least, "maxReplicas": most}
        message = _(
            "torchrunConfig.minNodes is the older form; it is written as elastic: {least} to {most} replicas.",
            least=least,
            most=most,
        )
        notes.hint("DialectElastic", message, field)
    else:
        message = _("torchrunConfig.minNodes is left out: it asks for all replicas, as a job does that is not elastic.")
        notes.hint("DialectElastic", message, field)


def _to_min_nodes(spec: dict[str, Any], to: Dialect, notes: Notes) -> None:
    elastic, torchrun = spec.pop("elastic", None), spec.get("torchrunConfig")
    if not isinstance(torchrun, dict):
        return
    most = total_replicas(spec)
    if not isinstance(elastic, dict) or not elastic.get(to.switch):
        # The older controller's default for a missing minNodes is not documented.
        torchrun.setdefault("minNodes", most)
        return
    torchrun["minNodes"] = elastic.get("minReplicas", most)
    field = "/manifest/spec/elastic"
    message = _("elastic.minReplicas is the newer form; it is written as torchrunConfig.minNodes.")
    notes.hint("DialectElastic", message, field)
    lost = [name for name in ("maxReplicas", "expectedReplicas") if elastic.get(name, most) != most]
    if lost:
        notes.warn("DialectLost", _without(lost, most), field, _("Set the number of replicas to what is wanted."))


def _without(fields: list[str], most: int) -> Text:
    """Return the sentence that names the one or two fields of elastic jobs that the cluster does not have."""
    if len(fields) == 1:
        return _n(
            "This cluster's version has no {field}: the job has {n} replica at most.",
            "This cluster's version has no {field}: the job has {n} replicas at most.",
            most,
            field=fields[0],
        )
    return _n(
        "This cluster's version has no {field} and no {other}: the job has {n} replica at most.",
        "This cluster's version has no {field} and no {other}: the job has {n} replicas at most.",
        most,
        field=fields[0],
        other=fields[1],
    )


def _to_log_dir(board: dict[str, Any], notes: Notes) -> None:
    filesets = board.get("trainingLogFilesets")
    if not isinstance(filesets, list):
        return
    field = "/manifest/spec/tensorboardSpec/trainingLogFilesets"
    claims: dict[str, list[str]] = {}
    kept = []
    for fileset in filesets:
        claim, _slash, path = fileset.removeprefix("t9k://pvc/").partition("/")
        if fileset.startswith("t9k://pvc/") and claim:
            claims.setdefault(claim, []).append(path or ".")
        else:
            kept.append(fileset)
    if kept:
        message = _n(
            "{filesets} can't be written as logDir here and is kept in its older form.",
            "{filesets} can't be written as logDir here and are kept in their older form.",
            len(kept),
            filesets=listing(kept),
        )
        notes.warn("DialectLost", message, field, _("Put the S3 source into tensorboardSpec.logDir.s3."))
        board["trainingLogFilesets"] = kept
    else:
        del board["trainingLogFilesets"]
    if claims:
        volumes = [{"name": claim, "subPath": paths} for claim, paths in claims.items()]
        source = board.setdefault("logDir", {})
        source.setdefault("pvc", []).extend(volumes)
        message = _("tensorboardSpec.trainingLogFilesets is the older form; it is written as logDir.pvc.")
        notes.hint("DialectLogs", message, field)


def _to_filesets(board: dict[str, Any], notes: Notes) -> None:
    source = board.get("logDir")
    if not isinstance(source, dict):
        return
    field = "/manifest/spec/tensorboardSpec/logDir"
    filesets = [
        f"t9k://pvc/{volume.get('name', '')}/{'' if path == '.' else path}"
        for volume in source.get("pvc", [])
        for path in volume.get("subPath", ["."])
    ]
    del board["logDir"]
    board["trainingLogFilesets"] = [*board.get("trainingLogFilesets", []), *filesets]
    message = _("tensorboardSpec.logDir is the newer form; it is written as trainingLogFilesets.")
    notes.hint("DialectLogs", message, field)
    lost = sorted(source.keys() - {"pvc"})
    if lost:
        message = _n(
            "This cluster's version has no {fields}; it is left out.",
            "This cluster's version has no {fields}; they are left out.",
            len(lost),
            fields=listing([f"logDir.{name}" for name in lost]),
        )
        notes.warn("DialectLost", message, child(field, lost[0]))


def _drop_pause(spec: dict[str, Any], to: Dialect, notes: Notes) -> None:
    mode = spec.get("runMode")
    if to.pause or not isinstance(mode, dict) or "pause" not in mode:
        return
    pause = mode.pop("pause")
    if not mode:
        del spec["runMode"]
    if isinstance(pause, dict) and (pause.get(to.switch) or pause.get("resumeSpecs")):
        message = _("This cluster's version can't pause a job; it starts at once.")
        notes.warn("DialectLost", message, "/manifest/spec/runMode/pause")


def total_replicas(spec: dict[str, Any]) -> int:
    """Return the number of replicas of all types in a PyTorchTrainingJob's spec."""
    return sum(group.get("replicas", 1) for group in spec.get("replicaSpecs", []))


def schemas_of(document: Any, group: str, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the schemas of a kind in an OpenAPI document or a CustomResourceDefinition.

    Parameters
    ----------
    document
        The document; anything else has none.
    group, kind
        The kind.
    """
    if not isinstance(document, dict):
        return
    if document.get("kind") == "CustomResourceDefinition":
        versions = as_object(document.get("spec")).get("versions")
        for version in versions if isinstance(versions, list) else []:
            yield as_object(as_object(as_object(version).get("schema")).get("openAPIV3Schema"))
        return
    components = as_object(document.get("components"))
    schemas = {**as_object(document.get("definitions")), **as_object(components.get("schemas"))}
    for schema in schemas.values():
        kinds = as_object(schema).get("x-kubernetes-group-version-kind")
        for one in kinds if isinstance(kinds, list) else []:
            if as_object(one).get("group") == group and as_object(one).get("kind") == kind:
                yield schema


def child_schema(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the schema of a field of an object; an empty one if there is none.

    Parameters
    ----------
    schema
        Schema of the object.
    name
        The field.
    """
    return as_object(properties_of(schema).get(name))


def properties_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of an object's fields, by name."""
    return as_object(schema.get("properties"))
