"""Options of scripts that merge YAML files with values given as ``a.b=value``: ``OmegaConf.from_cli()``, torchtune."""

from __future__ import annotations

# ruff: noqa: PTH118, PTH120  (names come from files: `Path` raises at some of them)
import os

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.docstrings import summary
from ..declarations.scopes import Function
from ..declarations.source import Source
from ..declarations.yaml_config import Config, ConfigFolder
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program
from .hydra import option_of_entry

WORDS = frozenset({"OmegaConf"})
RECIPE_WORDS = frozenset({"torchtune"})
RECIPE_DECORATORS = ("torchtune.config.parse", "torchtune.config._parse.parse")


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


def read_recipe(program: Program) -> OptionsRead | None:
    """Return the option of a torchtune recipe, which names the file whose values are the other options."""
    source = Source(program, RECIPE_WORDS)
    if not source.is_used:
        return None
    for module in source.modules:
        for node in source.reachable(module) if module.mentions(RECIPE_WORDS) else ():
            if isinstance(node, Function):
                for decorator in node.decorator_list:
                    if source.library(module, decorator) in RECIPE_DECORATORS:
                        return _of_recipe(summary(node), decorator.lineno, source.path(module))
    return None


def _of_recipe(description: str | None, line: int, path: str | None) -> OptionsRead:
    help_ = "Path/name of a yaml file with recipe args"
    option = ScriptOption(
        flags=["--config"], dest="config", kind="text", help=help_, required=True, line=line, path=path
    )
    sentence = _("The values of the file that --config names are options too, given as key=value.")
    return OptionsRead([option], description, [UnreadOptions(sentence, line, path)])


FAMILY = Family("OmegaConf", WORDS, read)
RECIPES = Family("torchtune", RECIPE_WORDS, read_recipe)
