"""Models of the launch API: requests of the form and the server's responses."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import Field, model_validator

from ..core.checks import Check, Preview
from ..core.engine.info import EngineInfo
from ..core.job import DEFAULT_ENGINE, EngineName
from ..core.spec import JobSpec, Model, Namespace
from ..core.translation import Text

TrainingMethod: TypeAlias = Literal[
    "lightning",
    "fabric",
    "trainer",
    "accelerate",
    "deepspeed",
    "horovod",
    "fsdp",
    "ddp",
    "rpc",
    "process_group",
    "none",
]
_BOOLEANS: Final = frozenset({"true", "false"})
OptionRole: TypeAlias = Literal["events", "checkpoints", "run_name", "resume"]


class ScriptOption(Model):
    """One option of a script's command line, read without running the script."""

    flags: list[str] = Field(description="All spellings, the longest first; empty if positional.")
    dest: str
    kind: Literal["text", "int", "float", "boolean", "flag", "choice", "list"] = Field(
        description="Kind of the value; `choice` if it is one of `choices`, `boolean` if it is typed as True or False."
    )
    item_kind: Literal["text", "int", "float"] = Field("text", description="Kind of the items of a `list`.")
    items: int | None = Field(None, description="Number of items of a `list` that takes exactly so many; null: any.")
    default: str | None = Field(
        None,
        description="As text, a list as a shell would take it, a flag's as True or False; "
        "null if none or not a literal.",
    )
    default_expression: str | None = Field(
        None, description="Source text of a default that only a run of the script tells; `default` is null then."
    )
    choices: list[str] = Field(default_factory=list)
    help: str | None = None
    metavar: str | None = Field(None, description="Name of the value in the script's own help.")
    required: bool = False
    repeatable: bool = Field(False, description="Giving it more than once means something (append, count).")
    flag_value: bool = Field(True, description="Value that a given `flag` sets (store_true).")
    off_flag: str | None = Field(
        None, description="The spelling that unsets a `flag` (BooleanOptionalAction), not in `flags`."
    )
    value_optional: bool = Field(False, description="The flag may be given without a value (`nargs='?'`).")
    syntax: Literal["separate", "equals", "assignment"] = Field(
        "separate", description="Form of a flag with its value: `--x v`, only `--x=v`, or `x=v` (flags without dashes)."
    )
    group: str | None = Field(None, description="Title of the group in the script's own help.")
    exclusive: str | None = Field(None, description="Options with the same value here exclude each other.")
    command: str | None = Field(
        None, description="The subcommand that takes the option, nested ones separated by spaces; null: all take it."
    )
    is_command: bool = Field(False, description="The option chooses the subcommand; it is positional.")
    condition: str | None = Field(
        None, description="Source text of the condition under which the script has the option; null: always."
    )
    caution: Text | None = Field(None, description="A trap in the option's definition, a sentence.")
    library: str | None = Field(
        None, description="Library and version that define the option; null: the script or its modules."
    )
    roles: list[OptionRole] = Field(
        default_factory=list,
        description="Use of the value: the script writes events or checkpoints there, names the run by it, "
        "or resumes from it.",
    )
    line: int
    path: str | None = Field(None, description="Absolute path of the module with the line; null: the script.")

    @property
    def key(self) -> str:
        """The option's name in the form: its first spelling or destination, after its subcommand."""
        name = (self.flags or [self.dest])[0]
        return f"{self.command} {name}" if self.command else name

    def value_in(self, args: list[str], *, default: bool = True) -> str | None:
        """Return the option's value in some arguments, else its default; None if it has neither.

        A given flag is True or False, as in `default`. An option that stands without its value has none.

        Parameters
        ----------
        args
            Arguments of the script. An option that follows ``--`` does not count.
        default
            False to leave out the default.
        """
        found = self.default if default else None
        for word, following in zip(args, [*args[1:], None], strict=False):
            name, sign, value = word.partition("=")
            if word == "--":
                break
            if word == self.off_flag:
                found = str(not self.flag_value)
            elif name in self.flags and sign:
                found = value
            elif name in self.flags and self.syntax == "separate":
                found = self._value_before(following)
        return found

    def _value_before(self, following: str | None) -> str | None:
        """Return the value of a flag without ``=``, by the word that follows it."""
        if self.kind == "flag" and not (self.value_optional and following and following.lower() in _BOOLEANS):
            return str(self.flag_value)
        return None if self.value_optional and following and following.startswith("-") else following


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
    method: TrainingMethod | None = Field(
        None,
        description="Library that distributes the training; `trainer`: Hugging Face's, `process_group`: "
        "torch.distributed alone, `none`: no library; null where its text does not tell.",
    )
    method_line: int | None = Field(None, description="Line of the script that tells it; null: in another module.")
    resume_option: str | None = Field(
        None, description="First spelling of its option that takes a checkpoint to resume from; null if none is known."
    )
    own_processes: bool = Field(False, description="The script starts its processes itself (mp.spawn).")
    writes_events: bool = Field(False, description="It writes TensorBoard events.")


