"""Tells which values look like secrets: one rule for forms, records, exported archives and the recorder `em`.

The recorder takes this module along into images with Python 3.8, so it needs only the standard library.
"""

from __future__ import annotations

import re
from typing import Any, Mapping

MASK = "***"
"""Replaces a secret in what is shown or recorded."""

# Whole words: `api_key`, `hf-token`, `hubToken`, `PGPASSWORD`, but neither `tokens` nor `tokenizer` nor `author`.
_NAMES = re.compile(
    r"((^|[._])(PWD|TOKEN|AUTH|AUTHORIZATION|API_?KEYS?|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY|CREDENTIALS?)"
    r"|PASSWORDS?|PASSWD|PASSPHRASE|SECRETS?)(_(ID|VALUE))?$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Names that point to a secret, and names that are not about secrets.
_HARMLESS = re.compile(
    r"^(OLD)?PWD$|(PAD|EOS|BOS|UNK|SEP|CLS|MASK|START|STOP|END|IMAGE|MAX|NUM|PER)_TOKEN(_ID)?$", re.IGNORECASE
)
# Only these numbers are secrets: a token with a number is a token of a text.
_PASSWORDS = re.compile(r"(PWD|PASSWORDS?|PASSWD|PASSPHRASE|SECRETS?)(_VALUE)?$", re.IGNORECASE)
_VALUES = re.compile(
    r"^(AKIA|ASIA)[0-9A-Z]{16}$"
    r"|^gh[pousr]_\w{30,}$|^github_pat_\w{30,}$|^glpat-[\w-]{16,}$|^hf_\w{30,}$|^sk-[\w-]{20,}$|^xox[abprs]-[\w-]{10,}$"
    r"|^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|^[a-z][a-z0-9+.-]{0,20}://[^/\s:@]{0,200}:[^/\s:@$]{1,200}@",
)
_LONGEST = 4096
_SHORTEST = 4


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
    return has_form_of_secret(value) or (len(value) >= _SHORTEST and has_name_of_secret(name, value))


def has_form_of_secret(value: str) -> bool:
    """Return True if a value looks like a key or a token whatever its name is."""
    return bool(_VALUES.search(value[:_LONGEST]))


def has_name_of_secret(name: str, value: str) -> bool:
    """Return True if the name is a secret's. Paths, references and switches are not secrets.

    Parameters
    ----------
    name, value
        As in `is_secret`.
    """
    name = _CAMEL.sub("_", name.replace("-", "_"))
    if not value or not _NAMES.search(name) or _HARMLESS.search(name):
        return False
    named_elsewhere = value.startswith(("/", "./", "~", "$", "<", "{"))
    return not named_elsewhere and value.lower() not in ("true", "false", "none", "null")


def without_secrets(value: Any, name: str = "") -> Any:
    """Return a value, which may be nested, with `MASK` in place of what looks like a secret.

    Parameters
    ----------
    value
        Mappings and lists are copied; what is neither a text nor a number stays as it is.
    name
        Name of the value.
    """
    if isinstance(value, Mapping):
        return {key: without_secrets(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_secrets(item, name) for item in value]
    if isinstance(value, (int, float)) and not _PASSWORDS.search(name):
        return value
    return MASK if isinstance(value, (str, int, float)) and is_secret(name, str(value)) else value
