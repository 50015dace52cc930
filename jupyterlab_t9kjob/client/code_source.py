"""A git repository as the code of a new job, as in the form's group “Code”."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..core.code.git_address import short_name
from ..core.code.model import GitRepository
from ..core.errors import FieldError
from ..core.spec import JobSpec
from ..core.translation import _
from .options import JobOptions, valid

if TYPE_CHECKING:
    from ..snapshots.model import OwnRepository
    from .session import Session

OWN: Final = "."
"""Stands for the address of the clone in which the file lies."""
_ADDRESS: Final = re.compile(r"(?:\w+://)?(?:[^@/]+@)?([^/:]*)(?::\d+(?=/))?[:/]+(.*)")


async def with_repository(
    session: Session, spec: JobSpec, options: JobOptions, engine: str, namespace: str
) -> JobSpec | None:
    """Return a specification that runs a commit of a git repository.

    Parameters
    ----------
    session
        The services.
    spec
        The job. Its script may be a path in the repository, or lie in the user's own clone of it.
    options
        Values of the user; `git` is given.
    engine, namespace
        Where the job runs.

    Returns
    -------
    JobSpec or None
        None if the job's script is a file of this machine that lies in no clone of the repository.

    Raises
    ------
    FieldError
        If the own clone is meant and there is none, or a value is not valid.
    """
    assert options.git is not None  # noqa: S101
    own = await session.snapshots.taking.repositories.facts(spec, engine, namespace)
    if options.git == OWN:
        if own is None or own.address is None:
            raise FieldError(
                _("The file lies in no git repository with an address that a job can use."),
                code="NoRepository",
                hint=_("Name the repository by its address: --git https://host/path."),
            )
        address = own.address
    else:
        address = options.git
        own = own if own is not None and is_same(own.address, address) else None
    if own is None and spec.entrypoint.kind in ("script", "notebook") and spec.entrypoint.value.startswith("/"):
        return None
    return spec.model_copy(update={"source": _source(address, options, own)})


def not_in_clone(path: Path, address: str) -> FieldError:
    """Return the error for a file that is no path in a repository.

    Parameters
    ----------
    path
        The file.
    address
        Address of the repository.
    """
    return FieldError(
        _("{file} is in no clone of {name} on this machine.", file=str(path), name=short_name(address)),
        code="NotInRepository",
        hint=_("Name the script by its path in the repository."),
    )


def is_same(one: str | None, other: str) -> bool:
    """Return True if two addresses lead to the same repository, perhaps by different protocols.

    Parameters
    ----------
    one, other
        The addresses; None leads nowhere.
    """
    return one is not None and _identity(one) == _identity(other)


def _identity(address: str) -> tuple[str, str]:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return "", address
    return found[1].lower(), found[2].strip("/").removesuffix(".git")


def _source(address: str, options: JobOptions, own: OwnRepository | None) -> GitRepository:
    """Return the source with the values of the user, and otherwise those of the form for the user's own clone."""
    branch = own.commit.branch if own is not None and own.commit is not None else None
    return valid(
        GitRepository,
        address=address,
        ref=options.git_ref if options.git_ref is not None else branch or "",
        folder=options.git_folder if options.git_folder is not None else own.folder if own is not None else "",
        worktree=own.worktree if own is not None else None,
        submodules=options.git_submodules,
        history=options.git_history,
        secret=options.git_secret,
    )
