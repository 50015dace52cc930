"""Git repositories as the code of jobs: which commit a job runs, and where its clone lies.

In a cluster an init container clones the repository into each pod. On this machine the job's own process does so, into
the folder of snapshots, where jobs of one commit share the clone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from ...core.checks import Check
from ...core.code.git_address import PROTOCOLS, is_commit, protocol_of, short_name
from ...core.code.git_errors import git_texts
from ...core.code.model import MOST_BRANCH, Commit, GitRepository
from ...core.errors import FieldError, JobError, Unavailable
from ...core.running.source import CLONE_PATH
from ...core.spec import JobSpec
from ...core.system.disk import trouble_of
from ...core.system.disk_threads import on_disk
from ...core.translation import Text, _, _n
from ...jobs.admission import Admission
from ...jobs.service import JobService
from ..job_notes import JobNotes, new_token
from ..limits import Limits
from ..places import FOLDER_AT_HOME
from ..store import SnapshotStore
from .remote import ADDRESS, REF, Remote, Remotes
from .repositories import Comparison, Repositories, Repository

_ENTRYPOINT: Final = "/spec/entrypoint/value"
_SECRET: Final = "/spec/source/secret"  # noqa: S105 (a field)


class Clones:
    """Determines the commit of jobs that run a git repository.

    Parameters
    ----------
    jobs
        All engines.
    home
        Folder of our records.
    notes
        Notes which job uses which clone.
    limits
        Settings of the administrator.
    repositories
        The user's own repositories.
    """

    def __init__(
        self, jobs: JobService, home: Path, notes: JobNotes, limits: Limits, repositories: Repositories
    ) -> None:
        self._jobs = jobs
        self._store = SnapshotStore(home / FOLDER_AT_HOME)
        self._notes = notes
        self._limits = limits
        self._own = repositories
        self.remotes = Remotes(limits.git_protocols)

    async def preview(self, spec: JobSpec, engine: str, namespace: str) -> tuple[JobSpec, list[Check]]:
        """Return the spec with the commit that is known for its ref, and its checks. No repository is asked.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.
        namespace
            Namespace of the job; blank on this machine.
        """
        source = repository_of(spec)
        try:
            self._demand(spec, engine)
            self.remotes.demand_protocol(source.address)
            remote = self.remotes.known(source.address)
            commit = source.commit or (_commit(source, remote) if remote is not None else None)
        except JobError as problem:
            return spec, [Check.of(problem)]
        own = await self._own.of(spec, engine, namespace)
        sealed = self._sealed(spec, engine, commit)
        checks = _checks(sealed, own, await self._own.compare(own, spec, commit))
        return sealed, [*self._credentials(source, engine), *checks]

    def _credentials(self, source: GitRepository, engine: str) -> Iterator[Check]:
        """Yield a warning if the pods of a job can't log in where they always have to."""
        if self._jobs.engines.facts(engine).has_pods and source.secret is None and protocol_of(source.address) == "ssh":
            message = _("Pods read an SSH address with the key and the known_hosts of a Secret.")
            hint = _("Enter the name of the Secret, or an https address.")
            yield Check(level="warning", code="SecretNeeded", message=message, hint=hint, field=_SECRET)

    async def take(self, spec: JobSpec, engine: str) -> Admission:
        """Determine the commit of a job's repository; on this machine, keep a folder for its clone.

        A job of a cluster may run a repository that this lab can't read: git-sync then finds the commit of the ref.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.

        Raises
        ------
        FieldError
            If the repository, branch or tag does not exist, or can't be read with the user's credentials.
        Unavailable
            If the repository's host does not answer, or the disk can't be written.
        """
        source = repository_of(spec)
        self._demand(spec, engine)
        self.remotes.demand_protocol(source.address)
        in_pods = self._jobs.engines.facts(engine).has_pods
        commit = source.commit
        if commit is None:
            try:
                commit = _commit(source, await self.remotes.ask(source.address))
            except JobError as problem:
                if not in_pods or (problem.code in ("RepositoryNotFound", "NoSuchCommit") and source.secret is None):
                    raise
        sealed = self._sealed(spec, engine, commit)
        if in_pods:
            return Admission(sealed)
        digest, token = _digest(repository_of(sealed)), new_token()
        facts = repository_of(sealed).model_dump(mode="json", include={"address", "ref", "commit", "submodules"})
        try:
            await on_disk(self._store.folder, self._store.reserve, digest, facts, token)
        except OSError as error:
            trouble = trouble_of(error, self._store.folder)
            message = _("The clone can't be written: {problem}.", problem=trouble.sentence)
            raise Unavailable(message, code=trouble.code, hint=trouble.hint, verbatim=error.strerror) from error
        finish = partial(self._notes.hand_over, self._store, digest, token, self._limits.store_bytes)
        return Admission(sealed, finish=finish)

    async def ask(self, source: GitRepository) -> tuple[Remote, Commit | None]:
        """Return a repository's branches and tags, and the commit of a source's ref; None if it has no such ref.

        Raises
        ------
        FieldError, Unavailable
            See `Remotes.ask`.
        """
        remote = await self.remotes.ask(source.address)
        found = remote.commit(source.ref)
        return remote, None if found is None else _commit(source, remote)

    def is_sealed(self, spec: JobSpec) -> bool:
        """Return True if a spec names the commit that it runs, as in a rerun."""
        return repository_of(spec).commit is not None and repository_of(spec).path is not None

    def _demand(self, spec: JobSpec, engine: str) -> None:
        """Raise `FieldError` if an engine can't run the repository of a spec."""
        facts = self._jobs.engines.facts(engine)
        source = repository_of(spec)
        if spec.entrypoint.kind == "notebook":
            message = _("JupyterLab converts a notebook to a script, which is not in the repository.")
            hint = _("Choose a script, or run a snapshot.")
            raise FieldError(message, code="NotebookNotInRepository", field=_ENTRYPOINT, hint=hint)
        if not facts.has_pods and not facts.shares_lab_filesystem:
            message = _("This engine does not run git repositories.")
            raise FieldError(message, code="Unsupported", field="/spec/source", hint=_("Use the files as they are."))
        if source.secret is not None and not facts.has_pods:
            message = _("A Secret can be used in a cluster only.")
            hint = _("Leave it out: git uses your credential helper or SSH agent on this machine.")
            raise FieldError(message, code="SecretNotUsed", field=_SECRET, hint=hint)
        if source.secret is not None and protocol_of(source.address) not in ("ssh", "https"):
            message = _("Credentials are sent over ssh and https only.")
            hint = _("Change the address, or leave out the Secret.")
            raise FieldError(message, code="SecretNotSafe", field=_SECRET, hint=hint)

    def _sealed(self, spec: JobSpec, engine: str, commit: Commit | None) -> JobSpec:
        """Return a spec that names commit, clone and, in a cluster, git-sync's image."""
        source = repository_of(spec)
        protocols = [name for name in PROTOCOLS if name in self._limits.git_protocols] if source.submodules else None
        source = source.model_copy(update={"commit": commit, "protocols": protocols})
        if self._jobs.engines.facts(engine).has_pods:
            changes: dict[str, str | None] = {"path": CLONE_PATH, "image": source.image or self._limits.git_image}
        else:
            path = str(self._store.path(_digest(source))) if commit is not None else None
            changes = {"path": path, "image": None}
        return spec.model_copy(update={"source": source.model_copy(update=changes)})


