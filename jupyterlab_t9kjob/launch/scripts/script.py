"""Analysis of a script's text: options, imports, use of distributed training. Scripts are never run or imported."""

from __future__ import annotations

import ast
import io
import os
import sys
import tokenize
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType

from ...core.errors import FieldError
from ...core.translation import Text, _
from ..model import EnvRead, ImportedModule, ScriptInfo, ScriptOption
from .facts import Facts, read_facts
from .options import Literals, printable, read_options
from .process_starts import own_launch, starts_group
from .tree_walk import Nodes, walk
from .unread_options import Unread, unread_options
from .workspace import Closure, Workspace

MAX_BYTES = 4 * 1024 * 1024
FIELD = "/spec/entrypoint/value"

# Variables that torchrun and the local engine set for every rank.
GIVEN = frozenset(
    (
        *("LOCAL_RANK", "RANK", "GROUP_RANK", "ROLE_RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE"),
        *("ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"),
        *("TORCHELASTIC_MAX_RESTARTS", "TORCHELASTIC_RUN_ID", "T9KJOB_LOG_DIR", "T9KJOB_UID"),
    )
)
# Trainers that split the data among the processes themselves.
SPLITTERS = frozenset(
    (
        *("accelerate", "deepspeed", "lightning", "lightning_fabric", "pytorch_lightning", "horovod", "composer"),
        *("ignite", "ray", "fastai", "colossalai", "megatron", "webdataset", "streaming", "litdata", "ffcv"),
    )
)
EVENT_WRITERS = frozenset({"SummaryWriter", "TensorBoardLogger"})
# Modules that the import of another module needs, though the script does not name them.
NEEDED_BY = {"torch.utils.tensorboard": "tensorboard"}

NAMESPACES = frozenset({"google"})
"""Namespace packages: many distributions add modules to them, so each of the modules is looked up."""


class SourceError(FieldError):
    """A script or notebook that is not valid Python; `line`, `column` and a notebook's `cell` count from 1."""

    code = "SyntaxError"

    def __init__(
        self, message: Text, *, line: int | None = None, column: int | None = None, cell: int | None = None
    ) -> None:
        hint = _("Correct the script and save it.") if cell is None else _("Correct the cell and save it.")
        super().__init__(message, field=FIELD, hint=hint)
        self.line = line
        self.column = column
        self.cell = cell


@dataclass
class Script:
    """Result of a script's analysis.

    Attributes
    ----------
    info
        Information for the form.
    unsampled_loaders
        Lines of data loaders without a sampler, which would give all data to each process.
    closure
        The script and the modules of the workspace that it imports.
    launch
        Call that starts the training's processes in the script itself; None if there is none.
    unread
        Options that could not be read; None if all were read.
    given
        Line in which the script sets its own options, independently of its arguments.
    ipython
        Line that needs IPython's shell, which a job does not have.
    empty
        True if the script has no statements.
    """

    info: ScriptInfo = field(default_factory=ScriptInfo)
    unsampled_loaders: list[int] = field(default_factory=list)
    closure: Closure = field(default_factory=Closure)
    launch: Launch | None = None
    unread: Unread | None = None
    given: int | None = None
    ipython: int | None = None
    empty: bool = False


@dataclass(frozen=True)
class Launch:
    """Call that starts a training's processes: the function's name, its line, and the module (None: the script)."""

    what: str
    line: int
    path: str | None


def decode(data: bytes, name: str) -> str:
    """Return the text of a script, decoded as Python does: byte order mark, PEP 263 declaration, or else UTF-8.

    Parameters
    ----------
    data
        Content of the file.
    name
        Name of the file, for messages.

    Raises
    ------
    SourceError
        If the file is too large, is not text, or has an unknown encoding.
    """
    if len(data) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1024**2} MiB"
        raise SourceError(_("{file} is larger than {size}: not a script.", file=name, size=limit))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        message = _("{file} has a NUL byte in line {line}: not a script.", file=name, line=line)
        raise SourceError(message, line=line)
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = _(
            "{file} has bytes in line {line} that are not {encoding}.", file=name, line=line, encoding=error.encoding
        )
        raise SourceError(message, line=line) from error
    except (SyntaxError, LookupError) as error:
        message = _("{file} can't be decoded: {error}.", file=name, error=str(error))
        raise SourceError(message, line=1) from error
    return io.IncrementalNewlineDecoder(None, translate=True).decode(text, final=True)


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if "encoding declaration" not in str(error):
            raise
        return "utf-8"  # The first lines are not valid UTF-8; decoding then reports the line.


