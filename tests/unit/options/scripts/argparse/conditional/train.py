import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
if torch.cuda.is_available():
    parser.add_argument("--gpu", type=int, default=0, help="index of the device")
if hasattr(torch, "compile"):
    parser.add_argument("--compile", action="store_true", help="compile the model")
args = parser.parse_args()
