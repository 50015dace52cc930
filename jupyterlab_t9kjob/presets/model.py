"""Models of presets and locks: the API, the administrator's configuration, and the user's file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from ..core.checks import Check
from ..core.job import DEFAULT_ENGINE, EngineName
from ..core.spec import JobSpec, Model, Namespace, PlainText
from ..core.translation import Text

Pointer = Annotated[str, StringConstraints(pattern=r"^(/[^/]+)+$", max_length=500)]


def _trimmed(name: str) -> str:
    if name != name.strip():
        raise ValueError("remove the spaces at the beginning or end")
    return name


PresetName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+$"),
    AfterValidator(_trimmed),
]
Values = Annotated[
    dict[Pointer, Any], Field(max_length=100, description="Values by JSON pointer into the spec: `/runtime/image`.")
]
Words = Annotated[
    list[PlainText],
    Field(max_length=10_000, description="Arguments; only options that the script has are taken over."),
]


class PresetEntry(Model):
    """A preset as a file or the configuration has it. The script is not part of it."""

    name: PresetName
    values: Values = Field(default_factory=dict)
    args: Words | None = None
    engines: list[EngineName] = Field(
        default_factory=list, description="Engines whose forms offer the preset; empty: all."
    )

    @model_validator(mode="after")
    def _not_empty(self) -> PresetEntry:
        if not self.values and self.args is None:
            raise ValueError("a preset needs values or args")
        return self


class Preset(PresetEntry):
    """A preset that the form offers."""

    id: str
    source: Literal["own", "administrator"]


class LockEntry(Model):
    """A lock as the administrator writes it: a field, a reason, and one of `value`, `allowed` and `maximum`."""

    field: Pointer
    reason: Annotated[PlainText, StringConstraints(min_length=1, max_length=500)]
    value: Any = None
    allowed: Annotated[list[Any], Field(min_length=1, max_length=1000)] | None = None
    maximum: float | str | None = None
    engines: list[EngineName] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_rule(self) -> LockEntry:
        given = self.model_fields_set & {"value", "allowed", "maximum"}
        if len(given) != 1:
            raise ValueError("give one of value, allowed and maximum")
        if "value" not in given and self.allowed is None and self.maximum is None:
            raise ValueError(f"{min(given)} can't be null")
        return self


class Lock(Model):
    """A rule of the administrator about a field of jobs. The server refuses jobs that break it."""

    field: str = Field(description="JSON pointer into the spec or the manifest; `*` stands for each item.")
    rule: Literal["value", "allowed", "maximum"]
    values: list[Any] = Field(
        default_factory=list, description="The fixed value, or the allowed ones; `*` in a text matches any characters."
    )
    maximum: float | str | None = Field(None, description="Number or quantity.")
    reason: str = Field(description="In the administrator's words.")
    engines: list[EngineName] = Field(default_factory=list)


class PresetProblem(Model):
    """A part of a file or of the configuration that can't be used."""

    source: Literal["own", "administrator"]
    message: Text
    name: str | None = Field(None, description="Name of the preset, or field of the lock.")
    path: str | None = None
    line: int | None = None


class PresetList(Model):
    """Presets and locks for a form, and what could not be read."""

    presets: list[Preset]
    locks: list[Lock]
    problems: list[PresetProblem] = Field(default_factory=list)


class SavePreset(PresetEntry):
    """Request to save a preset of the user."""

    replace: bool = Field(False, description="Overwrite the user's preset of this name.")


class RenamePreset(Model):
    """Request to rename a preset of the user."""

    name: PresetName


class ApplyPreset(Model):
    """Request for a spec with the values of a preset."""

    engine: EngineName = DEFAULT_ENGINE
    namespace: Namespace = ""
    spec: JobSpec
    values: Values


class AppliedPreset(Model):
    """A spec with the values of a preset, and what could not be applied."""

    spec: JobSpec
    notes: list[Check]
