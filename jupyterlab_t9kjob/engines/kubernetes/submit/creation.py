"""Preview and creation of a job: from a specification or a manifest to an object in the cluster and its record."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path

from ....core.checks import Capability, Check, Preview
from ....core.engine.protocol import Edited, Prepare
from ....core.errors import FieldError, JobError, NotAllowed, Unavailable
from ....core.job import ENDED_PHASES
from ....core.lab import Lab
from ....core.manifests import KINDS, Context, parse, problems, render, to_yaml
from ....core.manifests.own_fields import name_request
from ....core.spec import JobSpec
from ....core.translation import _
from ..client.api import Json, KubeApi
from ..cluster.connection import Cluster
from ..cluster.discovery import Found
from ..cluster.namespace_watch import jobs_path
from ..cluster.queues import Queues
from ..jobs import api_views
from ..jobs.table import JobTable
from ..jobs.tracked_job import TrackedJob
from ..objects.kinds import JobKind
from ..scheduling.job_size import size_text
from . import capacity_checks, companions, eviction_checks, pod_security, queue_checks, submission
from .lab_defaults import inherit

log = logging.getLogger(__name__)


class Creation:
    """Previews and creates the jobs of one kind.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster in which the jobs are created.
    table
        The table of jobs, to which new jobs are added.
    queues
        The queues that jobs can be put into.
    standards
        The Pod Security Standards that namespaces enforce.
    root
        The contents root; None if files are not on this machine.
    """

    def __init__(
        self,
        kind: JobKind,
        cluster: Cluster,
        table: JobTable,
        queues: Queues,
        standards: pod_security.EnforcedStandards,
        root: Path | None,
    ) -> None:
        self._kind = kind
        self._cluster = cluster
        self._table = table
        self._queues = queues
        self._standards = standards
        self._root = root

    async def preview(
        self, spec: JobSpec, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        """Render and check a specification, or a manifest that was edited, without creating anything.

        Parameters
        ----------
        spec
            The specification.
        namespace
            The job's namespace; empty for the default one.
        edited
            The manifest that is submitted in place of the specification's own.
        dry_run
            True to let the API server check the job object as well.
        """
        namespace = namespace or self._cluster.default_namespace
        found = self._cluster.found(self._kind) or Found()
        checks = [] if edited is not None else problems(spec, self._kind.manifests, dialect=found.dialect)
        checks += self._check_engine(spec.name, namespace)
        manifest: Json | None = None
        try:
            manifest, spec, notes = await self._manifest(spec, namespace, found, edited=edited)
            checks += notes
            checks += await self._check_capacity(manifest, spec, namespace, edited=edited is not None)
            checks += await self._check_queue(spec, manifest, namespace)
            checks += await self._check_pod_security(spec, manifest, namespace, edited=edited is not None)
            checks += self._check_companions(manifest, namespace, edited=edited is not None)
            checks += self._check_continuation(spec, namespace)
            if dry_run:
                api = await self._cluster.api_for(self._kind)
                await companions.try_companions(api, self._kind, manifest)
                supported = await submission.dry_run(api, self._kind, manifest, edited=edited is not None)
                checks.append(_accepted(checks) if supported else _not_supported())
        except JobError as error:
            checks.append(Check.of(error))
        # An older T9k starts an elastic job with all replicas.
        asked = len(self._kind.replicas(manifest, [])) if manifest is not None and spec.elastic is not None else None
        return Preview(
            command=api_views.command_text(spec),
            manifest=edited.text if edited is not None else to_yaml(manifest) if manifest is not None else None,
            summary=size_text(spec, namespace, asked),
            checks=checks,
        )

    async def create(
        self,
        spec: JobSpec,
        *,
        namespace: str,
        request_id: str,
        edited: Edited | None = None,
        rerun_of: str | None = None,
        prepare: Prepare | None = None,
    ) -> TrackedJob:
        """Create a job and keep a record of it.

        Parameters
        ----------
        spec
            The specification.
        namespace
            The job's namespace; empty for the default one.
        request_id
            Identifier of the request; a repeated request does not create a second job.
        edited
            The manifest that is submitted in place of the specification's own.
        rerun_of
            Id of the job that this one repeats.
        prepare
            Called when all checks have passed, before the object is created.

        Raises
        ------
        JobError
            See `KubernetesEngine.create`.
        """
        api = await self._cluster.api_for(self._kind)
        found = self._cluster.found(self._kind)
        why = self._cluster.why_off(self._kind)
        if found is None or why is not None:
            raise Unavailable(why or _("The cluster is not available."))
        namespace = namespace or self._cluster.default_namespace
        if edited is None:
            _raise_first_error(problems(spec, self._kind.manifests, dialect=found.dialect))
        manifest, spec, _notes = await self._manifest(
            spec, namespace, found, edited=edited, request_id=request_id, rerun_of=rerun_of
        )
        for check in self._check_companions(manifest, namespace, edited=edited is not None):
            raise NotAllowed(check.message, code=check.code, field=check.field, hint=check.hint)
        await companions.try_companions(api, self._kind, manifest)
        if prepare is not None:
            await prepare()
        try:
            answer = await submission.create(api, self._kind, found, manifest, edited=edited is not None)
            await self._add_companions(api, answer)
        except JobError as problem:
            if isinstance(problem, NotAllowed) or problem.code == "UnknownField":
                self._cluster.refused()  # Permissions or the schema may have changed.
            raise
        job = self._table.note_answer(namespace, answer)
        self._table.records.keep(job, submitted=manifest)
        await self._table.records.save(job)
        await self._cluster.use(namespace)
        return job

    async def complete(self, job: TrackedJob) -> None:
        """Create what an active job lacks beside its object, because a server was killed while it created the job."""
        if not job.present or job.phase in ENDED_PHASES:
            return
        try:
            await companions.create_companions(await self._cluster.api_for(self._kind), self._kind, job.manifest)
        except JobError as problem:
            log.warning("The job %s may lack an object that it needs: %s", job.name, problem)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _check_companions(self, manifest: Json, namespace: str, *, edited: bool) -> list[Check]:
        """Check the permission to create what the job needs beside its own object."""
        permissions = self._cluster.rights(self._kind, namespace)
        found = companions.permission_check(self._kind, manifest, permissions, edited=edited)
        return [] if found is None else [found]

    def _check_continuation(self, spec: JobSpec, namespace: str) -> list[Check]:
        """Check the permission to continue the job after an eviction, if the form's box is set."""
        permissions = self._cluster.rights(self._kind, namespace)
        found = eviction_checks.permission_check(self._kind, spec, namespace, permissions)
        return [] if found is None else [found]

    async def _add_companions(self, api: KubeApi, job: Json) -> None:
        """Create what a new job needs beside its own object; delete the job if that fails.

        A job that an earlier request has created may have run for long, so it stays.
        """
        try:
            await companions.create_companions(api, self._kind, job)
        except JobError as problem:
            if not job.get("status"):
                await submission.take_back(api, jobs_path(self._kind, job["metadata"]["namespace"]), job, problem)
            raise

    def _check_engine(self, name: str, namespace: str) -> list[Check]:
        """Check the engine, the permission to create jobs, and the name, without a request to the cluster."""
        found: list[Check] = []
        why = self._cluster.why_off(self._kind)
        if why is not None:
            found.append(Check(level="error", code="EngineOff", message=why, field="/engine"))
        permission: Capability | None = self._cluster.rights(self._kind, namespace).get("create_jobs")
        if permission is not None and not permission.supported:
            found.append(
                Check(
                    level="error",
                    code="Forbidden",
                    message=permission.reason or _("This account can't create jobs in this namespace."),
                    field="/namespace",
                )
            )
        if self._table.has_name(name, namespace):
            found.append(Check.of(submission.name_taken(name, namespace)))
        return found

    async def _check_capacity(self, manifest: Json, spec: JobSpec, namespace: str, *, edited: bool) -> list[Check]:
        """Check a job against the nodes and quotas that this account can see."""
        try:
            room = await self._cluster.capacity.room(namespace)
        except Unavailable:
            return []  # `_check_engine` has reported it.
        least = spec.elastic.min if spec.elastic is not None else None
        plural = f"{self._kind.plural}.{self._kind.group}"
        check = partial(capacity_checks.checks, least=least, starts=not spec.paused, plural=plural, edited=edited)
        return await asyncio.to_thread(check, manifest, room, namespace)  # There may be thousands of nodes.

    async def _check_queue(self, spec: JobSpec, manifest: Json, namespace: str) -> list[Check]:
        """Check a job against its queue; nothing if the cluster does not answer."""
        if spec.scheduling.queue is None or self._cluster.why_off(self._kind) is not None:
            return []
        try:
            known = await self._queues.of(namespace)
        except JobError:
            return []
        return queue_checks.checks(spec, manifest, self._kind.queues, known, namespace)

    async def _check_pod_security(self, spec: JobSpec, manifest: Json, namespace: str, *, edited: bool) -> list[Check]:
        """Check a job against the Pod Security Standard of its namespace; nothing if the cluster does not answer."""
        api = self._cluster.api
        if api is None or self._cluster.why_off(self._kind) is not None:
            return []
        level = await self._standards.of(api, namespace)
        return pod_security.checks(manifest, spec, namespace, level, edited=edited)

    async def _manifest(
        self,
        spec: JobSpec,
        namespace: str,
        found: Found,
        *,
        edited: Edited | None,
        request_id: str | None = None,
        rerun_of: str | None = None,
    ) -> tuple[Json, JobSpec, list[Check]]:
        """Return the manifest that is submitted, its specification, and notes on the defaults that were applied."""
        owner = self._cluster.settings.owner
        context = Context(namespace=namespace, request_id=request_id, owner=owner, rerun_of=rerun_of)
        if edited is not None:
            manifest = submission.edited_manifest(edited, self._kind, found, context)
            parsed = parse(manifest, dialect=found.dialect)
            if request_id is not None:
                name_request(KINDS[self._kind.manifests], manifest, request_id)
            return manifest, parsed.spec, []
        settings, lab = self._cluster.settings, self._cluster.lab or Lab()
        context = replace(context, user=lab.user or owner)
        spec, context, notes = await asyncio.to_thread(
            inherit, spec, context, lab, root=self._root, keep_logs=settings.keep_logs
        )
        return render(spec, self._kind.manifests, context=context, dialect=found.dialect), spec, notes


def _raise_first_error(checks: list[Check]) -> None:
    for check in checks:
        if check.level == "error":
            raise FieldError(check.message, code=check.code, field=check.field, hint=check.hint)


def _accepted(checks: list[Check]) -> Check:
    """Return the result of a dry run that the API server accepted; it covers the job object but not its pods."""
    if all(check.level in ("hint", "passed") for check in checks):
        message = _("The API server would accept the job object. The dry run did not try its pods.")
        return Check(level="passed", code="DryRun", message=message)
    message = _(
        "The API server would accept the job object. The dry run did not try its pods: the other findings still apply."
    )
    return Check(level="hint", code="DryRun", message=message)


def _not_supported() -> Check:
    """Return the result of a dry run that the cluster does not support."""
    message = _("The API server did not check the job object: an admission webhook does not support dry runs.")
    return Check(level="hint", code="NoDryRun", message=message)
