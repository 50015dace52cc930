from dataclasses import dataclass, field
from typing import List, Optional

from transformers import HfArgumentParser


@dataclass
class ModelArguments:
    """Arguments of the model."""

    model_name_or_path: str = field(metadata={"help": "Path to the model or its name on the hub"})
    tokenizer_name: Optional[str] = field(default=None, metadata={"help": "Tokenizer, if not the model's"})
    use_lora: bool = field(default=False, metadata={"help": "Train adapters"})
    gradient_clip: bool = True
    rank: int = 8
    alpha: float = field(default=16.0, metadata={"help": "Scale"})


@dataclass
class DataArguments:
    files: List[str] = field(default_factory=lambda: ["a.json", "b.json"], metadata={"help": "Training files"})
    max_length: Optional[int] = field(default=512)
    dtype: str = field(default="auto", metadata={"help": "Type of the weights", "choices": ["auto", "bfloat16"]})


def main():
    parser = HfArgumentParser((ModelArguments, DataArguments))
    model_args, data_args = parser.parse_args_into_dataclasses()
    print(model_args, data_args)


if __name__ == "__main__":
    main()
