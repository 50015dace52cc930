"""Settings of the administrator about the code of jobs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.code.git_address import GIT_SYNC_IMAGE
from .listing import MOST_BYTES


@dataclass(frozen=True)
class Limits:
    """Settings of the administrator.

    Attributes
    ----------
    most_bytes
        Largest size of one copy in bytes.
    store_bytes
        Size of all copies in one folder, above which the oldest unused ones are removed.
    git_protocols
        Protocols by which repositories and their submodules can be read.
    git_image
        Image of git-sync, which clones repositories in a cluster.
    """

    most_bytes: int = MOST_BYTES
    store_bytes: int = 5_000_000_000
    git_protocols: list[str] = field(default_factory=lambda: ["https", "ssh"])
    git_image: str = GIT_SYNC_IMAGE
