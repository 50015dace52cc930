"""Reads the schema of a kind from the OpenAPI 3 documents of an API server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast, get_args

from ...translation import Text
from ..json_values import as_object
from .bundled import add_shape, described
from .model import DESCRIPTION_LENGTH, MOST_LEVELS, JsonType, KindSchema, SchemaNode, Table

TEMPLATE: Final = "io.k8s.api.core.v1.PodTemplateSpec"
"""Name of the pod template in the document of the API group ``core``."""

_TYPES: Final = frozenset(get_args(JsonType))
_SCALARS: Final = frozenset({"string", "integer", "number"})
_PRESERVES: Final = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"


def read_openapi(document: Any, *, group: str, kind: str, core: Any = None, shape: Any = None) -> KindSchema | None:
    """Return the schema of a kind; None if the document does not have it (blocking).

    Parameters
    ----------
    document
        ``/openapi/v3/apis/GROUP/VERSION``, or the CustomResourceDefinition.
    group, kind
        The kind.
    core
        ``/openapi/v3/api/v1``; it describes the fields of pod templates, which definitions of job kinds often leave
        out. None if it can't be read.
    shape
        The fields that this package knows, see `core.manifests.kinds.shapes`. They stand for parts of which the
        document says nothing.
    """
    schema = _kind_schema(document, group, kind)
    if not as_object(as_object(schema.get("properties")).get("spec")).get("properties"):
        return None
    reader = _Reader(document, core)
    root = reader.node(schema, None, shape, "", 0)
    return KindSchema(kind=kind, source="cluster", root=root, nodes=reader.table.nodes)


class _Reader:
    def __init__(self, document: Any, core: Any) -> None:
        self.table = Table()
        self._schemas = _schemas(document)
        self._core = _schemas(core)

    def node(self, schema: Any, twin: Any, shape: Any, path: str, level: int) -> int:
        """Return the node of a schema.

        Parameters
        ----------
        schema
            The schema.
        twin
            The schema of the same value in the API group ``core``, for descriptions; None if there is none.
        shape
            The known fields of the same value.
        path
            Dotted path of the value, for our own descriptions.
        level
            Depth of the value.
        """
        if level > MOST_LEVELS or self.table.is_full:
            return self.table.anything
        schema, twin = self._resolved(schema, self._schemas), self._resolved(twin, self._core)
        # The template in a list of Jobs is that of a Job.
        if path.endswith(".template") and not path.endswith("Jobs[].template") and not twin and TEMPLATE in self._core:
            twin = self._core[TEMPLATE]
        preserves = schema.get(_PRESERVES) is True
        if not schema.get("properties") and not schema.get("additionalProperties") and not schema.get("items"):
            if twin.get("properties"):
                schema = {**twin, "description": schema.get("description") or twin.get("description")}
                self._schemas = {**self._core, **self._schemas}
            elif isinstance(shape, dict | list) and schema.get("type") in (None, "object", "array"):
                return add_shape(self.table, shape, path)
        fields, twins = as_object(schema.get("properties")), as_object(twin.get("properties"))
        known = shape if isinstance(shape, dict) else {}
        nodes = {
            name: self.node(field, twins.get(name), known.get(name), f"{path}.{name}" if path else name, level + 1)
            for name, field in fields.items()
        }
        values, items = schema.get("additionalProperties"), schema.get("items")
        inner = shape[0] if isinstance(shape, list) else None
        defaults = {name for name, field in fields.items() if "default" in as_object(field)}
        enum = schema.get("enum")
        return self.table.add(
            SchemaNode(
                types=_types(schema),
                description=_description(schema) or described(path) or _description(twin),
                fields=nodes,
                required=[name for name in _texts(schema.get("required")) if name not in defaults],
                values=self._values(values, twin, known, path, level),
                items=None if items is None else self.node(items, twin.get("items"), inner, f"{path}[]", level + 1),
                enum=_texts(enum) if isinstance(enum, list) and all(isinstance(one, str) for one in enum) else [],
                others=preserves or values is not None or not fields,
            )
        )

    def _values(
        self, values: Any, twin: Mapping[str, Any], known: Mapping[str, Any], path: str, level: int
    ) -> int | None:
        if not isinstance(values, Mapping):
            return None
        # The replica types of a PyTorchJob are keys of an object; all of them have the same fields.
        shape = next(iter(known.values()), None)
        return self.node(values, twin.get("additionalProperties"), shape, f"{path}.*", level + 1)

    def _resolved(self, schema: Any, schemas: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a schema with its reference and its single alternative replaced by their contents."""
        found: Mapping[str, Any] = as_object(schema)
        for _step in range(5):
            parts = found.get("allOf")
            if isinstance(parts, list) and len(parts) == 1:
                found = {**as_object(parts[0]), **{key: value for key, value in found.items() if key != "allOf"}}
            if not isinstance(reference := found.get("$ref"), str):
                break
            target = as_object(schemas.get(reference.rsplit("/", 1)[-1]))
            found = {**target, **{key: value for key, value in found.items() if key != "$ref"}}
        return found


def _types(schema: Mapping[str, Any]) -> list[JsonType]:
    if schema.get(_INT_OR_STRING) is True or schema.get("format") in ("int-or-string", "quantity"):
        return ["string", "integer", "number"]
    for key in ("oneOf", "anyOf"):
        if isinstance(alternatives := schema.get(key), list):
            found = [one.get("type") for one in alternatives if isinstance(one, Mapping)]
            # Alternatives without a type only constrain the value.
            if any(found):
                return ["string", "integer", "number"] if "string" in found and set(found) <= _SCALARS else []
    kind = schema.get("type")
    return [cast("JsonType", kind)] if kind in _TYPES else []


def _description(schema: Mapping[str, Any]) -> Text | None:
    """Return the first sentences of a description."""
    text = schema.get("description")
    if not isinstance(text, str) or not text.strip():
        return None
    text = " ".join(text[: 4 * DESCRIPTION_LENGTH].split())
    if len(text) > DESCRIPTION_LENGTH:
        ends = [match.end() for match in re.finditer(r"[.!?](?= )", text[:DESCRIPTION_LENGTH])]
        text = text[: ends[-1]] if ends else f"{text[: DESCRIPTION_LENGTH - 1]}…"
    return Text.verbatim(text)


def _kind_schema(document: Any, group: str, kind: str) -> Mapping[str, Any]:
    if as_object(document).get("kind") == "CustomResourceDefinition":
        versions = as_object(document["spec"]).get("versions")
        first = as_object(versions[0] if isinstance(versions, list) and versions else None)
        return as_object(as_object(first.get("schema")).get("openAPIV3Schema"))
    for schema in _schemas(document).values():
        kinds = as_object(schema).get("x-kubernetes-group-version-kind")
        for one in kinds if isinstance(kinds, list) else []:
            if (as_object(one).get("group"), as_object(one).get("kind")) == (group, kind):
                return as_object(schema)
    return {}


def _schemas(document: Any) -> Mapping[str, Any]:
    return as_object(as_object(as_object(document).get("components")).get("schemas"))


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
