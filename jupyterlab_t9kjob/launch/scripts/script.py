"""Analysis of a script's text: options, imports, use of distributed training. Scripts are never run or imported."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from ...core.system.garbage import without_gc
from ..model import EnvRead, ImportedModule, ScriptInfo, ScriptOption, TrainingMethod
from ..options.model import OptionsRead, UnreadOptions
from ..options.reader import read_options
from ..options.resume import any_resume_option
from ..options.texts import printable
from .facts import Facts, read_facts
from .literals import Literals
from .observation import observe
from .process_starts import own_launch, starts_group
from .source_text import check_code, parse
from .training.config_files import read_config_files
from .training.finding import Finding
from .training.flow import Flow
from .training.method import Evidence, configured_method, training_method
from .training.outputs import Outputs, read_outputs
from .training.rules import find_mistakes
from .tree_walk import Nodes, walk
from .unread_options import unread_options
from .workspace import Closure, Workspace

# Variables that torchrun and the local engine set for every rank.
GIVEN = frozenset(
    (
        *("LOCAL_RANK", "RANK", "GROUP_RANK", "ROLE_RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE"),
        *("ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"),
        *("TORCHELASTIC_MAX_RESTARTS", "TORCHELASTIC_RUN_ID", "T9KJOB_LOG_DIR", "T9KJOB_UID"),
    )
)
EVENT_WRITERS = frozenset({"SummaryWriter", "TensorBoardLogger"})
# Modules that the import of another module needs, though the script does not name them.
NEEDED_BY = {"torch.utils.tensorboard": "tensorboard"}

NAMESPACES = frozenset({"google"})
"""Namespace packages: many distributions add modules to them, so each of the modules is looked up."""

TRAINERS: Final = frozenset({"trainer", "accelerate", "lightning", "fabric"})
"""Methods whose library reads the local rank from torchrun's variable."""


@dataclass
class Script:
    """Result of a script's analysis.

    Attributes
    ----------
    info
        Information for the form.
    method
        Call that tells how the script trains; None if none does.
    outputs
        Where the script writes events and checkpoints.
    findings
        Likely mistakes if several processes run the script.
    closure
        The script and the modules of the workspace that it imports.
    local_rank
        Option by which the script expects its local rank; None if it needs none.
    launch
        Call that starts the training's processes in the script itself; None if there is none.
    unread
        Options that could not be read; at most one for each line.
    given
        Line in which the script sets its own options, independently of its arguments.
    ipython
        Line that needs IPython's shell, which a job does not have.
    empty
        True if the script has no statements.
    """

    info: ScriptInfo = field(default_factory=ScriptInfo)
    method: Evidence | None = None
    outputs: Outputs = field(default_factory=Outputs)
    findings: list[Finding] = field(default_factory=list)
    closure: Closure = field(default_factory=Closure)
    local_rank: ScriptOption | None = None
    launch: Launch | None = None
    unread: list[UnreadOptions] = field(default_factory=list)
    given: int | None = None
    ipython: int | None = None
    empty: bool = False


@dataclass(frozen=True)
class Launch:
    """Call that starts a training's processes: the function's name, its line, and the module (None: the script)."""

    what: str
    line: int
    path: str | None


@without_gc()
def read_script(source: str, name: str, workspace: Workspace | None = None, *, compiled: bool = True) -> Script:
    """Analyse a script.

    Parameters
    ----------
    source
        Text of the script.
    name
        Name of the file, for messages.
    workspace
        Workspace with the script's own modules; None if it has none.
    compiled
        True to check also for errors that only the compiler finds.

    Raises
    ------
    SourceError
        If the script has a syntax error. A script that is too deeply nested gives an empty result.
    """
    workspace = workspace or Workspace(Path(os.devnull), Path(os.devnull, name))
    text = _read_text(source, name, str(workspace.script), compiled)
    if text is None:
        return Script(closure=Closure(complete=False))
    facts = text.facts
    closure = workspace.closure(facts)
    read = OptionsRead() if text.given else read_options(Path(workspace.root), workspace.script, source, text.tree)
    options = [option.model_copy() for option in read.options]
    found = own_launch(closure)
    enabled = [option.dest for option in options if option.default == "True"]
    configs = read_config_files(closure, options, workspace)
    flow = Flow(closure, [option.dest for option in options], enabled, configs)
    method = training_method(flow) or configured_method(options)
    distributed = True if method else starts_group(closure)
    outputs = read_outputs(flow, library_options=frozenset(option.dest for option in options if option.library))
    for option in options:
        found_roles = dict.fromkeys(outputs.roles.get(option.dest, []))
        if option.kind in ("int", "float") and not option.dest.rpartition(".")[2].startswith("resume"):
            found_roles.pop("resume", None)  # A number, such as the steps between two checkpoints.
        option.roles = list(found_roles)
    resumes = any_resume_option(options)
    return Script(
        info=ScriptInfo(
            description=read.description or text.description,
            options=options,
            imports=_imports(facts, closure.own),
            env_reads=list(text.env_reads),
            distributed=distributed,
            method=method.method if method else "none" if distributed is False else None,
            method_line=method.line if method and method.path is None else None,
            resume_option=resumes.flags[0] if resumes is not None else None,
            own_processes=found is not None,
            writes_events=outputs.writes_events or bool(closure.names & EVENT_WRITERS),
        ),
        method=method,
        outputs=outputs,
        findings=find_mistakes(flow, method.method if method else None, options),
        local_rank=_local_rank(options, closure, method.method if method else None, unknown=distributed is None),
        closure=closure,
        launch=Launch(found[0].what, found[0].line, found[1]) if found else None,
        unread=[] if text.given else unread_options(closure, read),
        given=text.given,
        ipython=min([*facts.shell, *(facts.ipython if compiled else [])], default=None),  # a notebook's returns None
        empty=text.empty,
    )


