"""What a script's text tells about it. Nothing is ever run or imported here."""

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
from ..model import EnvRead, ImportedModule, ScriptInfo, ScriptOption
from .facts import Facts, read_facts
from .options import Literals, printable, read_options
from .process_starts import own_launch, starts_group
from .tree_walk import Nodes, walk
from .unread_options import Unread, unread_options
from .workspace import Closure, Workspace

MAX_BYTES = 4 * 1024 * 1024
FIELD = "/spec/entrypoint/value"

# torchrun and the local engine set these for every rank: nobody has to.
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
# A module that the import of another one needs, though the text does not name it.
NEEDED_BY = {"torch.utils.tensorboard": "tensorboard"}

NAMESPACES = frozenset({"google"})
"""Packages to which many distributions add modules, so that their being there says nothing."""


class SourceError(FieldError):
    """A script that Python can't read; `line`, `column` and a notebook's `cell` count from 1."""

    code = "SyntaxError"

    def __init__(
        self, message: str, *, line: int | None = None, column: int | None = None, cell: int | None = None
    ) -> None:
        what = "script" if cell is None else "cell"
        super().__init__(message, field=FIELD, hint=f"Correct the {what} and save it.")
        self.line = line
        self.column = column
        self.cell = cell


@dataclass
class Script:
    """A script as read.

    Attributes
    ----------
    info
        What the form shows.
    unsampled_loaders
        Lines of the data loaders that have no sampler which splits the data.
    closure
        The modules of the workspace that it imports.
    launch
        Where it starts its processes itself: what it calls, the line, and the module of the workspace, if in one.
    unread
        Options that it has and that could not be read.
    given
        The line in which it sets its options itself, whatever its arguments are.
    ipython
        The line that needs IPython's shell, which a job does not have.
    empty
        It has no statements.
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
    """Where a script starts the processes of its training by itself."""

    what: str
    line: int
    path: str | None


def decode(data: bytes, name: str) -> str:
    """Decode a script as Python does: byte order mark, PEP 263 declaration, else UTF-8.

    Raises
    ------
    SourceError
        If it is too large, not text, or in an unknown encoding.
    """
    if len(data) > MAX_BYTES:
        raise SourceError(f"{name} is larger than {MAX_BYTES // 1024**2} MiB: not a script.")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise SourceError(f"{name} has a NUL byte in line {line}: not a script.", line=line)
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{name} has bytes in line {line} that are not {error.encoding}."
        raise SourceError(message, line=line) from error
    except (SyntaxError, LookupError) as error:
        raise SourceError(f"{name} can't be decoded: {error}.", line=1) from error
    return io.IncrementalNewlineDecoder(None, translate=True).decode(text, final=True)


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if "encoding declaration" not in str(error):
            raise
        return "utf-8"  # the lines where a declaration might be are not that, which decoding says with the line


def parse(source: str, name: str) -> ast.Module | None:
    """Parse a script; None if it is too deeply nested for this Python's parser.

    Raises
    ------
    SourceError
        At a syntax error, with its line and column.
    """
    try:
        return ast.parse(source, filename=name)  # Python's warnings name the file
    except SyntaxError as error:
        raise _syntax_error(error, name) from error
    except (RecursionError, MemoryError):
        return None
    except ValueError as error:
        raise SourceError(f"{name} can't be read: {error}.") from error


def check_code(tree: ast.Module, name: str, *, flags: int = 0) -> int:
    """Find what only the compiler refuses: ``return`` outside of a function, an argument's name twice.

    Parameters
    ----------
    tree
        What `parse` returned.
    name
        The file's name, for messages.
    flags
        Compiler flags.

    Returns
    -------
    int
        The flags of the compiled code. Nothing of it is run.

    Raises
    ------
    SourceError
        With its line and column.
    """
    try:
        code: CodeType = compile(tree, name, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        raise _syntax_error(error, name) from error
    except (RecursionError, MemoryError, ValueError):
        return 0  # too deep for this Python; another one may read it
    return code.co_flags


def _syntax_error(error: SyntaxError, name: str) -> SourceError:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    message = f"{name} has a syntax error in line {line}, column {column}: {error.msg}."
    return SourceError(message, line=line, column=column)


def read_script(source: str, name: str, workspace: Workspace | None = None, *, compiled: bool = True) -> Script:
    """Read a script's options, imports and habits.

    Parameters
    ----------
    source
        The decoded text.
    name
        The file's name, for messages.
    workspace
        Where its own modules lie; None if it has none.
    compiled
        Also refuse what only the compiler does.

    Raises
    ------
    SourceError
        At a syntax error. A script that is merely too deep to be analysed gives an empty result.
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
    """Facts that a script's text alone tells. They are cached by the text, so nobody changes them."""

    facts: Facts
    description: str | None
    options: list[ScriptOption]
    skipped: list[int]
    env_reads: list[EnvRead]
    loaders: list[int]
    given: int | None
    empty: bool


@lru_cache(maxsize=4)  # the form asks again and again for the same text
def _read_text(source: str, name: str, path: str, compiled: bool) -> _Text | None:
    """Read a script's text; None if it is too deep to be analysed."""
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
    """Return the line in which a script parses a list of its own, or sets `sys.argv`, instead of its command line."""
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
    """Return the modules that must be there, with the line of their first import.

    What the script itself guards (``try: import x``, ``if TYPE_CHECKING``) need not.
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
    """Return the part of a module's name that a distribution brings."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] in NAMESPACES else 1])


def _env_reads(nodes: Nodes, literals: Literals) -> list[EnvRead]:
    found: list[tuple[int, ast.expr, ast.expr | None]] = []
    for node, _ in nodes.of(ast.Subscript):
        if _is(node.value, "environ") and isinstance(node.ctx, ast.Load):
            found.append((node.lineno, node.slice, None))
    for call, _ in nodes.of(ast.Call):
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
        for call, _ in nodes.of(ast.Call)
        if _is(call.func, "DataLoader")
        and len(call.args) < 4  # dataset, batch_size, shuffle, sampler
        and not {keyword.arg for keyword in call.keywords} & {"sampler", "batch_sampler", None}
    )
