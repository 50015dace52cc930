import os
import sys
from dataclasses import dataclass, field
from typing import List, Optional

from parsing import FileArgumentParser


@dataclass
class DataArguments:
    train_data: str = field(default=None, metadata={"help": "Files with examples", "nargs": "+"})
    block_size: Optional[int] = field(default=None, metadata={"help": "Tokens of a block"})
    splits: List[str] = field(default_factory=lambda: ["train"])


def main():
    parser = FileArgumentParser((DataArguments,))
    if len(sys.argv) == 2 and sys.argv[1].endswith(".yaml"):
        return parser.parse_yaml_file(os.path.abspath(sys.argv[1]))
    return parser.parse_args_into_dataclasses()


if __name__ == "__main__":
    main()
