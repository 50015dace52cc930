from dataclasses import dataclass, field

from transformers import HfArgumentParser, TrainingArguments


@dataclass
class TrainingArguments(TrainingArguments):
    output_dir: str = field(default="out")
    label_loss: float = field(default=0.5, metadata={"help": "weight of the label loss"})


@dataclass
class ModelArguments:
    model_name: str = field(default="small", metadata={"help": "name of the model"})


def main():
    parser = HfArgumentParser((TrainingArguments, ModelArguments))
    training, model = parser.parse_args_into_dataclasses()
    print(training, model)


if __name__ == "__main__":
    main()
