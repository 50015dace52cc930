from dataclasses import dataclass

from jsonargparse import ActionConfigFile, ArgumentParser


@dataclass
class Optim:
    """Optimizer.

    Args:
        lr: Learning rate.
    """

    lr: float = 0.1
    momentum: float = 0.9


parser = ArgumentParser(description="Example")
parser.add_argument("--config", action=ActionConfigFile, help="file with values")
parser.add_argument("--epochs", type=int, default=3, help="passes")
parser.add_class_arguments(Optim, "optim")
parser.add_argument("--model.width", type=int, default=64)
cfg = parser.parse_args()
