"""Checks of a snapshot before it is taken: size, entrypoint, links, and files that look like secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..core.checks import Check
from ..core.code.model import CodeSnapshot
from ..core.running.source import folder_of, inside
from ..core.spec import JobSpec
from ..core.translation import Text, _, _n, listing
from .listing import LINK, MOST_FILES, MOST_SECONDS, NOT_UTF8, LeftOut, Listing

SOURCE: Final = "/spec/source"
FOLDER: Final = "/spec/source/folder"
LEAVE_OUT: Final = "/spec/source/leave_out"
_NAMED: Final = 5
_SECRETS: Final = re.compile(
    r"""(^|/)(
        id_(rsa|dsa|ecdsa|ed25519)(_sk)? | [^/]+\.(pem|key|p12|pfx|kdbx|keystore|jks)
        | \.env(?!\.(example|sample|template|dist)$)(\.[^/]+)? | \.netrc | _netrc | \.git-credentials | \.pypirc
        | \.htpasswd | kubeconfig | [^/]*\.kubeconfig | (client_|aws_)?(credentials|secrets?)(\.[^/.]+)?
        | service[-_]?account[^/]*\.json | [^/]*(?<![a-z])(token|password)s?\.(txt|json|ya?ml)
    )$""",
    re.VERBOSE | re.IGNORECASE,
)


def byte_text(size: int) -> str:
    """Return a size in words: “412 kB”, “1.9 GB”."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 999.5 or (unit == "B" and size < 1000):
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 99.5 else f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} GB"


def checks(spec: JobSpec, source: CodeSnapshot, found: Listing, most_bytes: int) -> Iterator[Check]:
    """Yield the checks of a listed folder, errors first.

    Parameters
    ----------
    spec
        The job.
    source
        Its source.
    found
        Content of the folder.
    most_bytes
        Largest size of a copy.
    """
    yield from _limits(found, most_bytes)
    yield from _entrypoint(spec, source, found)
    yield from _secrets(found)
    yield from _links(found)
    if not found.over:
        message = _("The copy fits: {size}, at most {most}.", size=byte_text(found.size), most=byte_text(most_bytes))
        yield Check(level="passed", code="CopyFits", message=message)


def reason_text(left_out: LeftOut) -> Text:
    """Return why a file is left out: “left out: .gitignore”."""
    if left_out.rule:
        return _("left out: {rule}", rule=left_out.rule)
    if left_out.reason == LINK:
        return _("left out: link out of the folder")
    if left_out.reason == NOT_UTF8:
        return _("left out: the name is not UTF-8")
    return _("left out")


def _limits(found: Listing, most_bytes: int) -> Iterator[Check]:
    if not found.over:
        return
    largest = [f"{name} ({byte_text(size)})" for name, size in found.largest]
    message = _n("The folder has more than {n} file.", "The folder has more than {n} files.", MOST_FILES)
    if found.over == "size":
        message = _(
            "The copy has {size} or more; {most} is the limit. The largest parts: {parts}.",
            size=byte_text(found.size),
            most=byte_text(most_bytes),
            parts=listing(largest),
        )
    elif found.over == "time":
        seconds = int(MOST_SECONDS)
        message = _n(
            "The files could not be counted in {n} second.", "The files could not be counted in {n} seconds.", seconds
        )
    hint = _("Leave out folders that the job does not import, or choose a smaller folder.")
    code = {"size": "SnapshotTooLarge", "files": "TooManyFiles"}.get(found.over, "SnapshotTooSlow")
    yield Check(level="error", code=code, message=message, hint=hint, field=LEAVE_OUT)


def _entrypoint(spec: JobSpec, source: CodeSnapshot, found: Listing) -> Iterator[Check]:
    entrypoint = spec.entrypoint
    if folder_of(entrypoint) is None:
        return
    relative = inside(entrypoint.value, source.folder)
    if relative is None:
        message = _("{file} is not in the folder that is copied.", file=entrypoint.value)
        hint = _("Choose a folder that contains the file.")
        yield Check(level="error", code="EntrypointNotCopied", message=message, hint=hint, field=FOLDER)
    elif entrypoint.kind == "script" and not found.over and relative not in {entry.path for entry in found.files}:
        message = _("{file} is left out of the copy.", file=relative)
        rule = next((each for each in found.left_out if relative == each.path or relative.startswith(each.path)), None)
        hint = _("Change the patterns.") if rule is None else _("Change the pattern {rule}.", rule=rule.rule)
        yield Check(level="error", code="EntrypointNotCopied", message=message, hint=hint, field=LEAVE_OUT)


def _secrets(found: Listing) -> Iterator[Check]:
    names = [entry.path for entry in found.files if _SECRETS.search(entry.path)]
    if not names:
        yield Check(level="passed", code="NoSecretFiles", message=_("No copied file looks like a key or a token."))
        return
    files = listing(names, _NAMED)
    message = _n(
        "{files} looks like a key or a token and is copied.",
        "{files} look like keys or tokens and are copied.",
        len(names),
        files=files,
    )
    hint = _("Leave them out, unless the job needs them.")
    yield Check(level="warning", code="SecretFiles", message=message, hint=hint, field=LEAVE_OUT)


def _links(found: Listing) -> Iterator[Check]:
    names = [each.path for each in found.left_out if each.reason == LINK]
    if names:
        links = listing(names, _NAMED)
        message = _n(
            "The link {links} leads out of the folder or to nothing, so the copy lacks it.",
            "The links {links} lead out of the folder or to nothing, so the copy lacks them.",
            len(names),
            links=links,
        )
        yield Check(level="hint", code="LinksLeftOut", message=message)
