"""Schema of a manifest kind: the fields that a cluster accepts, their types and descriptions.

`.openapi` reads the schema that an API server serves, `.bundled` makes one of the fields that this package knows, and
`.check` compares a manifest with a schema. `.model` has the schema as the API returns it.
"""

from __future__ import annotations

from .bundled import bundled_schema
from .check import differences, knows
from .model import KindSchema, SchemaNode
from .openapi import read_openapi

__all__ = ["KindSchema", "SchemaNode", "bundled_schema", "differences", "knows", "read_openapi"]
