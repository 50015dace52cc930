from dataclasses import dataclass

from jsonargparse import ArgumentParser


@dataclass
class Optimizer:
    """Settings of the optimizer.

    Args:
        lr: Learning rate.
        momentum: Momentum of the gradient.
    """

    lr: float = 0.1
    momentum: float = 0.9


class EvalParser(ArgumentParser):
    def __init__(self):
        super().__init__(description="Evaluates a checkpoint.")
        self.add_common()

    def add_common(self):
        self.add_argument("--checkpoint", type=str, required=True, help="Checkpoint to read")


def train_parser():
    parser = ArgumentParser(description="Trains a model.")
    parser.add_argument("--epochs", type=int, default=3, help="Number of epochs")
    parser.add_dataclass_arguments(Optimizer, "optimizer")
    return parser


def export_parser():
    parser = ArgumentParser(description="Exports a model.")
    parser.add_argument("--format", type=str, default="onnx")
    return parser
