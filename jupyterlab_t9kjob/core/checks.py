"""Checks and previews of a job before it is submitted, and capabilities of engines."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .errors import JobError
from .job import Fix, Link
from .spec import Model
from .translation import Text


class Capability(Model):
    """A feature of an engine: supported, or missing for a reason that a sentence gives."""

    supported: bool
    reason: Text | None = None


class Check(Model):
    """One line below the preview: an error, a warning, a hint, or a passed check."""

    level: Literal["error", "warning", "hint", "passed"]
    code: str
    message: Text
    hint: Text | None = None
    field: str | None = Field(None, description="JSON pointer: /spec/… into the spec, /manifest/… into the manifest.")
    option: str | None = Field(
        None, description="The script's option that the check is about: its first flag, or its destination."
    )
    line: int | None = Field(None, description="Of the manifest's text, from 1.")
    column: int | None = None
    link: Link | None = None
    fix: Fix | None = Field(None, description="A change of the form that one click makes: “Set 8”.")

    @classmethod
    def of(cls, problem: JobError) -> Check:
        """Return the check that shows an error."""
        return cls(
            level="error",
            code=problem.code,
            message=problem.message,
            hint=problem.hint,
            field=problem.field,
            line=problem.line,
            column=problem.column,
        )


class Preview(Model):
    """Preview of a job on an engine: its command, its manifest, and checks."""

    command: str = Field(description="As one would type it, one option a line.")
    environment: dict[str, str] = Field(default_factory=dict, description="Variables that the job adds.")
    manifest: str | None = Field(None, description="YAML, as it would be submitted.")
    summary: Text = Field(description="“2 processes on this machine”.")
    checks: list[Check] = Field(default_factory=list)