def parse(source: str, name: str) -> ast.Module | None:
    """Return the syntax tree of a script; None if it is too deeply nested for this Python's parser.

    Parameters
    ----------
    source
        Text of the script.
    name
        Name of the file, for messages.

    Raises
    ------
    SourceError
        If the script has a syntax error.
    """
    try:
        return ast.parse(source, filename=name)  # Python's warnings contain the name.
    except SyntaxError as error:
        raise _syntax_error(error, name) from error
    except (RecursionError, MemoryError):
        return None
    except ValueError as error:
        raise SourceError(_("{file} can't be read: {error}.", file=name, error=str(error))) from error


def check_code(tree: ast.Module, name: str, *, flags: int = 0) -> int:
    """Check a script for errors that only the compiler finds, such as ``return`` outside a function.

    Parameters
    ----------
    tree
        Syntax tree of the script.
    name
        Name of the file, for messages.
    flags
        Compiler flags.

    Returns
    -------
    int
        Flags of the compiled code, which is not run.

    Raises
    ------
    SourceError
        If the compiler finds an error.
    """
    try:
        code: CodeType = compile(tree, name, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        raise _syntax_error(error, name) from error
    except (RecursionError, MemoryError, ValueError):
        return 0  # The script is too deeply nested for this Python; the job's Python may accept it.
    return code.co_flags


def _syntax_error(error: SyntaxError, name: str) -> SourceError:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    message = _(
        "{file} has a syntax error in line {line}, column {column}: {error}.",
        file=name,
        line=line,
        column=column,
        error=error.msg,
    )
    return SourceError(message, line=line, column=column)


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
    options = [] if text.given else [option.model_copy() for option in text.options]
    names = closure.names
    distributed = starts_group(closure)
    found = own_launch(closure)
    splits = "DistributedSampler" in names or closure.foreign & SPLITTERS
    return Script(
        info=ScriptInfo(
            description=text.description,
            options=options,
            imports=_imports(facts, closure.own),
            env_reads=list(text.env_reads),
            distributed=distributed,
            writes_events=bool(names & EVENT_WRITERS),
        ),
        unsampled_loaders=text.loaders if distributed and not splits else [],
        closure=closure,
        launch=Launch(found[0].what, found[0].line, found[1]) if found else None,
        unread=None if text.given else unread_options(closure, options, text.skipped),
        given=text.given,
        ipython=min([*facts.shell, *(facts.ipython if compiled else [])], default=None),  # a notebook's returns None
        empty=text.empty,
    )


@dataclass(frozen=True)
class _Text:
    """Facts from the script's text alone. They are cached by the text, so they must not be changed."""

    facts: Facts
    description: str | None
    options: list[ScriptOption]
    skipped: list[int]
    env_reads: list[EnvRead]
    loaders: list[int]
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
    description, options, skipped = read_options(nodes, literals)
    docstring = ast.get_docstring(tree)
    return _Text(
        facts=facts,
        description=description or _first_paragraph(docstring),
        options=options,
        skipped=skipped,
        env_reads=_env_reads(nodes, literals),
        loaders=_loaders(nodes),
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


def _loaders(nodes: Nodes) -> list[int]:
    return sorted(
        call.lineno
        for call, _context in nodes.of(ast.Call)
        if _is(call.func, "DataLoader")
        and len(call.args) < 4  # dataset, batch_size, shuffle, sampler
        and not {keyword.arg for keyword in call.keywords} & {"sampler", "batch_sampler", None}
    )
