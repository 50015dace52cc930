"""Options of scripts that merge YAML files with ``OmegaConf.from_cli()``, given as ``a.b=value``."""

from __future__ import annotations

# ruff: noqa: PTH118, PTH120  (names come from files: `Path` raises at some of them)
import os

from ....core.translation import _
from ..declarations.source import Source
from ..declarations.yaml_config import Config, ConfigFolder
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program
from .hydra import option_of_entry

WORDS = frozenset({"OmegaConf"})


def read(program: Program) -> OptionsRead | None:
    """Return the values of the files that a script loads, if it merges them with ``OmegaConf.from_cli()``."""
    source = Source(program, WORDS)
    call = next((call for call in source.calls("from_cli", tops=("omegaconf",)) if not call.node.args), None)
    if call is None:
        return None
    result = OptionsRead()
    line, path = call.node.lineno, source.path(call.module)
    folder = os.path.dirname(source.main.path)
    for load in source.calls("load", tops=("omegaconf",)):
        name = source.string(load.module, load.argument(0, "file_"))
        if name is not None and source.program.modules.may_read(os.path.join(folder, name)):
            config = Config(ConfigFolder(folder, source.program.modules.may_read))
            config.read_file(os.path.normpath(os.path.join(folder, name)))
            result.options += [option_of_entry(entry) for entry in config.entries.values()]
    if not result.options:
        sentence = _("The options are built while the script runs.")
        result.unread.append(UnreadOptions(sentence, line, path))
    return result


FAMILY = Family("OmegaConf", WORDS, read)
