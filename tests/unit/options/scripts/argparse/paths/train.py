import argparse
import os
from pathlib import Path

ROOT = "/data"

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path, default=Path(ROOT) / "imagenet", help="dataset")
parser.add_argument("--out", type=Path, default=os.path.join("runs", "exp"), help="output")
parser.add_argument("--cache", default=os.path.join(ROOT, "cache"))
parser.add_argument("--token", default=os.environ.get("HUB_TOKEN"))
args = parser.parse_args()
