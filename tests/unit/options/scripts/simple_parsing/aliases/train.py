from dataclasses import dataclass

from simple_parsing import ArgumentParser, field


@dataclass
class Training:
    lr: float = field(default=3e-4, alias="-l")
    decay: float = field(default=0.1, alias=["-w", "--weight_decay"])
    epochs: int = field(default=1, alias="e")
    steps: int = field(default=1, alias="max_steps")
    k: int = 3


@dataclass
class Data:
    path: str = field(default="data", alias="-p")
    workers: int = field(default=1, alias=["j", "--jobs"])
    n: int = 8


parser = ArgumentParser()
parser.add_arguments(Training, dest="training")
parser.add_arguments(Data, dest="data", prefix="data_")
args = parser.parse_args()
