from dataclasses import dataclass, field

DEFAULT_NAME = "distilled"


@dataclass
class BaseArguments:
    seed: int = field(default=13, metadata={"help": "Seed of the run"})
    output: str = field(default="out", metadata={"help": "Folder for results"})


@dataclass
class RunArguments(BaseArguments):
    output: str = "results"
    name: str = field(default=DEFAULT_NAME)
    layers: list[int] = field(default_factory=list, metadata={"help": "Layers that are kept"})
    hidden: int = field(default=0, init=False)
    temperature: float = field(default=2.0, metadata={"help": "Softness", "aliases": ["--temp"]})
