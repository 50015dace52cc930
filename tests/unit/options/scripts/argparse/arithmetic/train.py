import argparse

KB = 1024
SIZE = 4 * KB
LIMIT = 2**20
HOURS = 24
TIMEOUT = 60 * 60 * HOURS
name = "first"
name = "second"

parser = argparse.ArgumentParser()
parser.add_argument("--block", type=int, default=SIZE)
parser.add_argument("--limit", type=int, default=LIMIT)
parser.add_argument("--timeout", type=int, default=TIMEOUT, help="seconds")
parser.add_argument("--decay", type=float, default=-5e-4)
parser.add_argument("--name", default=name)
parser.add_argument("--half", type=float, default=1 / 2)
parser.add_argument("--widths", type=int, nargs="+", default=[64] * 3 + [128])
parser.add_argument("--keep", type=int, default=int(1e3))
parser.add_argument("--betas", type=float, nargs=2, default=list((0.9, 0.95)))
args = parser.parse_args()
