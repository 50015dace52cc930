"""Source of a job's code: a snapshot of the user's files, or a git repository."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, StringConstraints, Tag

from ..base_model import Model, PathText, PlainText
from .git_address import check_address, check_folder, check_ref, protocol_of

LINE_PATTERN: Final = r"^[^\x00\r\n]+$"
OBJECT_NAME_PATTERN: Final = r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$"
MOST_BRANCH: Final = 256
"""Longest name of a branch; git and file systems allow longer ones."""


class Commit(Model):
    """Commit that was checked out when a snapshot was taken.

    `changed` counts the copied files that differ from the commit or are not in it. A detached HEAD has no branch;
    a branch with a very long name is left out.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    branch: Annotated[PlainText, StringConstraints(max_length=MOST_BRANCH)] | None = None
    subject: Annotated[PlainText, StringConstraints(max_length=500)] = ""
    changed: Annotated[int, Field(ge=0)] = 0


class TakenSnapshot(Model):
    """Copy of the code that a job runs.

    Attributes
    ----------
    digest
        Hash of the names and contents of all files. Jobs that run equal files share one copy.
    path
        Absolute path of the copy in the job.
    files, size
        Number of files, and their size in bytes.
    commit
        Commit that was checked out; None without git.
    """

    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    path: Annotated[PathText, StringConstraints(pattern=r"^/")]
    files: Annotated[int, Field(ge=0)]
    size: Annotated[int, Field(ge=0)]
    commit: Commit | None = None


DEFAULT_LEAVE_OUT = ["runs/", ".em/", "__pycache__/", "*.pt", "*.pth", "*.ckpt", "*.safetensors"]
"""Patterns of outputs and caches that a snapshot leaves out unless the user removes them from the form."""


class CodeSnapshot(Model):
    """Copy of a folder that is taken when the job is submitted.

    Attributes
    ----------
    folder
        Absolute path of the folder in the job. The entrypoint lies in it.
    leave_out
        Patterns of files that are not copied, as in ``.gitignore``, in addition to git's own rules.
    taken
        The copy; None before the submission.
    """

    kind: Literal["snapshot"] = "snapshot"
    folder: Annotated[PathText, StringConstraints(pattern=r"^/")]
    leave_out: Annotated[
        list[Annotated[str, StringConstraints(pattern=LINE_PATTERN, max_length=500)]], Field(max_length=200)
    ] = Field(default_factory=lambda: list(DEFAULT_LEAVE_OUT))
    taken: TakenSnapshot | None = None


class GitRepository(Model):
    """Git repository whose commit a job runs. Where the job runs, a clone is made before the job starts.

    Attributes
    ----------
    address
        Address of the repository, without credentials.
    ref
        Branch, tag or commit; empty for the default branch.
    folder
        Folder in the repository from which Python imports modules; empty for the repository itself.
    worktree
        Absolute path of the user's own clone, as the job sees it. The job reads files below it from its clone instead.
    submodules
        True to clone submodules too.
    protocols
        Protocols by which submodules may be read, which the administrator allows; None before the submission, and in
        jobs of earlier versions, which allowed https and ssh.
    history
        True to clone the history too; False for the commit alone.
    secret
        Kubernetes Secret with the credentials; None without. Its keys are ``ssh-privatekey`` and ``known_hosts`` for an
        SSH address, otherwise ``username`` and ``password``.
    image
        Image of git-sync, which clones in a cluster; None for the default.
    commit
        Commit that runs; None before the submission, or if JupyterLab can't ask the repository.
    path
        Absolute path of the clone in the job; None before the submission.
    """

    kind: Literal["git"] = "git"
    address: Annotated[str, StringConstraints(min_length=1, max_length=2048), AfterValidator(check_address)]
    ref: Annotated[str, StringConstraints(max_length=256), AfterValidator(check_ref)] = ""
    folder: Annotated[str, StringConstraints(max_length=1024), AfterValidator(check_folder)] = ""
    worktree: Annotated[PathText, StringConstraints(pattern=r"^/")] | None = None
    submodules: bool = False
    protocols: list[Literal["https", "http", "ssh", "git", "file"]] | None = None
    history: bool = False
    secret: Annotated[str, StringConstraints(pattern=OBJECT_NAME_PATTERN)] | None = None
    image: Annotated[PlainText, StringConstraints(min_length=1, max_length=1024)] | None = None
    commit: Commit | None = None
    path: Annotated[PathText, StringConstraints(pattern=r"^/")] | None = None

    def allowed_protocols(self) -> list[str]:
        """Return the protocols that the clone may use."""
        of_submodules = ["https", "ssh"] if self.protocols is None else self.protocols
        return list(dict.fromkeys([protocol_of(self.address), *(of_submodules if self.submodules else [])]))


def _kind(value: Any) -> Any:
    """Return the kind of a source. Specs of earlier versions may lack it: they know snapshots only."""
    return value.get("kind", "snapshot") if isinstance(value, dict) else getattr(value, "kind", None)


CodeSource = Annotated[
    Annotated[CodeSnapshot, Tag("snapshot")] | Annotated[GitRepository, Tag("git")], Discriminator(_kind)
]
"""Origin of a job's code."""
