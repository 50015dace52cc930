import argparse

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True, help="compile the model")
parser.add_argument("--include", action="append", help="pattern of parameters")
parser.add_argument("--extra", action="extend", nargs="+", type=str, default=[])
parser.add_argument("--secret", help=argparse.SUPPRESS)
parser.add_argument("--version", action="version", version="1.0")
args = parser.parse_args()
