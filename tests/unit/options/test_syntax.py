"""Checks of arguments whose options are given in other ways than argparse's."""

from __future__ import annotations

import pytest

from jupyterlab_t9kjob.launch.model import ScriptOption
from jupyterlab_t9kjob.launch.option_checks import unfilled


def option(name: str, **more: object) -> ScriptOption:
    return ScriptOption.model_validate(
        {"flags": [name], "dest": name.lstrip("-"), "kind": "text", "required": True, "line": 1, **more}
    )


HYDRA = [option("data_dir", syntax="assignment"), option("optimizer", syntax="assignment")]
COMMANDS = [
    option("command", flags=[], kind="choice", choices=["train", "eval"], is_command=True),
    option("--data", command="train"),
    option("--checkpoint", command="eval"),
]


@pytest.mark.parametrize(
    ("options", "args", "empty"),
    [
        (HYDRA, [], ["data_dir", "optimizer"]),
        (HYDRA, ["data_dir=/d", "optimizer=sgd"], []),
        (HYDRA, ["data_dirs=/d", "+optimizer=sgd"], ["data_dir", "optimizer"]),
        (COMMANDS, [], ["command"]),
        (COMMANDS, ["train"], ["data"]),
        (COMMANDS, ["train", "--data", "d"], []),
        (COMMANDS, ["eval", "--checkpoint=c"], []),
    ],
)
def test_required_options(options: list[ScriptOption], args: list[str], empty: list[str]) -> None:
    assert [one.dest for one in unfilled(options, args)] == empty
