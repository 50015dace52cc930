from dataclasses import dataclass, field
from typing import Optional

from transformers import HfArgumentParser, Trainer, TrainingArguments


@dataclass
class ScriptArguments:
    dataset: str = field(metadata={"help": "Dataset on the hub"})
    packing: Optional[bool] = field(default=True, metadata={"help": "Pack short examples"})


@dataclass
class MyTrainingArguments(TrainingArguments):
    learning_rate: float = field(default=1e-5)
    freeze: bool = field(default=False, metadata={"help": "Freeze the backbone"})


def main():
    parser = HfArgumentParser((ScriptArguments, MyTrainingArguments))
    script_args, training_args = parser.parse_args_into_dataclasses()
    trainer = Trainer(args=training_args)
    trainer.train()


if __name__ == "__main__":
    main()
