"""The directive `settings-table`: the user settings of a JupyterLab plugin, read from its schema."""

import json
from pathlib import Path

from docutils import nodes
from markdown import cell, parse, table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata


class SettingsTable(SphinxDirective):
    """Table of the properties of a settings schema; the argument is the schema's path, relative to the page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        _, path = self.env.relfn2path(self.arguments[0], self.env.docname)
        self.env.note_dependency(path)
        properties = json.loads(Path(path).read_text("utf-8"))["properties"]
        rows = (
            (cell(schema["title"]), f"`{key}`", f"`{json.dumps(schema['default'])}`", cell(schema["description"]))
            for key, schema in properties.items()
        )
        return parse(self, table(("Setting", "Key", "Default", "Description"), rows))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("settings-table", SettingsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
