"""Train a residual network on CIFAR-10."""

import argparse

import torch


def main():
    parser = argparse.ArgumentParser(description="CIFAR-10 training")
    parser.add_argument("data", metavar="DIR", help="path to the dataset")
    parser.add_argument("-a", "--arch", default="resnet18", choices=["resnet18", "resnet34", "resnet50"], help="architecture (default: %(default)s)")
    parser.add_argument("-j", "--workers", default=4, type=int, metavar="N")
    parser.add_argument("--lr", "--learning-rate", default=1e-1, type=float, dest="lr", help="initial learning rate")
    parser.add_argument("--betas", nargs=2, type=float, default=[0.9, 0.999])
    parser.add_argument("--resume", type=str)
    parser.add_argument("--evaluate", "-e", action="store_true", help="only evaluate")
    parser.add_argument("--no-amp", dest="amp", action="store_false")
    parser.add_argument("-v", "--verbose", action="count", default=0)
    args = parser.parse_args()
    torch.manual_seed(0)
    print(args)


if __name__ == "__main__":
    main()
