"""Markdown that the extensions of this folder generate: text in table cells, and its conversion to nodes."""

from collections.abc import Iterable

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def cell(text: str) -> str:
    """Return a text as the content of one cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("``", "`")


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a Markdown table; empty without rows.

    Parameters
    ----------
    header
        Titles of the columns.
    rows
        The cells of each row, already escaped by `cell` where they are plain text.
    """
    body = [f"| {' | '.join(row)} |" for row in rows]
    titles = list(header)
    return ["", f"| {' | '.join(titles)} |", "|" + " --- |" * len(titles), *body, ""] if body else []


def parse(directive: SphinxDirective, lines: Iterable[str]) -> list[nodes.Node]:
    """Return the nodes of generated Markdown, which may have headings."""
    return directive.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)
