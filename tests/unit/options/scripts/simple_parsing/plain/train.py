from dataclasses import dataclass

from simple_parsing import ArgumentParser


@dataclass
class HParams:
    """Set of hyperparameters."""

    learning_rate: float = 1e-4  # Step size
    # Number of passes
    epochs: int = 10
    cuda: bool = False
    """Train on GPUs"""
    name: str = "run"


parser = ArgumentParser(description="Example")
parser.add_argument("--seed", type=int, default=0, help="seed")
parser.add_arguments(HParams, dest="hparams")
args = parser.parse_args()
print(args.hparams)
