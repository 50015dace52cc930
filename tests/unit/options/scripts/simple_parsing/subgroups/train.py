from dataclasses import dataclass

from simple_parsing import ArgumentParser, subgroups


@dataclass
class Model:
    pass


@dataclass
class Mlp(Model):
    width: int = 64  # units of a layer
    bias: bool = True


@dataclass
class Conv(Model):
    kernel: int = 3


MODELS = {"mlp": Mlp, "conv": Conv}


@dataclass
class Config:
    model: Model = subgroups(MODELS, default="mlp")
    epochs: int = 3


def main():
    parser = ArgumentParser()
    parser.add_arguments(Config, dest="config")
    config = parser.parse_args().config
    print(config)


if __name__ == "__main__":
    main()
