from dataclasses import dataclass

from transformers import HfArgumentParser


@dataclass
class Config:
    lr: float = 3e-4
    warmup: int = 100


parser = HfArgumentParser(Config)
parser.add_argument("--wandb", action="store_true", help="log to W&B")
(config, args, rest) = parser.parse_args_into_dataclasses(return_remaining_strings=True)
