import argparse

import coco
import nets
from base import DATASETS, Model


class Registry:
    def __init__(self):
        self._classes = {}

    def register(self, cls=None, *, name=None):
        if cls is None:
            return lambda made: self.register(made, name=name)
        self._keep(name or cls.__name__, cls)
        return cls

    def _keep(self, name, cls):
        self._classes[name] = cls

    def names(self):
        return list(self._classes)


LOSSES = Registry()


@LOSSES.register
class Focal: ...


@LOSSES.register(name="dice")
class Dice: ...


parser = argparse.ArgumentParser()
parser.add_argument("--dataset", choices=DATASETS, default="coco")
parser.add_argument("--model", choices=[model.__name__ for model in Model.__subclasses__()])
parser.add_argument("--loss", choices=LOSSES.names())
for model in Model.__subclasses__():
    model.add_arguments(parser)
args = parser.parse_args()