@dataclass(frozen=True)
class _Text:
    """Facts from the script's text alone. They are cached by the text, so they must not be changed."""

    tree: ast.Module
    facts: Facts
    description: str | None
    env_reads: list[EnvRead]
    given: int | None
    empty: bool


@lru_cache(maxsize=4)  # The form requests the analysis of the same text again and again.
def _read_text(source: str, name: str, path: str, compiled: bool) -> _Text | None:
    """Analyse a script's text; None if it is too deeply nested."""
    tree = parse(source, name)
    if tree is None:
        return None
    if compiled:
        check_code(tree, name)
    nodes = walk(tree)
    literals = Literals(tree, source)
    facts = read_facts(nodes, path)
    facts.training = observe(tree)
    docstring = ast.get_docstring(tree)
    return _Text(
        tree=tree,
        facts=facts,
        description=_first_paragraph(docstring),
        env_reads=_env_reads(nodes, literals),
        given=_given(tree, facts),
        empty=len(tree.body) == (docstring is not None),
    )


def _given(tree: ast.Module, facts: Facts) -> int | None:
    """Return the line in which a script parses a list of its own, or sets `sys.argv`; None if there is none."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="sys"), attr="argv")], value=ast.List(elts=words)
            ) if all(isinstance(word, ast.Constant) for word in words):
                return node.lineno
    return min(facts.given) if facts.given and not facts.parses else None


def _local_rank(
    options: list[ScriptOption], closure: Closure, method: TrainingMethod | None, *, unknown: bool
) -> ScriptOption | None:
    """Return the option that gets the local rank if the script does not read it from torchrun's variable.

    An option with a default says nothing if modules are missing, if the script sets the rank by itself, or if it is
    not known which library starts the process group.
    """
    reads = any("LOCAL_RANK" in facts.training.reads for facts in closure.facts)
    sets = any("local_rank" in facts.training.attributes for facts in closure.facts)
    unread = closure.unread or unknown or any(facts.loads for facts in closure.facts)
    for option in options:
        own = option.dest == "local_rank" and option.kind in ("int", "text") and not option.library
        required = option.required and option.condition is None
        if method in TRAINERS and not required and "local_rank" not in closure.reach.names:
            continue  # The trainer reads torchrun's variable.
        if method == "deepspeed" and option.default == "-1" and "set_device" not in closure.reach.names:
            continue  # DeepSpeed's launcher fills the option, and DeepSpeed itself reads the variable.
        if own and option.flags and (required or not (reads or sets or unread)):
            return option
    return None


def _last_name(node: ast.Name | ast.Attribute | ast.alias) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.name.rpartition(".")[2]


def _first_paragraph(text: str | None) -> str | None:
    return printable(" ".join(text.partition("\n\n")[0].split())) or None if text else None


def _imports(facts: Facts, own: Collection[str]) -> list[ImportedModule]:
    """Return the modules that the script needs, each with the line of its first import.

    Guarded imports (``try: import x``, ``if TYPE_CHECKING``) are left out.
    """
    found: dict[str, int] = {}
    for imported in facts.imports:
        if imported.level or imported.guarded:
            continue
        for module in (imported.module, *(f"{imported.module}.{name}" for name in imported.names)):
            for name in {_top(module), NEEDED_BY.get(module, "")} - {""}:
                if name not in sys.stdlib_module_names and name.partition(".")[0] not in own:
                    found.setdefault(name, imported.line)
    return [ImportedModule(name=name, line=line) for name, line in sorted(found.items(), key=lambda i: i[1])]


def _top(module: str) -> str:
    """Return the name of a module's top-level package; for a namespace package, of the package below it."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] in NAMESPACES else 1])


def _env_reads(nodes: Nodes, literals: Literals) -> list[EnvRead]:
    found: list[tuple[int, ast.expr, ast.expr | None]] = []
    for node, _context in nodes.of(ast.Subscript):
        if _is(node.value, "environ") and isinstance(node.ctx, ast.Load):
            found.append((node.lineno, node.slice, None))
    for call, _context in nodes.of(ast.Call):
        if call.args and _reads_env(call.func):
            found.append((call.lineno, call.args[0], call.args[1] if len(call.args) > 1 else None))
    reads: dict[str, EnvRead] = {}
    for line, named, default in sorted(found, key=lambda read: read[0]):
        name = literals.string(named)
        if name and name not in GIVEN and name not in reads and printable(name) == name:
            reads[name] = EnvRead(name=name, line=line, default=literals.text(default))
    return list(reads.values())


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and _last_name(node) == name


def _reads_env(function: ast.expr) -> bool:
    if _is(function, "getenv"):
        return True
    return isinstance(function, ast.Attribute) and function.attr == "get" and _is(function.value, "environ")
