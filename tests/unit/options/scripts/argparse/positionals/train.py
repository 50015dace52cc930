import argparse

parser = argparse.ArgumentParser()
parser.add_argument("config", help="train config file path")
parser.add_argument("work_dir", nargs="?", default="work_dirs/default", help="where results go")
parser.add_argument("layers", nargs="*", type=int, help="sizes of the layers")
parser.add_argument("--ratio", type=float, nargs="+", default=(0.8, 0.1, 0.1))
parser.add_argument("--profile", nargs="?", const="trace.json", help="write a trace")
parser.add_argument("--opts", nargs=argparse.REMAINDER, default=[], help="Modify config options")
args = parser.parse_args()
