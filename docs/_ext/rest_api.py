"""The directives `rest-operations` and `rest-schemas`: the REST reference, generated from an OpenAPI 3.1 file.

Both take the file's path, relative to the page. A schema's heading is the target `schema-NAME` in lower case.
"""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from markdown import cell, parse, table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

Json = dict[str, Any]

PREFIX = "/t9kjob/"
GROUPS = {
    "engines": "Engines",
    "cluster": "Cluster",
    "jobs": "Jobs and logs",
    "imported-jobs": "Jobs of archives",
    "job-actions": "Actions on many jobs",
    "space": "Space of records",
    "sweeps": "Sweeps",
    "stream": "Live updates",
    "launch": "Launch form",
    "tries": "Tries",
    "tensorboards": "TensorBoard",
    "experiments": "Experiments",
    "notifications": "Notifications",
}
# The limits of a value, in the order in which they are listed.
LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches `{}`",
}


def schema_link(name: str) -> str:
    """Return a link to a schema's heading."""
    return f"[{name}](#schema-{name.lower()})"


def type_text(schema: Json) -> str:
    """Return a schema's type with its limits, as the content of a table cell."""
    if "$ref" in schema:
        return schema_link(schema["$ref"].rpartition("/")[2])
    if alternatives := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(type_text(alternative) for alternative in alternatives)
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    kind = schema.get("type", "any value")
    if kind == "array":
        if "prefixItems" in schema:
            text = f"array of {', '.join(type_text(item) for item in schema['prefixItems'])}"
        else:
            text = f"array of {type_text(schema.get('items', {}))}"
    elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        text = f"object with values of type {type_text(schema['additionalProperties'])}"
    else:
        text = str(kind)
    limits = [words.format(schema[key]).replace("|", "\\|") for key, words in LIMITS.items() if key in schema]
    return ", ".join([text, *limits])


def split_description(text: str) -> tuple[str, dict[str, str]]:
    """Return the text of a numpy docstring without its sections, and the texts of its attributes."""
    parts = re.split(r"\n*^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    attributes: dict[str, str] = {}
    for names, described in re.findall(
        r"^(\w[\w, ]*)\n((?:[ ]{4}.*\n?)+)", sections.get("Attributes", ""), re.MULTILINE
    ):
        attributes |= dict.fromkeys(names.split(", "), described)
    return parts[0], attributes


def own_description(schema: Json, with_default: bool = True) -> str:
    """Return a value's description, which an optional value has in one of its alternatives, and its default."""
    described = schema.get("description") or next(
        (other["description"] for other in schema.get("anyOf", []) if "description" in other), ""
    )
    default = schema.get("default") if with_default else None
    return cell(described) + (f" Default: `{json.dumps(default)}`." if default is not None else "")


def contents(content: Json) -> str:
    """Return the media types of a body with their schemas."""
    return " or ".join(
        type_text(media["schema"]) if kind == "application/json" and "schema" in media else f"`{kind}`"
        for kind, media in content.items()
    )


def operation(verb: str, path: str, spec: Json) -> Iterator[str]:
    """Yield the section of one operation."""
    yield from (f"### `{verb.upper()} {path}`", "", f"{cell(spec['summary'])}.", "")
    parameters = (
        (
            f"`{parameter['name']}`",
            parameter["in"],
            type_text(parameter["schema"]),
            cell(parameter.get("description", "")) or own_description(parameter["schema"]),
        )
        for parameter in spec.get("parameters", [])
    )
    yield from table(("Parameter", "In", "Type", "Description"), parameters)
    if "requestBody" in spec:
        yield from ("", f"Request body: {contents(spec['requestBody']['content'])}", "")
    if "x-socket" in spec:
        client, server = (schema_link(spec["x-socket"][side]) for side in ("client", "server"))
        yield from ("", f"WebSocket: the client sends {client}, the server sends {server}.", "")
    responses = (
        (status, cell(response["description"]), contents(response.get("content", {})))
        for status, response in spec["responses"].items()
    )
    yield from table(("Status", "Meaning", "Body"), responses)


def operations(document: Json) -> Iterator[str]:
    """Yield a section for each group of paths, with a section for each operation."""

    def group(item: tuple[str, Json]) -> str:
        return item[0].removeprefix(PREFIX).partition("/")[0]

    order = list(GROUPS)
    paths = sorted(document["paths"].items(), key=lambda item: (order.index(group(item)), item[0]))
    for name, members in groupby(paths, key=group):
        yield from (f"## {GROUPS[name]}", "")
        for path, verbs in members:
            for verb, spec in verbs.items():
                yield from operation(verb, path, spec)


def schemas(document: Json) -> Iterator[str]:
    """Yield a section for each schema."""
    for name, schema in document["components"]["schemas"].items():
        text, attributes = split_description(schema.get("description", ""))
        yield from (f"(schema-{name.lower()})=", f"## {name}", "", cell(text), "")
        if "properties" not in schema:
            yield from (f"Type: {type_text(schema)}", "")
        required = schema.get("required", [])
        rows = (
            (
                f"`{field}`",
                type_text(value),
                "yes" if field in required else "no",
                " ".join(
                    filter(None, (cell(attributes.get(field, "")), own_description(value, field not in required)))
                ),
            )
            for field, value in schema.get("properties", {}).items()
        )
        yield from table(("Field", "Type", "Required", "Description"), rows)


class Reference(SphinxDirective):
    """Base of the directives: reads the OpenAPI file and generates Markdown from it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the generated sections."""
        _, path = self.env.relfn2path(self.arguments[0], self.env.docname)
        self.env.note_dependency(path)
        return parse(self, self.lines(json.loads(Path(path).read_text("utf-8"))))

    def lines(self, document: Json) -> Iterator[str]:
        """Yield the Markdown of a document."""
        raise NotImplementedError


class Operations(Reference):
    """Every path with its parameters, body and answers."""

    def lines(self, document: Json) -> Iterator[str]:
        """Yield the Markdown of a document."""
        return operations(document)


class Schemas(Reference):
    """Every schema with its fields."""

    def lines(self, document: Json) -> Iterator[str]:
        """Yield the Markdown of a document."""
        return schemas(document)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("rest-operations", Operations)
    app.add_directive("rest-schemas", Schemas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
