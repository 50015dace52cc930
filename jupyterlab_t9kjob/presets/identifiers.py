"""Ids of presets."""

from __future__ import annotations

import hashlib


def preset_id(source: str, name: str) -> str:
    """Return the id of a preset: a hash, since a name can't be a part of every URL.

    Parameters
    ----------
    source
        ``own`` or ``administrator``.
    name
        The preset's name.
    """
    return hashlib.blake2b(f"{source}/{name}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
