"""What a script's text tells about it. Nothing is ever run or imported here."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Collection
from dataclasses import dataclass, field

from ..core.errors import FieldError
from .model import EnvRead, ImportedModule, ScriptInfo
from .options import Literals, read_options

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
DISTRIBUTED_NAMES = frozenset(
    (
        *("init_process_group", "init_device_mesh", "DistributedDataParallel"),
        *("FullyShardedDataParallel", "fully_shard"),
    )
)
DISTRIBUTED_PACKAGES = frozenset(
    ("accelerate", "deepspeed", "lightning", "pytorch_lightning", "horovod", "composer", "ignite")
)
EVENT_WRITERS = frozenset({"SummaryWriter", "TensorBoardLogger"})
# A module that the import of another one needs, though the text does not name it.
NEEDED_BY = {"torch.utils.tensorboard": "tensorboard"}


class SourceError(FieldError):
    """A script that Python can't read; `line`, `column` and a notebook's `cell` count from 1."""

    reason = "SyntaxError"

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
        Lines of the data loaders that give every process the same data.
    """

    info: ScriptInfo = field(default_factory=ScriptInfo)
    unsampled_loaders: list[int] = field(default_factory=list)


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
        line, column = error.lineno or 1, max(error.offset or 1, 1)
        message = f"{name} has a syntax error in line {line}, column {column}: {error.msg}."
        raise SourceError(message, line=line, column=column) from error
    except (RecursionError, MemoryError):
        return None
    except ValueError as error:
        raise SourceError(f"{name} can't be read: {error}.") from error


def read_script(source: str, name: str, siblings: Collection[str] = ()) -> Script:
    """Read a script's options, imports and habits.

    Parameters
    ----------
    source
        The decoded text.
    name
        The file's name, for messages.
    siblings
        Modules beside the script, which are part of it.

    Raises
    ------
    SourceError
        At a syntax error. A script that is merely too deep to be analysed gives an empty result.
    """
    tree = parse(source, name)
    if tree is None:
        return Script()
    nodes = list(ast.walk(tree))
    literals = Literals(tree, source)
    imports = _imports(tree, siblings)
    description, options = read_options(nodes, literals)
    names = {_last_name(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute | ast.alias)}
    packages = {module.name for module in imports}
    distributed = bool(names & DISTRIBUTED_NAMES or packages & DISTRIBUTED_PACKAGES)
    info = ScriptInfo(
        description=description or _first_paragraph(ast.get_docstring(tree)),
        options=options,
        imports=imports,
        env_reads=_env_reads(nodes, literals),
        distributed=distributed,
        writes_events=bool(names & EVENT_WRITERS),
    )
    by_hand = distributed and not packages & DISTRIBUTED_PACKAGES
    loaders = _loaders(nodes) if by_hand and "DistributedSampler" not in names else []
    return Script(info, loaders)


def _last_name(node: ast.Name | ast.Attribute | ast.alias) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.name.rpartition(".")[2]


def _first_paragraph(text: str | None) -> str | None:
    return " ".join(text.partition("\n\n")[0].split()) or None if text else None


def _imports(tree: ast.Module, siblings: Collection[str]) -> list[ImportedModule]:
    """Return the modules that must be there, with the line of their first import.

    What the script itself guards (``try: import x``, ``if TYPE_CHECKING``) need not.
    """
    found: dict[str, int] = {}
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for module in modules:
            needed = {module.partition(".")[0], NEEDED_BY.get(module, "")}
            for name in needed - {""}:
                if name not in sys.stdlib_module_names and name not in siblings:
                    found[name] = min(node.lineno, found.get(name, node.lineno))  # type: ignore[attr-defined]
        stack.extend(_unguarded(node))
    return [ImportedModule(name=name, line=line) for name, line in sorted(found.items(), key=lambda i: i[1])]


def _unguarded(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Try):
        guarded = any(_catches_import(handler.type) for handler in node.handlers)
        return [*([] if guarded else node.body), *node.orelse, *node.finalbody]
    if isinstance(node, ast.If) and any(
        isinstance(part, ast.Name | ast.Attribute) and _last_name(part) == "TYPE_CHECKING"
        for part in ast.walk(node.test)
    ):
        return list(node.orelse)
    return list(ast.iter_child_nodes(node))


def _catches_import(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    names = {_last_name(n) for n in ast.walk(caught) if isinstance(n, ast.Name | ast.Attribute)}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def _env_reads(nodes: list[ast.AST], literals: Literals) -> list[EnvRead]:
    reads: dict[str, EnvRead] = {}
    for node in nodes:
        name: str | None = None
        default: str | None = None
        if isinstance(node, ast.Subscript) and _is(node.value, "environ"):
            name = literals.string(node.slice) if isinstance(node.ctx, ast.Load) else None
        elif isinstance(node, ast.Call) and node.args and _reads_env(node.func):
            name = literals.string(node.args[0])
            fallback = node.args[1] if len(node.args) > 1 else None
            default = literals.text(fallback) if fallback is not None else None
        if name and name not in GIVEN and name not in reads:
            reads[name] = EnvRead(name=name, line=node.lineno, default=default)  # type: ignore[attr-defined]
    return sorted(reads.values(), key=lambda read: read.line)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and _last_name(node) == name


def _reads_env(function: ast.expr) -> bool:
    if _is(function, "getenv"):
        return True
    return isinstance(function, ast.Attribute) and function.attr == "get" and _is(function.value, "environ")


def _loaders(nodes: list[ast.AST]) -> list[int]:
    return sorted(
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call)
        and _is(node.func, "DataLoader")
        and len(node.args) < 4  # dataset, batch_size, shuffle, sampler
        and not {keyword.arg for keyword in node.keywords} & {"sampler", "batch_sampler", None}
    )