class NotebookCell(Model):
    """A code cell of a notebook, and what becomes of it in a job."""

    number: int = Field(description="From 1, all cells of the notebook counted.")
    key: str = Field(description="Name of the cell in the option --t9kjob-cells: its id, or its number.")
    text: str = Field(description="Its first line.")
    lines: int
    runs: bool = Field(description="It runs unless the job chooses otherwise.")
    mark: Literal["same", "changed", "question", "left_out"] = Field(
        description="As it is; changed to Python; the user has to decide; left out."
    )
    note: Text | None = Field(None, description="Change to the cell in the script; null if the cell runs as it is.")
    code: str | None = Field(None, description="As Python; null if a job can't run it, or if the answer is too long.")


class NotebookLaunch(Model):
    """A command of a notebook that starts a script with a launcher; the form is filled from it."""

    path: str = Field(description="Contents API path of the notebook.")
    cell: int = Field(description="From 1, all cells of the notebook counted.")
    command: str


class NotebookInfo(Model):
    """Conversion of a notebook to a script."""

    script_path: str = Field(description="Contents API path of the script that is written.")
    cells: list[NotebookCell] = Field(default_factory=list, description="The code cells that are not empty.")
    text_cells: int = Field(0, description="Number of other cells.")
    kernel: str | None = None
    parameters_cell: int | None = Field(None, description="Number of the cell with the tag `parameters`.")
    installs: list[str] = Field(default_factory=list, description="Commands that install packages.")


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
    namespace: Namespace = Field(
        "",
        description="Empty: the namespace of the volume with the file, or else the engine's default. Without `spec` it "
        "is a preference, for which the file must be on a volume of the namespace.",
    )
    spec: JobSpec | None = Field(None, description="A spec to start from (clone, as last time).")
    crossed_from: EngineName | None = Field(
        None,
        description="The engine whose form `spec` is: it keeps its name, and where that is another engine it is "
        "crossed over (paths, image, mounts), `notes` saying what is lost.",
    )
    whole_notebook: bool = Field(
        False, description="Run a notebook's cells even if one of them starts a training with torchrun."
    )


class RecorderOffer(Model):
    """The recorder, for a script that imports it. The job finds it if the folder is on its `PYTHONPATH`."""

    module: str = Field(description="Module that the script imports: `t9k.em` or `jupyterlab_t9kjob.em`.")
    folder: str = Field(description="Absolute path of the folder in the job. It is written at the submission.")


class Prefill(Model):
    """A filled form. A form without a file has no script options."""

    path: str | None
    engine: EngineName
    namespace: str
    spec: JobSpec
    script: ScriptInfo
    notebook: NotebookInfo | None = None
    launched_by: NotebookLaunch | None = Field(
        None, description="The command of the requested notebook that starts `path`, from which the form is filled."
    )
    kernels: list[Kernel]
    engines: list[EngineInfo]
    root: str | None = Field(None, description="Absolute path of the contents root, if local.")
    empty: list[str] = Field(
        default_factory=list,
        description="Values that only the user knows: JSON pointers into the spec, or the first spelling "
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
    notes: list[Check] = Field(
        default_factory=list, description="Values that could not be carried over from another engine."
    )
    recorder: RecorderOffer | None = Field(
        None, description="Null if the script does not import it or does not lack it."
    )


class SpecOrManifest(Model):
    """A job, given as a spec or as a manifest. If both are given, the manifest is submitted.

    The namespace in the manifest, if any, takes precedence.
    """

    engine: EngineName = DEFAULT_ENGINE
    namespace: Namespace = ""
    spec: JobSpec | None = Field(
        None, description="The form's specification; may be left out where there is a manifest."
    )
    manifest: str | None = Field(
        None, description="YAML that the user has edited: it is submitted as it is, and `spec` counts for nothing."
    )
    written: str | None = Field(
        None,
        description="YAML that the user has written before: the manifest of `spec` in a preview keeps its comments and"
        " its order.",
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
    notes: list[Check] = Field(description="Values that were mended, assumed, kept or migrated.")
    lost: list[Check] = Field(description="Values for which the form has no field and which it would drop.")


class LaunchPreview(Preview):
    """Preview of a job, with the kernel that would run it."""

    kernel: Kernel | None = None
