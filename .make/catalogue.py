"""Collect the messages of both halves for translators, and make what programs read from the translations.

`template` writes the catalogue's template (gettext's POT) of all messages. `update` takes new messages into the
translations of the package, and old ones out of them. `compile` writes what the server and the page read from them.
`pseudo` writes a JupyterLab language pack for Esperanto's code in which “Submit” is “[Šüƀɱïţ ···]”: a text without
brackets on the screen has missed the translator, and one that is cut off leaves too little room for other languages.
"""

import argparse
import io
import json
import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

DOMAIN = "jupyterlab_t9kjob"
ROOT = Path(__file__).parent.parent
LOCALES = ROOT / DOMAIN / "locale"
"""The translations that come with the package."""
CHANGING = tuple(
    f'"{field}:'.encode()
    for field in (
        *("Project-Id-Version", "Report-Msgid-Bugs-To", "POT-Creation-Date", "PO-Revision-Date", "Last-Translator"),
        *("Language-Team", "Generated-By"),
    )
)
"""Fields of a header that git knows better."""
METHODS = [("jupyterlab_t9kjob/**.py", "python"), ("src/**.ts", "javascript"), ("src/**.tsx", "javascript")]
KEYWORDS = {
    "_": None,
    "__": None,
    "_n": (1, 2),
    "_p": ((1, "c"), 2),
    "_np": ((1, "c"), 2, 3),
}
OPTIONS = {pattern: {"jsx": "true", "parse_template_string": "true"} for pattern in ("src/**.ts", "src/**.tsx")}

# JupyterLab looks these fields of a plugin's settings up with the context "schema" (jupyterlab_server's selectors).
SCHEMA_FIELDS = {"title", "description", "label", "jupyter.lab.setting-icon-label"}

CLICK = (
    "Usage:",
    "Options",
    "Commands",
    "Show this message and exit.",
    "Missing command.",
    "Missing argument",
    "Missing option",
    "Missing parameter",
    "Choose from:\n\t{choices}",
    "No such command {name!r}.",
    "No such option {name!r}.",
    "No such option: {name}",
    "Invalid value: {message}",
    "Invalid value for {param_hint}: {message}",
    "{value!r} is not a valid {number_type}.",
    "{value} is not in the range {range}.",
    "Option {name!r} does not take a value.",
    "Error: invalid input",
    "Couldn't detect Bash version, shell completion is not supported.",
    "Shell completion is not supported for Bash versions older than 4.4.",
    ("{value!r} is not {choice}.", "{value!r} is not one of {choices}."),
    ("Option {name!r} requires an argument.", "Option {name!r} requires {nargs} arguments."),
    ("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"),
    ("Did you mean {possibility}?", "(Did you mean one of: {possibilities}?)"),
)
"""Messages of click, of all versions, that the command line shows. It asks gettext for them."""

LETTERS = str.maketrans("ACDEGHIJKLNORSTUWYZabcdefghijklmnopqrstuwyz", "ÅÇÐÉĜĤÎĴĶĻÑÖŔŠŢÛŴÝŽåƀçðéƒĝĥîĵķļɱñöþǫŕšţûŵýž")
PLACEHOLDER = re.compile(r"(%\d+|\{\{|\}\}|\{[^{}]*\})")


def collect() -> Catalog:
    """Return a catalogue of all messages, with the places where they are."""
    catalog = Catalog(project=DOMAIN, domain=DOMAIN, charset="utf-8")
    # A file system has its own order of files, which would change that of the translations.
    found = sorted(extract_from_dir(ROOT, METHODS, OPTIONS, KEYWORDS, directory_filter=_is_ours), key=itemgetter(0, 1))
    for path, line, message, comments, context in found:
        catalog.add(message, locations=[(path, line)], auto_comments=comments, context=context)
    for path in sorted((ROOT / DOMAIN / "schema").glob("*.json")):
        for message in schema_texts(json.loads(path.read_text())):
            catalog.add(message, locations=[(str(path.relative_to(ROOT)), 1)], context="schema")
    for message in CLICK:
        catalog.add(message, locations=[("click", 1)])
    return catalog


def _is_ours(folder: str | Path) -> bool:
    return Path(folder).name not in {"node_modules", "labextension", "__pycache__", "build", "lib", "tests", ".venv"}


