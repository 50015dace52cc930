"""Warns of secrets that are written in plain text instead of a reference to a Secret.

Everyone who can read the job can read its environment and its command, and the API server's logs contain them too.
Messages name the variable or the option, never its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..checks import Check
from ..spec import EnvVar, JobSpec
from ..translation import _, sentences

_NAMES: Final = re.compile(
    r"(^|[_-])(PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|CREDENTIALS?)"
    r"([_-](ID|VALUE))?$",
    re.IGNORECASE,
)
# Names that point to a secret, and names that are not about secrets.
_HARMLESS: Final = re.compile(r"^(OLD)?PWD$|(PAD|EOS|BOS|UNK|SEP|CLS|MASK)_TOKEN$", re.IGNORECASE)
_VALUES: Final = re.compile(
    r"^(AKIA|ASIA)[0-9A-Z]{16}$"
    r"|^gh[pousr]_\w{30,}$|^github_pat_\w{30,}$|^glpat-[\w-]{16,}$|^hf_\w{30,}$|^sk-[\w-]{20,}$|^xox[abprs]-[\w-]{10,}$"
    r"|^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|^[a-z][a-z0-9+.-]{0,20}://[^/\s:@]{0,200}:[^/\s:@$]{1,200}@",
)
# “NAME=value” and “--name value” within a text; the value may be in quotes.
_ASSIGNED: Final = re.compile(
    r"(?P<before>(?:(?<!\S)(?P<name>--?[A-Za-z][\w-]*)[=\s]\s*(?!-)|\b(?P<variable>[A-Za-z_]\w*)=))"
    r"(?P<value>'[^']*'|\"[^\"]*\"|[^\s;&|'\"]+)"
)
_WORDS: Final = re.compile(r"[^\s'\"=;&|]+")
MASK: Final = "***"
"""Replaces a secret in a command that is shown or kept in a record."""
_HINT: Final = _("Put the value into a Secret and refer to it: name and key.")


def leaks(spec: JobSpec) -> Iterator[Check]:
    """Yield a warning for each variable or argument whose value looks like a secret."""
    for field, variable in variables_of(spec):
        if variable.value and is_secret(variable.name, variable.value):
            message = _("{name} looks like a secret, and everybody who sees the job can read it.", name=variable.name)
            yield Check(level="warning", code="PlainSecret", message=message, field=f"{field}/value", hint=_HINT)
    arguments = [("/spec/args", spec.args)]
    arguments += [(f"/spec/replica_specs/{i}/args", group.args or []) for i, group in enumerate(spec.replica_specs)]
    for field, words in arguments:
        for index, (name, value) in enumerate(_options(words)):
            if value and is_secret(name.lstrip("-"), value):
                message = _("An argument looks like a secret, and everybody who sees the job can read it.")
                if name:
                    message = _(
                        "{option} in the arguments looks like a secret, and everybody who sees the job can read it.",
                        option=name,
                    )
                hint = sentences(_HINT, _("The script can read it from its environment."))
                yield Check(level="warning", code="PlainSecret", message=message, field=f"{field}/{index}", hint=hint)


def variables_of(spec: JobSpec) -> Iterator[tuple[str, EnvVar]]:
    """Yield the environment variables of the job and of its replica types, each with its JSON pointer."""
    for index, variable in enumerate(spec.env):
        yield f"/spec/env/{index}", variable
    for number, group in enumerate(spec.replica_specs):
        for index, variable in enumerate(group.env or []):
            yield f"/spec/replica_specs/{number}/env/{index}", variable


def is_secret(name: str, value: str) -> bool:
    """Return True if a value looks like a secret, by its own form or by its name.

    Parameters
    ----------
    name
        Name of the variable or option, without dashes in front.
    value
        Value in plain text.
    """
    value = value.strip()
    return bool(_VALUES.search(value[:4096])) or (len(value) >= 4 and _is_named_one(name, value))


def masked(words: Sequence[str]) -> list[str]:
    """Return a command line with `MASK` in place of secrets, also inside shell code."""
    found: list[str] = []
    option = ""
    for word in words:
        if option and not word.startswith("-") and _is_named_one(option.lstrip("-"), word):
            found.append(MASK)
        else:
            found.append(_WORDS.sub(_masked_word, _ASSIGNED.sub(_masked_value, word)))
        option = word if word.startswith("-") and "=" not in word else ""
    return found


def _masked_value(match: re.Match[str]) -> str:
    name, value = match["name"] or match["variable"], match["value"].strip("'\"")
    return match["before"] + MASK if _is_named_one(name.lstrip("-"), value) else match[0]


def _masked_word(match: re.Match[str]) -> str:
    return MASK if _VALUES.search(match[0][:4096]) else match[0]


def _is_named_one(name: str, value: str) -> bool:
    """Return True if the name is a secret's. Paths, references and switches are not secrets."""
    name = name.replace("-", "_")
    if not value or not _NAMES.search(name) or _HARMLESS.search(name):
        return False
    named_elsewhere = value.startswith(("/", "./", "~", "$", "<", "{"))
    return not named_elsewhere and value.lower() not in ("true", "false", "none", "null")


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each word as (option, value). A value in a word of its own is paired with the option before it."""
    before = ""
    for word in words:
        option, equals, value = word.partition("=")
        if word.startswith("-") and equals:
            yield option, value
            before = ""
        elif word.startswith("-"):
            yield "", word
            before = word
        else:
            yield before, word
            before = ""
