"""Warns of secrets that are written in plain text instead of a reference to a Secret.

Everyone who can read the job can read its environment and its command, and the API server's logs contain them too.
Messages name the variable or the option, never its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ...secret_values import MASK, has_form_of_secret, has_name_of_secret, is_secret
from ..checks import Check
from ..spec import EnvVar, JobSpec
from ..translation import _, sentences

# “NAME=value” and “--name value” within a text; the value may be in quotes.
_ASSIGNED: Final = re.compile(
    r"(?P<before>(?:(?<!\S)(?P<name>--?[A-Za-z][\w-]*)[=\s]\s*(?!-)|\b(?P<variable>[A-Za-z_]\w*)=))"
    r"(?P<value>'[^']*'|\"[^\"]*\"|[^\s;&|'\"]+)"
)
_WORDS: Final = re.compile(r"[^\s'\"=;&|]+")
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


def masked(words: Sequence[str]) -> list[str]:
    """Return a command line with `MASK` in place of secrets, also inside shell code."""
    found: list[str] = []
    option = ""
    for word in words:
        if option and not word.startswith("-") and has_name_of_secret(option.lstrip("-"), word):
            found.append(MASK)
        else:
            found.append(_WORDS.sub(_masked_word, _ASSIGNED.sub(_masked_value, word)))
        option = word if word.startswith("-") and "=" not in word else ""
    return found


def _masked_value(match: re.Match[str]) -> str:
    name, value = match["name"] or match["variable"], match["value"].strip("'\"")
    return match["before"] + MASK if has_name_of_secret(name.lstrip("-"), value) else match[0]


def _masked_word(match: re.Match[str]) -> str:
    return MASK if has_form_of_secret(match[0]) else match[0]


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
