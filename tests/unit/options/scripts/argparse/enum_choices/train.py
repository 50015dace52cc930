import argparse
from enum import Enum


class Schedule(str, Enum):
    cosine = "cosine"
    linear = "linear"

    def __str__(self):
        return self.value


MODELS = {"small": 12, "base": 24, "large": 36}

parser = argparse.ArgumentParser()
parser.add_argument("--schedule", type=Schedule, choices=list(Schedule), default=Schedule.cosine)
parser.add_argument("--model", choices=sorted(MODELS), default="base")
parser.add_argument("--stage", type=int, choices=range(4), default=0, help="ZeRO stage")
parser.add_argument("--dtype", choices=[None, "float16", "bfloat16"], default=None)
args = parser.parse_args()
