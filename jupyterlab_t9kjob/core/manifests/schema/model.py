"""`KindSchema`: the fields of a manifest kind, as a table of nodes that refer to each other by index.

A table needs no nesting, and equal parts (the containers of a pod, for example) are stored once.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import Field

from ...spec import Model
from ...translation import Text

JsonType: TypeAlias = Literal["object", "array", "string", "integer", "number", "boolean"]

MOST_NODES: Final = 50_000
"""Largest number of fields of a schema, before equal parts are merged."""

MOST_LEVELS: Final = 40

DESCRIPTION_LENGTH: Final = 400
"""Largest length of a description, in characters. Kubernetes' own are up to 3000 characters long."""


class SchemaNode(Model):
    """One value of a manifest: its type, its fields or items, and what it is for."""

    types: list[JsonType] = Field(default_factory=list, description="Types of the value; empty: any value.")
    description: Text | None = Field(None, description="Purpose of the value; shortened.")
    fields: dict[str, int] = Field(default_factory=dict, description="Nodes of an object's fields, by name.")
    required: list[str] = Field(default_factory=list, description="Fields that an object must have.")
    values: int | None = Field(None, description="Node of the values of an object with arbitrary keys.")
    items: int | None = Field(None, description="Node of a list's items.")
    enum: list[str] = Field(default_factory=list, description="The allowed texts; empty: any.")
    others: bool = Field(True, description="An object may also have fields that are not listed.")


class KindSchema(Model):
    """The fields of a manifest kind."""

    kind: str = Field(description="`kind` of the manifest.")
    source: Literal["cluster", "bundled"] = Field(
        description="The cluster's own schema, or the fields that this extension knows."
    )
    note: Text | None = Field(None, description="Why the cluster's own schema is not used, a sentence.")
    root: int = Field(description="Index of the manifest's own node.")
    nodes: list[SchemaNode]


class Table:
    """Collects the nodes of a schema; equal nodes are stored once.

    Attributes
    ----------
    nodes
        The nodes. Each refers to nodes before it only.
    """

    def __init__(self) -> None:
        self.nodes: list[SchemaNode] = []
        self._indices: dict[str, int] = {}
        self._added = 0
        self.anything = self.add(SchemaNode())

    @property
    def is_full(self) -> bool:
        """True if the schema is too large to be read further."""
        return self._added >= MOST_NODES

    def add(self, node: SchemaNode) -> int:
        """Return the index of a node."""
        self._added += 1
        key = repr(node)
        if key not in self._indices:
            self._indices[key] = len(self.nodes)
            self.nodes.append(node)
        return self._indices[key]
