from jsonargparse import ArgumentParser


class Base:
    """Base of the networks.

    Args:
        lr: learning rate
    """

    def __init__(self, lr: float = 0.1, warmup: int = 5, width: int = 1):
        self.lr = lr


class Net(Base):
    def __init__(self, width: int = 8, **kwargs):
        super().__init__(**kwargs)
        self.width = width


class Fixed(Base):
    def __init__(self, depth: int = 2, **kwargs):
        super().__init__(0.5, width=3, **kwargs)


class Unused(Base):
    def __init__(self, depth: int = 2, **kwargs):
        super().__init__()


class Mixin:
    def __init__(self, mix: int = 1, **kwargs):
        super().__init__(**kwargs)


class Mixed(Mixin, Base):
    def __init__(self, *args, extra: bool = False, **kwargs):
        super().__init__(*args, **kwargs)


class Named(Base):
    def __init__(self, name: str = "n", **kwargs):
        Base.__init__(self, **kwargs)


def helper(x: int = 1, y: float = 2.0): ...


def fun(z: int = 0, skipme: str = "s", **kwargs):
    helper(**kwargs)


parser = ArgumentParser()
parser.add_class_arguments(Net, "net")
parser.add_class_arguments(Fixed, "fixed")
parser.add_class_arguments(Unused, "unused")
parser.add_class_arguments(Mixed, "mixed")
parser.add_class_arguments(Named, "named", skip={"name", "warmup"})
parser.add_function_arguments(fun, "fun", skip={"skipme"})
parser.add_function_arguments(fun, "rest", skip={1})
args = parser.parse_args()
