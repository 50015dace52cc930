"""The directive `traits-table`: every configurable trait of a traitlets class, read from the class."""

import json
from importlib import import_module
from typing import Any

from docutils import nodes
from markdown import cell, parse, table
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from traitlets import Bool, DefaultHandler, Dict, Enum, Float, HasTraits, Integer, List, TraitType, Unicode

TYPES: list[tuple[type[TraitType[Any, Any]], str]] = [
    (Bool, "true or false"),
    (Integer, "whole number"),
    (Float, "number"),
    (Unicode, "text"),
    (List, "list"),
    (Dict, "object"),
]


def type_name(trait: TraitType[Any, Any]) -> str:
    """Return the name of a trait's type, with its bounds and choices."""
    if isinstance(trait, Enum):
        return "one of " + ", ".join(f"`{value}`" for value in trait.values or ())
    name = next((name for kind, name in TYPES if isinstance(trait, kind)), None)
    if name is None:
        raise ExtensionError(f"traits-table has no name for the type of {trait.name}")
    least = getattr(trait, "min", None)
    return name if least is None else f"{name}, at least {least}"


def default_value(owner: type[HasTraits], trait: TraitType[Any, Any]) -> str:
    """Return a trait's default as JSON; a dynamic default depends on the machine and is described by the help."""
    computed = {member.trait_name for member in vars(owner).values() if isinstance(member, DefaultHandler)}
    if trait.name in computed:
        return "see description"
    value = trait.default()
    return "none" if value is None else f"`{json.dumps(value)}`"


class TraitsTable(SphinxDirective):
    """Table of the configurable traits that a class defines itself; the argument is the class's dotted name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        module, _, name = self.arguments[0].rpartition(".")
        owner = getattr(import_module(module), name)
        traits = owner.class_own_traits(config=True)
        rows = (
            (f"`{key}`", type_name(trait), default_value(owner, trait), cell(trait.help))
            for key, trait in sorted(traits.items())
        )
        return parse(self, table(("Trait", "Type", "Default", "Description"), rows))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("traits-table", TraitsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
