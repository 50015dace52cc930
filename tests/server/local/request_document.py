"""The document that Schemathesis reads in `test_any_request`: operations that take a job's form share its fields.

Ten operations take the same form, as `spec`, and the server reads it with the same model. Schemathesis would make
1,300 requests about the form for each of them. Here each operation knows the required fields and a tenth of the others;
all of them together know every field. Requests about anything else go to every operation.
"""

from __future__ import annotations

import copy
from typing import Any

FORM = "JobSpecInput"
READS_SOURCE = ("SnapshotRequest", "SnapshotDiffRequest", "RepositoryRequest")
"""Requests about the form's code, which are refused without it."""


def share_form(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a copy of the document in which each request that has a form has a smaller one of its own.

    Parameters
    ----------
    document
        The OpenAPI document.
    seed
        Chooses which request has which fields.
    """
    document = copy.deepcopy(document)
    schemas = document["components"]["schemas"]
    form = schemas[FORM]
    optional = [name for name in form["properties"] if name not in form["required"]]
    requests = sorted(name for name, schema in schemas.items() if _has_form(schema))
    for index, request in enumerate(requests):
        fields = {*form["required"], *optional[(index + seed) % len(requests) :: len(requests)]}
        if request in READS_SOURCE:
            fields.add("source")
        own = f"{FORM}Of{request}"
        schemas[own] = {**form, "properties": {name: form["properties"][name] for name in sorted(fields)}}
        schemas[request]["properties"]["spec"] = _renamed(schemas[request]["properties"]["spec"], own)
    return document


def _has_form(schema: dict[str, Any]) -> bool:
    spec = schema.get("properties", {}).get("spec")
    return spec is not None and _renamed(spec, "") != spec


def _renamed(value: Any, name: str) -> Any:
    """Return a schema that refers to another one instead of the whole form."""
    if isinstance(value, dict):
        return {key: _renamed(each, name) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, name) for each in value]
    return f"#/components/schemas/{name}" if value == f"#/components/schemas/{FORM}" else value
