"""Options of jsonargparse and LightningCLI that are not known from the text: each is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.launch.options.model import OptionsRead
from jupyterlab_t9kjob.launch.options.reader import read_options

BASE = """class Base:
    def __init__(self, lr: float = 0.1): ...
class Net({base}):
    def __init__(self, width: int = 8, **kwargs):
        {body}
"""


def read(folder: Path, source: str) -> OptionsRead:
    """Return the options of a script."""
    script = folder / "train.py"
    script.write_text(source)
    return read_options(folder, script, source)


@pytest.mark.parametrize(
    ("base", "body", "names", "unread"),
    [
        ("Base", "super().__init__(**kwargs)", ["width", "lr"], []),
        ("Base", "super().__init__()", ["width"], []),
        ("torch.nn.Module", "super().__init__(**kwargs)", ["width"], []),
        ("timm.Model", "super().__init__(**kwargs)", ["width"], [6]),
        ("Base", "kwargs.pop('lr', 1); super().__init__(**kwargs)", ["width"], [5]),
        ("Base", "self.rest = kwargs", ["width"], [5]),
        ("Base", "unknown(**kwargs)", ["width"], [5]),
        ("Base", "Net(**kwargs)", ["width"], [5]),
    ],
)
def test_keyword_arguments(tmp_path: Path, base: str, body: str, names: list[str], unread: list[int]) -> None:
    source = f"import jsonargparse, torch, timm\n{BASE.format(base=base, body=body)}jsonargparse.CLI(Net)\n"
    result = read(tmp_path, source)
    assert [option.dest for option in result.options if not option.library] == names
    assert [one.line for one in result.unread] == unread


def test_arguments_that_are_added_to_the_parser_of_lightning(tmp_path: Path) -> None:
    source = (
        "from lightning.pytorch.cli import LightningCLI\nfrom lightning import LightningModule\n"
        "from torch.optim import Adam\n"
        "class Net(LightningModule):\n    def __init__(self, width: int = 8): ...\n"
        "class CLI(LightningCLI):\n    def add_arguments_to_parser(self, parser):\n"
        "        parser.add_argument('--tag', default='x')\n        parser.add_optimizer_args(Adam)\n"
        "CLI(Net, run=False)\n"
    )
    result = read(tmp_path, source)
    assert {"tag", "model.width"} <= {option.dest for option in result.options}
    assert [one.line for one in result.unread] == [9]
