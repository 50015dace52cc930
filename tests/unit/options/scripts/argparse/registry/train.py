import argparse

from models import MODELS

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--model", choices=MODELS.keys())
for model in MODELS.values():
    model.add_arguments(parser)
args = parser.parse_args()
