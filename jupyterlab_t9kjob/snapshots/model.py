"""The API's models of snapshots."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from ..core.base_model import Model, PathText
from ..core.code.model import CodeSource, Commit
from ..core.job import DEFAULT_ENGINE, EngineName
from ..core.spec import JobSpec, Namespace
from ..core.translation import Text


class SnapshotRequest(Model):
    """Request for the content of a snapshot that a form would take."""

    engine: EngineName = DEFAULT_ENGINE
    namespace: Namespace = ""
    spec: JobSpec = Field(description="Its `source` is a snapshot.")


class SnapshotDiffRequest(SnapshotRequest):
    """Request for the difference of one file from the commit that is checked out."""

    file: Annotated[PathText, StringConstraints(min_length=1)] = Field(description="Path in the copied folder.")


class RepositoryRequest(Model):
    """Request for the repository of a form: the user's own clone, and the repository elsewhere."""

    engine: EngineName = DEFAULT_ENGINE
    namespace: Namespace = ""
    spec: JobSpec = Field(description="If its `source` is a git repository, that repository is asked.")


class OwnRepository(Model):
    """The user's clone in which the form's file lies."""

    worktree: str = Field(description="Its folder, as the job sees it.")
    folder: str = Field(description="Folder of the file in the repository; empty: the repository itself.")
    address: str | None = Field(description="Address from which it was cloned; null: none that can be used.")
    commit: Commit | None = Field(description="Commit that is checked out; `changed` counts the files that differ.")
    pushed: bool = Field(description="The commit is known to be in the repository elsewhere.")


class RepositoryFacts(Model):
    """Facts about the repository of a form."""

    own: OwnRepository | None = Field(None, description="Null: the file lies in no clone that JupyterLab sees.")
    commit: Commit | None = Field(
        None, description="Commit of the spec's branch or tag now; null: not asked, or not known."
    )
    default_branch: str | None = None
    branches: list[str] = Field(default_factory=list, description="Branches, then tags. At most 500.")
    reason: Text | None = Field(None, description="Why the repository can't be read here, a sentence.")
    hint: Text | None = None


class CodeFile(Model):
    """A file of a snapshot."""

    path: str
    size: int = Field(description="Bytes.")
    change: Literal["same", "changed", "new", "gone"] | None = Field(
        None, description="Compared with the commit (form) or with the files of now (job); null: nothing to compare."
    )


class LeftOutFiles(Model):
    """A file or folder that a snapshot leaves out."""

    path: str = Field(description="The path of a folder ends with a slash.")
    files: int
    size: int = Field(description="Bytes.")
    complete: bool = Field(description="False: counting ended early, so there are more.")
    reason: Text


class SnapshotPreview(Model):
    """Content of a snapshot before it is taken."""

    folder: str | None = Field(description="Path of the folder in the contents API; null outside the contents root.")
    ignore_file: str | None = Field(None, description="Contents path of the folder's .gitignore; null without one.")
    commit: Commit | None = Field(None, description="The commit that is checked out; null without git.")
    files: list[CodeFile] = Field(description="With git: files that differ from the commit. At most 500.")
    more: int = Field(0, description="Further files of that kind.")
    same: int = Field(0, description="Files that are as in the commit.")
    same_size: int = Field(0, description="Bytes.")
    left_out: list[LeftOutFiles] = Field(description="At most 200.")
    count: int = Field(description="Files of the copy.")
    size: int = Field(description="Bytes of the copy.")
    store: str = Field(description="Folder of the copies, as the job sees it.")


class FileDiff(Model):
    """Difference of one file."""

    path: str
    diff: str | None = Field(None, description="Unified diff; empty: no difference; null: binary or too large.")


class JobCode(Model):
    """The code that a job runs."""

    source: CodeSource | None = Field(description="Null: the job reads the files as they are.")
    kept: bool = Field(False, description="The copy exists, and this lab sees it.")
    reason: Text | None = Field(None, description="Why the copy can't be shown, a sentence.")
    files: list[CodeFile] = Field(
        default_factory=list, description="Files of the copy, compared with the files of now; changed ones first."
    )
    changed: int = Field(0, description="Files that differ from the files of now.")
    compared: bool = Field(False, description="The copied folder exists, so the files were compared.")


class CodeText(FileDiff):
    """A file of a job's copy: its text, and how the file of now differs from it."""

    text: str | None = Field(None, description="Null: binary, too large, or not part of the copy.")


class RestoreRequest(Model):
    """Request to write a job's copy to a new folder."""

    folder: Annotated[PathText, StringConstraints(min_length=1)] = Field(
        description="Contents path of the folder, which must not exist."
    )


class Restored(Model):
    """Folder to which a job's copy was written."""

    folder: str = Field(description="Contents path.")
    files: int
