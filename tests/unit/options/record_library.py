# ruff: noqa: E501
"""Write the tables of options that libraries define: ``python record_library.py``.

Run it in an environment that has transformers, trl, lightning and jsonargparse. DeepSpeed's four options are written
here by hand, from ``deepspeed/__init__.py`` of 0.18.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import lightning
import transformers
import trl
from lightning.pytorch import LightningModule
from lightning.pytorch.cli import LightningCLI
from record_expected import from_argparse

TABLE = Path(__file__).parents[3] / "jupyterlab_t9kjob/launch/options/declarations/library_options.json"
MAX_HELP = 160

DEEPSPEED = [
    {"flags": ["--deepspeed"], "kind": "flag", "default": "False", "help": "Enable DeepSpeed (helper flag for user code, no impact on DeepSpeed backend)"},
    {"flags": ["--deepspeed_config"], "kind": "text", "help": "DeepSpeed json configuration file."},
    {"flags": ["--deepscale"], "kind": "flag", "default": "False", "help": "Deprecated enable DeepSpeed (helper flag for user code, no impact on DeepSpeed backend)"},
    {"flags": ["--deepscale_config"], "kind": "text", "help": "Deprecated DeepSpeed json configuration file."},
]  # fmt: skip


def entry(option: dict[str, Any]) -> dict[str, Any]:
    """Return an option as the table has it: a destination, and the first sentence of its help."""
    flags = [flag for flag in option.get("flags", []) if not flag.endswith("+")]
    long = next(flag for flag in flags if flag.startswith("--") and not flag.startswith(("--no-", "--no_")))
    dest = long[2:].replace("-", "_") if "." not in long else long[2:]
    found = {"flags": sorted(flags, key=len, reverse=True), "dest": dest, "kind": option["kind"]}
    found |= {key: option[key] for key in ("default", "choices") if key in option}
    text = re.split(r"(?<=[a-z)`])\. |\.$", option.get("help", ""))[0][:MAX_HELP]
    if text:
        found["help"] = text
    return found


def of_dataclass(type_: Any) -> dict[str, dict[str, Any]]:
    """Return the options that HfArgumentParser makes of a dataclass."""
    found = {}
    for option in from_argparse(transformers.HfArgumentParser(type_)):
        made = entry(option)
        name = made["dest"]
        made["flags"] = list(dict.fromkeys([f"--{name}", f"--{name}".replace("_", "-")]))
        if made["kind"] == "flag":
            off = f"--no_{name}" if made.get("default") == "True" else f"--{name}=False"
            made |= {"off_flag": off, "value_optional": True}
        found[name] = made
    return found


def dataclasses() -> dict[str, Any]:
    """Return the tables of transformers and trl; classes have only what they add to their base."""
    base = of_dataclass(transformers.TrainingArguments)
    tables: dict[str, Any] = {
        "transformers": {"version": transformers.__version__, "TrainingArguments": {"options": list(base.values())}},
        "trl": {"version": trl.__version__},
    }
    names = ["SFTConfig", "DPOConfig", "GRPOConfig", "RewardConfig", "KTOConfig", "ModelConfig", "ScriptArguments"]
    for library, module, classes in (
        ("transformers", transformers, ["Seq2SeqTrainingArguments"]),
        ("trl", trl, names),
    ):
        for name in classes:
            type_ = getattr(module, name)
            derives = issubclass(type_, transformers.TrainingArguments)
            options = [one for key, one in of_dataclass(type_).items() if not derives or base.get(key) != one]
            tables[library][name] = {"options": options}
            if derives:
                tables[library][name]["base"] = ["transformers", "TrainingArguments"]
    return tables


class Model(LightningModule):
    """A model without parameters."""


class Recorder(LightningCLI):
    """A command line that is not run."""

    def parse_arguments(self, parser: Any, args: Any) -> None:
        """Write the options of the parser."""
        commands = {}
        for option in from_argparse(parser):
            if option.get("flags"):
                commands.setdefault(option.get("command", ""), []).append(entry(option))
        fit = commands["fit"]
        trainer = [one for one in fit if one["dest"].startswith("trainer.")]
        main = {one["dest"] for one in commands[""]}
        common = [one for one in commands["fit"] if one in commands["validate"] and one["dest"] not in main]
        common = [one for one in common if one not in trainer and one in commands["predict"]]
        table: dict[str, Any] = {
            "version": lightning.__version__,
            "LightningCLI": {"options": commands[""]},
            "common": {"options": [one for one in common if one["dest"] == "seed_everything"]},
            "Trainer": {"options": trainer},
        }
        for name in ("fit", "validate", "test", "predict"):
            rest = [one for one in commands[name] if one not in trainer and one["dest"] not in main]
            table[name] = {"options": [one for one in rest if one["dest"] != "seed_everything"]}
        tables = dataclasses() | {"lightning": table}
        tables["deepspeed"] = {"version": "0.18", "add_config_arguments": {"options": [*map(entry, DEEPSPEED)]}}
        rows = json.dumps(tables, separators=(",", ":"), ensure_ascii=False).replace('{"flags"', '\n{"flags"')
        TABLE.write_text(rows + "\n", encoding="utf-8")
        raise SystemExit


if __name__ == "__main__":
    Recorder(Model)
