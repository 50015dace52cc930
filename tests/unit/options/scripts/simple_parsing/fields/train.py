import simple_parsing
from dataclasses import dataclass
from simple_parsing import choice, field, list_field, mutable_field


@dataclass
class Model:
    depth: int = 12  # Blocks
    kind: str = choice("cnn", "vit", default="vit")


@dataclass
class Config:
    data: str  # Folder with data
    batch: int = field(default=32, alias="b", help="examples per step")
    sizes: list[int] = list_field(1, 2)
    model: Model = mutable_field(Model)


if __name__ == "__main__":
    cfg = simple_parsing.parse(Config)
