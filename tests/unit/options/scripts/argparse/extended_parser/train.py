import argparse

from pytorch_lightning import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=32)
parser = Trainer.add_argparse_args(parser)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
trainer = Trainer.from_argparse_args(args)
