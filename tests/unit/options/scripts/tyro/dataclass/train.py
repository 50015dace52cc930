from __future__ import annotations

import dataclasses
import enum

import tyro


class Net(enum.Enum):
    SMALL = enum.auto()
    LARGE = enum.auto()


@dataclasses.dataclass
class Optimizer:
    lr: float = 3e-4
    """Learning rate."""
    betas: tuple[float, float] = (0.9, 0.999)


@dataclasses.dataclass
class Args:
    """Options of the run."""

    exp_name: str
    """Name of the experiment."""
    seed: int = 1  # Seed of all generators.
    # Kind of network.
    net: Net = Net.SMALL
    track: bool = False
    """if toggled, this experiment will be tracked"""
    optimizer: Optimizer = dataclasses.field(default_factory=Optimizer)
    layers: list[int] = dataclasses.field(default_factory=lambda: [64, 64])


if __name__ == "__main__":
    args = tyro.cli(Args)