def repository_of(spec: JobSpec) -> GitRepository:
    """Return the git repository of a spec whose source is one."""
    assert isinstance(spec.source, GitRepository)  # noqa: S101
    return spec.source


def no_such_commit(source: GitRepository) -> FieldError:
    """Return the error for a repository without the branch, tag or commit of a spec."""
    problem, hint = git_texts("NoSuchCommit", source.address, source.ref)
    return FieldError(_("{problem}.", problem=problem), code="NoSuchCommit", field=REF, hint=hint)


def _digest(source: GitRepository) -> str:
    commit = source.commit.id if source.commit is not None else ""
    wanted = json.dumps([source.address, commit, source.submodules, source.history])
    return hashlib.sha256(wanted.encode()).hexdigest()[:40]


def _commit(source: GitRepository, remote: Remote) -> Commit:
    """Return the commit of a ref.

    Raises
    ------
    FieldError
        If the repository has no such branch or tag.
    """
    found = remote.commit(source.ref)
    if found is None:
        raise no_such_commit(source)
    branch = source.ref or remote.default or ""
    return Commit(id=found, branch=None if is_commit(branch) or len(branch) > MOST_BRANCH else branch or None)


def _checks(spec: JobSpec, own: Repository | None, compared: Comparison) -> Iterator[Check]:
    """Yield checks of the commit against the files of the user's own clone."""
    source = repository_of(spec)
    commit, name = source.commit, short_name(source.address)
    if commit is None:
        message = _("The commit of {name} is determined at submission.", name=name)
        yield Check(level="hint", code="CommitNotKnown", message=message, field=ADDRESS)
        return
    short = commit.id[:7]
    message = _("{name} is at {commit}.", name=name, commit=short)
    if commit.branch is not None:
        message = _("{branch} of {name} is at {commit}.", branch=commit.branch, name=name, commit=short)
    yield Check(level="passed", code="CommitKnown", message=message)
    if own is None:
        return
    if own.commit is not None and own.commit.id != commit.id and not own.pushed:
        mine = own.commit.id[:7]
        message = _("The commit {own} of your clone is not pushed. The job runs {commit}.", own=mine, commit=short)
        yield Check(level="warning", code="NotPushed", message=message, hint=_push_hint(), field=REF)
    if compared.changed:
        message = _n(
            "{n} file of the lab differs from {commit}. The job runs the commit.",
            "{n} files of the lab differ from {commit}. The job runs the commit.",
            compared.changed,
            commit=short,
        )
        yield Check(level="hint", code="FilesDiffer", message=message, field=REF)
    if compared.lacks_entrypoint:
        message = _("{file} is not in {commit}.", file=Path(spec.entrypoint.value).name, commit=short)
        yield Check(level="error", code="EntrypointNotInCommit", message=message, hint=_push_hint(), field=_ENTRYPOINT)


def _push_hint() -> Text:
    return _("Commit and push the files, or choose a snapshot.")
