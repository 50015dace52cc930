import argparse

from . import SEED
from .defaults import OPTIMIZERS


def build():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--optimizer", choices=OPTIMIZERS.keys(), default="sgd", help="update rule")
    parser.add_argument("--tags", nargs="*", default=[], help="labels of the run")
    return parser
