import argparse

FLAG = dict(action="store_true", default=False)
COUNT = {"type": int, "metavar": "N"}
OPTIONS = {
    "--depth": {"type": int, "default": 12, "help": "number of blocks"},
    "--patch": {"type": int, "default": 16, "choices": [8, 14, 16]},
}

parser = argparse.ArgumentParser()
for name, settings in OPTIONS.items():
    parser.add_argument(name, **settings)
parser.add_argument("--fp16", help="half precision", **FLAG)
parser.add_argument("--steps", default=1000, **COUNT)
print(parser.parse_args())
