import argparse
import os

import registry

parser = argparse.ArgumentParser()
parser.add_argument("--task", default="classify", help="kind of the task")
for name in registry.list_options():
    parser.add_argument("--" + name)
for key in os.environ:
    parser.add_argument(f"--env-{key}")
args = parser.parse_args()
