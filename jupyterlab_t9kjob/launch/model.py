"""Models of the launch API: requests of the form and the server's responses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ..core.checks import Check, Preview
from ..core.engine_info import EngineInfo
from ..core.job import DEFAULT_ENGINE, EngineName
from ..core.spec import JobSpec, Model, Namespace
from ..core.translation import Text


class ScriptOption(Model):
    """One ``add_argument`` of a script's argparse parser, read without running the script."""

    flags: list[str] = Field(description="All spellings, the longest first; empty if positional.")
    dest: str
    kind: Literal["text", "int", "float", "flag", "choice", "list", "positional"]
    default: str | None = Field(
        None,
        description="As text, a list as a shell would take it, a flag's as True or False; "
        "null if none or not a literal.",
    )
    choices: list[str] = Field(default_factory=list)
    help: str | None = None
    required: bool = False
    repeatable: bool = Field(False, description="Giving it more than once means something (append, count).")
    flag_value: bool = Field(True, description="What a `flag` sets when given (store_true).")
    off_flag: str | None = Field(
        None, description="The spelling that unsets a `flag` (BooleanOptionalAction), not in `flags`."
    )
    line: int


class ImportedModule(Model):
    """A top-level module that a script imports and that is not part of it."""

    name: str
    line: int


class EnvRead(Model):
    """An environment variable that the script reads."""

    name: str
    line: int
    default: str | None = None


class ScriptInfo(Model):
    """Facts that the server reads from a script's text, without running it."""

    description: str | None = None
    options: list[ScriptOption] = Field(default_factory=list)
    imports: list[ImportedModule] = Field(default_factory=list)
    env_reads: list[EnvRead] = Field(default_factory=list)
    distributed: bool | None = Field(
        None, description="It starts a process group, itself or in its modules; null where its text does not tell."
    )
    writes_events: bool = Field(False, description="It makes a SummaryWriter.")


class SkippedLine(Model):
    """A line of a notebook that a job can't run."""

    cell: int = Field(description="From 1, all cells of the notebook counted.")
    line: int = Field(description="From 1, within the cell.")
    text: str


class NotebookInfo(Model):
    """How a notebook becomes a script."""

    script_path: str = Field(description="Contents API path of the script that is written.")
    cells: int = Field(description="Code cells that run.")
    skipped: list[SkippedLine] = Field(default_factory=list)
    kernel: str | None = None


class TorchInfo(Model):
    """torch as found in a kernel's Python, without importing it in the server."""

    version: str | None = None
    devices: int = Field(0, description="GPUs that it sees.")


class Kernel(Model):
    """A kernelspec as the form offers it."""

    name: str
    display_name: str
    python: str | None = None
    python_version: str | None = None
    enabled: bool
    reason: Text | None = Field(None, description="Why it can't run a job here, a sentence.")
    torch: TorchInfo | None = Field(None, description="Null: not looked at yet.")


class PrefillRequest(Model):
    """Request for a filled form.

    `path` is the file that the user clicked, as a path of the contents API without a drive. It is optional
    if `spec` runs a module or a command.
    """

    path: str | None = None
    engine: EngineName = DEFAULT_ENGINE
    namespace: Namespace = ""
    spec: JobSpec | None = Field(None, description="A spec to start from (clone, as last time).")
    crossed_from: EngineName | None = Field(
        None,
        description="The engine whose form `spec` is: it keeps its name, and where that is another engine it is "
        "crossed over (paths, image, mounts), `notes` saying what is lost.",
    )


class Prefill(Model):
    """A filled form. A form without a file has no script options."""

    path: str | None
    engine: EngineName
    namespace: str
    spec: JobSpec
    script: ScriptInfo
    notebook: NotebookInfo | None = None
    kernels: list[Kernel]
    engines: list[EngineInfo]
    root: str | None = Field(None, description="Absolute path of the contents root, if local.")
    empty: list[str] = Field(
        default_factory=list,
        description="What only the user knows: JSON pointers into the spec, or the first spelling "
        "(a positional's dest) of a script's required option.",
    )
    runs_dir: str | None = Field(
        None,
        description="Absolute path below which each job's log directory has the job's name: "
        "when the name changes, so does this part of the log directories and of the options "
        "that `follow_name` lists (there it is `runs/<name>`).",
    )
    follow_name: list[str] = Field(
        default_factory=list, description="Flags in `spec.args` whose value holds the job's name."
    )
    checks: list[Check] = Field(default_factory=list)
    notes: list[Check] = Field(default_factory=list, description="What could not be carried over from another engine.")


class SpecOrManifest(Model):
    """A job, given as a spec or as a manifest. If both are given, the manifest is submitted.

    The namespace in the manifest, if any, takes precedence.
    """

    engine: EngineName = DEFAULT_ENGINE
    namespace: Namespace = ""
    spec: JobSpec | None = Field(None, description="What the form says; may be left out where there is a manifest.")
    manifest: str | None = Field(
        None, description="YAML that the user has edited: it is submitted as it is, and `spec` counts for nothing."
    )
    path: str | None = Field(None, description="The file that the form was opened for (a notebook's source).")
    dry_run: bool = Field(False, description="Create nothing, but ask the cluster as well.")

    @model_validator(mode="after")
    def _one_of_both(self) -> SpecOrManifest:
        if self.spec is None and self.manifest is None:
            raise ValueError("give a spec or a manifest")
        return self


class PreviewRequest(SpecOrManifest):
    """Request for the preview of a job: manifest or command, and checks."""


class ReadManifestRequest(Model):
    """Request to read a manifest that was pasted, opened from a file, or edited."""

    text: str = Field(description="YAML or JSON.")
    engine: EngineName | None = Field(None, description="Where it is to run; null: where its kind does.")
    namespace: Namespace = ""


class ReadManifest(Model):
    """A manifest as a form: the spec, notes about corrections, and the parts that the form would drop."""

    engine: EngineName
    namespace: str
    spec: JobSpec
    manifest: str | None = Field(
        description="YAML as it would be submitted as edited, in the cluster's dialect; null on this machine."
    )
    notes: list[Check] = Field(description="What was mended, assumed, kept or migrated.")
    lost: list[Check] = Field(description="What the form can't say and would drop; empty if nothing.")


class LaunchPreview(Preview):
    """Preview of a job, with the kernel that would run it."""

    kernel: Kernel | None = None
