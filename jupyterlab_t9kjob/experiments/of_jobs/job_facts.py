"""Facts of the run of a job without recorder, from the record of the job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ...core.job import Job
from ...core.translation import translated
from ...secret_values import without_secrets
from ..facts import Facts
from ..sources.yaml_files import plain

_POSITIONAL: Final = "arguments"
"""Parameter that has the arguments that belong to no option."""
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
_ASSIGNMENT: Final = re.compile(r"\+*([A-Za-z_][\w.@/-]*)=(.*)", re.DOTALL)


def facts_of(job: Job) -> Facts:
    """Return the facts of a run, read from the record of its job."""
    spec = job.spec
    environment: dict[str, Any] = {
        "image": spec.runtime.image,
        "kernel": spec.runtime.kernel,
        "processes": job.processes,
        "replicas": job.replicas,
        "devices": job.devices.count if job.devices else None,
        "exit": job.failure.exit_code if job.failure else None,
    }
    commit = getattr(spec.source, "commit", None) or getattr(getattr(spec.source, "taken", None), "commit", None)
    git: dict[str, Any] = {}
    if commit is not None:
        git = {"commit": commit.id, "branch": commit.branch, "is_dirty": commit.changed > 0}
        environment |= {"commit": commit.id, "branch": commit.branch, "dirty": commit.changed > 0}
    for variable in spec.env:
        if variable.value is not None:
            environment[f"env.{variable.name}"] = plain(without_secrets(variable.value, variable.name))
    return Facts(
        origin="job",
        name=job.display_name or job.name,
        status="Job",
        started=job.started_at,
        ended=job.ended_at,
        description=translated(job.reason.sentence) if job.reason else "",
        parameters=parameters_of(spec.args),
        environment={name: value for name, value in environment.items() if value is not None},
        git=git,
    )


def parameters_of(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the options among the arguments of a script by name; values that look like secrets are masked.

    The script's parser is not known here. Of several values after an option, only numbers that follow a number belong
    to it, as in `--betas 0.9 0.999`. All other words are one parameter, `arguments`, so that no difference is hidden.

    Parameters
    ----------
    arguments
        `--lr 0.1`, `--lr=0.1`, `-b 8`, `--amp`, `model.depth=3`.
    """
    found: dict[str, list[str]] = {}
    others: list[str] = []
    last: list[str] | None = None
    """Values of the option to which the next word may belong."""
    words = iter(arguments[:2000])
    for word in words:
        if word == "--":
            others += words
        elif word.startswith("-") and word.strip("-") and not _NUMBER.match(word):
            name, equals, value = word.lstrip("-").partition("=")
            found[name] = [value] if equals else []
            last = None if equals else found[name]
        elif last is not None and (not last or (_NUMBER.match(last[-1]) and _NUMBER.match(word))):
            last.append(word)
        elif match := _ASSIGNMENT.fullmatch(word):
            found[match[1]], last = [match[2]], None
        else:
            others.append(word)
            last = None
    if others:
        found.setdefault(_POSITIONAL, others)
    return {plain(name): _value(without_secrets(values, name)) for name, values in found.items()}


def _value(words: Sequence[str]) -> Any:
    """Return the value of an option: True without words, and one word as a boolean or a number if it is one."""
    if not words:
        return True
    word = " ".join(words)
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if _NUMBER.match(word) and len(word) <= 30:
        return plain(int(word) if word.lstrip("+-").isdigit() else float(word))
    return plain(word)
