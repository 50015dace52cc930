import dataclasses
from enum import Enum
from typing import Literal

import transformers


class Split(Enum):
    TRAIN = "train"
    TEST = "test"


@dataclasses.dataclass
class Arguments:
    loss: Literal["sigmoid", "hinge", "ipo"] = dataclasses.field(default="sigmoid", metadata={"help": "kind of loss"})
    split: Split = Split.TRAIN
    beta: float | None = 0.1
    seed: "int" = 0


args = transformers.HfArgumentParser(Arguments).parse_args_into_dataclasses()[0]
