"""Schemas of manifest kinds: what is read from OpenAPI documents, and what a manifest does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import KINDS
from jupyterlab_t9kjob.core.manifests.schema import KindSchema, bundled_schema, differences, knows, read_openapi
from jupyterlab_t9kjob.core.manifests.schema.model import MOST_LEVELS, SchemaNode

STRING = {"type": "string"}
QUANTITY = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "x"}
CORE = {
    "components": {
        "schemas": {
            "io.k8s.api.core.v1.PodTemplateSpec": {
                "type": "object",
                "properties": {
                    "metadata": {"type": "object", "additionalProperties": STRING},
                    "spec": {
                        "allOf": [{"$ref": "#/components/schemas/PodSpec"}],
                        "default": {},
                        "description": "A pod.",
                    },
                },
            },
            "PodSpec": {
                "type": "object",
                "required": ["containers"],
                "properties": {"containers": {"type": "array", "items": {"$ref": "#/components/schemas/Container"}}},
            },
            "Container": {
                "type": "object",
                "required": ["name", "ports"],
                "properties": {
                    "name": {"type": "string", "description": "Name of the container. " + "Long. " * 200},
                    "ports": {"type": "array", "items": {"type": "integer"}, "default": []},
                    "cpu": {"oneOf": [{"type": "string"}, {"type": "number"}]},
                },
            },
        }
    }
}


def document(spec: dict[str, Any]) -> dict[str, Any]:
    kind = {
        "type": "object",
        "properties": {"apiVersion": STRING, "kind": STRING, "metadata": {"type": "object"}, "spec": spec},
        "x-kubernetes-group-version-kind": [{"group": "g", "kind": "K", "version": "v1"}],
    }
    return {"components": {"schemas": {"other": {}, "g.v1.K": kind}}}


def record(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def read(spec: dict[str, Any], core: Any = CORE) -> KindSchema:
    found = read_openapi(document(spec), group="g", kind="K", core=core, shape=KINDS["kubeflow"].shape)
    assert found is not None and found.source == "cluster"
    return found


def at(schema: KindSchema, *path: str) -> SchemaNode:
    node = schema.nodes[schema.root]
    for part in path:
        inner = node.items if part == "[]" else node.fields.get(part, node.values)
        assert inner is not None, (part, node)
        node = schema.nodes[inner]
    return node


SPEC = record(
    ("groups",),
    groups={"type": "array", "items": record(("type",), type=STRING, template={"type": "object", "description": "T."})},
    mode={"type": "string", "enum": ["All", "None"]},
    limit=QUANTITY,
    steps={"type": "integer"},
    free={"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": STRING}},
    on={"type": "boolean"},
)


def test_a_pod_template_that_the_definition_leaves_out_is_the_clusters_own() -> None:
    schema = read(SPEC)
    name = at(schema, "spec", "groups", "[]", "template", "spec", "containers", "[]", "name")
    assert name.types == ["string"] and str(name.description).startswith("Name of the container. Long.")
    assert len(str(name.description)) <= 400 and str(name.description).endswith(".")
    assert at(schema, "spec", "groups", "[]", "template", "spec").description == "A pod."
    container = at(schema, "spec", "groups", "[]", "template", "spec", "containers", "[]")
    assert container.required == ["name"]  # a field with a default may be left out
    assert at(schema, "spec", "groups", "[]", "template", "spec", "containers", "[]", "cpu").types == [
        "string",
        "integer",
        "number",
    ]


def test_without_the_clusters_pod_template_the_known_fields_are_used() -> None:
    definition = record(
        pytorchReplicaSpecs={"type": "object", "additionalProperties": record(template={"type": "object"})}
    )
    schema = read(definition, core=None)
    pod = at(schema, "spec", "pytorchReplicaSpecs", "Master", "template", "spec")
    assert "containers" in pod.fields and pod.others
    assert at(schema, "metadata", "name").types == ["string"]  # of which the definition says nothing


@pytest.mark.parametrize(
    ("spec", "code", "field", "words"),
    [
        ({"groups": [{"type": "a", "replica": 1}]}, "UnknownField", "/groups/0/replica", "replica is not a known"),
        ({"groups": [{}]}, "FieldMissing", "/groups/0", "spec.groups[0] needs the field type."),
        ({"groups": [], "mode": "Al"}, "NotAllowedValue", "/mode", "spec.mode can't be “Al”."),
        ({"groups": [], "steps": "3"}, "WrongType", "/steps", "spec.steps must be a whole number, and is text."),
        ({"groups": [], "steps": True}, "WrongType", "/steps", "and is true or false."),
        ({"groups": {}}, "WrongType", "/groups", "must be a list, and is an object."),
        ({"groups": [], "limit": []}, "WrongType", "/limit", "must be text or a number, and is a list."),
        ({"groups": [], "oN": True}, "UnknownField", "/oN", "oN is not a known field of spec."),
        ({"steps": 1}, "FieldMissing", "", "spec needs the field groups."),
        (
            {"groups": [{"type": "a", "template": {"spec": {}}}]},
            "FieldMissing",
            "/groups/0/template/spec",
            "containers",
        ),
    ],
)
def test_a_difference_is_told_with_its_place(spec: dict[str, Any], code: str, field: str, words: str) -> None:
    (found,) = differences({"apiVersion": "g/v1", "kind": "K", "spec": spec}, read(SPEC))
    assert (found.level, found.code, found.field) == ("warning", code, f"/manifest/spec{field}")
    assert words in found.message and found.message.endswith(".")


def test_what_fits_is_not_reported() -> None:
    good = {
        "groups": [{"type": "a", "template": None}, {"type": "b", "template": {"spec": {"containers": []}}}],
        **{"mode": "All", "limit": 1, "steps": 2.0, "free": {"b": [1]}, "on": False},
    }
    assert differences({"metadata": {"name": "x"}, "spec": good}, read(SPEC)) == []
    assert differences({"spec": {**good, "limit": "4Gi"}}, read(SPEC)) == []


def test_a_schema_that_is_not_the_clusters_refuses_nothing_and_offers_fields() -> None:
    for form in KINDS.values():
        schema = bundled_schema(form)
        assert differences({"spec": {"foo": 1, form.replicas: "x"}}, schema) == []
        assert at(schema, "spec", form.replicas).description
        assert knows(schema, "/manifest/metadata/labels/a") and not knows(schema, "/manifest/spec/foo")


def test_schemas_of_other_kinds_and_shapes_are_none() -> None:
    for nonsense in (None, [], {}, {"components": []}, {"components": {"schemas": {"a": 1}}}, document({})):
        assert read_openapi(nonsense, group="g", kind="K") is None
    assert read_openapi(document(SPEC), group="g", kind="Other") is None


def test_a_schema_without_end_is_cut() -> None:
    looped = document(record(again={"$ref": "#/components/schemas/g.v1.K"}))
    schema = read_openapi(looped, group="g", kind="K")
    assert schema is not None and len(schema.nodes) < 10 * MOST_LEVELS
    wide: dict[str, Any] = STRING
    for _level in range(6):
        wide = {"type": "object", "properties": {f"f{n}": wide for n in range(12)}}
    schema = read_openapi(document(wide), group="g", kind="K")
    assert schema is not None and len(schema.nodes) < 200


def test_a_definition_is_read_like_the_document() -> None:
    kind = document(SPEC)["components"]["schemas"]["g.v1.K"]
    definition = {
        "kind": "CustomResourceDefinition",
        "spec": {"versions": [{"schema": {"openAPIV3Schema": kind}}]},
    }
    schema = read_openapi(definition, group="g", kind="K", core=CORE)
    assert schema is not None and at(schema, "spec", "mode").enum == ["All", "None"]