def schema_texts(schema: object) -> Iterator[str]:
    """Yield the texts of a settings schema that JupyterLab translates."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name in SCHEMA_FIELDS and isinstance(value, str):
                yield value
            else:
                yield from schema_texts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from schema_texts(value)


def pseudo(message: str) -> str:
    """Return a message with accents, in brackets and 40 % longer; placeholders stay."""
    parts = PLACEHOLDER.split(message)
    accented = "".join(part if index % 2 else part.translate(LETTERS) for index, part in enumerate(parts))
    return f"[{accented} {'·' * max(1, round(0.4 * len(message)) - 3)}]"


def write_pack(folder: Path, locale: str, catalog: Catalog) -> None:
    """Write the pseudo-translation of a catalogue as an importable language pack.

    Parameters
    ----------
    folder
        Folder that gets the pack, and the metadata by which JupyterLab finds it.
    locale
        The locale for which JupyterLab offers the pack.
    catalog
        The messages; they are translated here.
    """
    catalog.locale = locale
    for message in catalog:
        if message.id:
            message.string = (
                tuple(map(pseudo, message.id)) if isinstance(message.id, tuple | list) else pseudo(message.id)
            )
    name = f"jupyterlab_language_pack_{locale}"
    messages = folder / name / "locale" / locale / "LC_MESSAGES"
    messages.mkdir(parents=True, exist_ok=True)
    (folder / name / "__init__.py").write_text("")
    with (messages / f"{DOMAIN}.mo").open("wb") as file:
        write_mo(file, catalog)
    (messages / f"{DOMAIN}.json").write_text(json.dumps(as_json(catalog, locale)))
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[jupyterlab.languagepack]\n{locale} = {name}\n")


def as_json(catalog: Catalog, locale: str) -> dict[str, object]:
    """Return a catalogue as JupyterLab's front end reads it.

    Parameters
    ----------
    catalog
        The translations.
    locale
        Their locale, such as ``zh_CN``; the front end's name for it is ``zh-CN``.
    """
    plurals = f"nplurals={catalog.num_plurals}; plural={catalog.plural_expr};"
    language = locale.replace("_", "-")
    texts: dict[str, object] = {"": {"domain": DOMAIN, "language": language, "plural_forms": plurals}}
    for message in catalog:
        if message.id:
            many = isinstance(message.id, tuple | list)
            key = message.id[0] if many else message.id
            context = f"{message.context}\x04" if message.context else ""
            strings = list(message.string) if many else [message.string]
            # JupyterLab ignores a plural with one form, as Chinese has it.
            texts[context + key] = strings * 2 if many and len(strings) == 1 else strings
    return texts


def read(path: Path) -> Catalog:
    """Return the translations of a file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name, domain=DOMAIN)


def update() -> None:
    """Take the messages of the sources into all translations. A message that is gone leaves them."""
    template = collect()
    for path in LOCALES.glob("*/LC_MESSAGES/*.po"):
        catalog = read(path)
        catalog.update(template, no_fuzzy_matching=True)
        catalog.obsolete.clear()
        write(path, catalog)


def write(path: Path, catalog: Catalog) -> None:
    """Write translations for people, without line numbers, which would change with every edit of the sources.

    Parameters
    ----------
    path
        The file, which is replaced.
    catalog
        The translations.
    """
    text = io.BytesIO()
    write_po(text, catalog, width=120, include_lineno=False, sort_by_file=True)
    lines = text.getvalue().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if not line.startswith(CHANGING)))


def compile_all() -> list[Path]:
    """Write what the server (`.mo`) and the page (`.json`) read from the package's translations, where it changed."""
    written = []
    for path in sorted(LOCALES.glob("*/LC_MESSAGES/*.po")):
        catalog = read(path)
        binary = io.BytesIO()
        write_mo(binary, catalog)
        texts = json.dumps(as_json(catalog, path.parents[1].name), ensure_ascii=False).encode()
        for suffix, content in ((".mo", binary.getvalue()), (".json", texts)):
            target = path.with_suffix(suffix)
            if not target.exists() or target.read_bytes() != content:
                target.write_bytes(content)
            written.append(target)
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("template", "update", "compile", "pseudo"))
    parser.add_argument(
        "target", type=Path, nargs="?", help="the file of the template, or the folder that gets the pseudo pack"
    )
    args = parser.parse_args()
    if args.what == "update":
        update()
    elif args.what == "compile":
        compile_all()
    elif args.target is None:
        parser.error("the target is missing")
    elif args.what == "pseudo":
        write_pack(args.target, "eo", collect())
    else:
        args.target.parent.mkdir(parents=True, exist_ok=True)
        with args.target.open("wb") as file:
            write_po(file, collect(), width=120)


if __name__ == "__main__":
    main()
