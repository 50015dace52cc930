"""Finds jobs by the words that people type: a name or an id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core.errors import Conflict, NotFound
from ..core.job import JobSummary
from ..core.translation import _, listing

MOST_NAMED = 5


def matching(jobs: Iterable[JobSummary], engine: str | None = None, namespace: str | None = None) -> list[JobSummary]:
    """Return the jobs of an engine and a namespace. Jobs without a namespace, as on this machine, are in each.

    Parameters
    ----------
    jobs
        The jobs.
    engine, namespace
        Name of the engine and the namespace; None for all.
    """
    return [
        job
        for job in jobs
        if engine in (None, job.engine) and (namespace in (None, job.namespace) or not job.namespace)
    ]


def find_job(word: str, jobs: Sequence[JobSummary]) -> JobSummary:
    """Return the job that a word names: by id, or by name. Records of deleted jobs come after the others.

    Parameters
    ----------
    word
        An id, or the name of a job.
    jobs
        The jobs to choose from.

    Raises
    ------
    NotFound
        If no job has this name or id.
    Conflict
        If several jobs have this name.
    """
    exact = [job for job in jobs if job.id == word]
    named = [job for job in jobs if job.name == word]
    found = exact or [job for job in named if not job.deleted] or named[:1]
    if len(found) == 1:
        return found[0]
    if found:
        raise Conflict(
            _(
                "Several jobs have the name {name}: {ids}.",
                name=word,
                ids=listing([job.id for job in found], MOST_NAMED),
            ),
            code="Ambiguous",
            hint=_("Name the job by its id, or choose with --engine and --namespace."),
        )
    raise NotFound(
        _("There is no job “{name}”.", name=word[:200]),
        code="NoSuchJob",
        hint=_("`t9kjob list` shows all jobs."),
    )


def short_name(job: JobSummary, jobs: Sequence[JobSummary]) -> str:
    """Return the shortest word by which `find_job` finds a job: its id, if its name could mean another job.

    Parameters
    ----------
    job
        The job.
    jobs
        All jobs, with the records of deleted ones.
    """
    others = [other for other in jobs if other.name == job.name and other.id != job.id]
    return job.id if any(job.deleted or not other.deleted for other in others) else job.name
