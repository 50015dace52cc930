"""The texts of the repository that Sphinx does not check: their links lead to files and headings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md", "examples/kubernetes/README.md"]


def anchors(text: str) -> set[str]:
    """Return the anchors of a Markdown text's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    folder = (ROOT / name).parent
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", (ROOT / name).read_text("utf-8"))
    for path, anchor in links:
        target = folder / path if path else ROOT / name
        assert target.exists(), path
        assert not anchor or anchor in anchors(target.read_text("utf-8")), f"{path}#{anchor}"
