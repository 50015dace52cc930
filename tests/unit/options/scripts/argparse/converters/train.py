import argparse
import json


def str2bool(value):
    if isinstance(value, bool):
        return value
    if value.lower() in ("yes", "true", "t", "1"):
        return True
    if value.lower() in ("no", "false", "f", "0"):
        return False
    raise argparse.ArgumentTypeError("Boolean value expected.")


def positive(value):
    number = int(value)
    if number <= 0:
        raise argparse.ArgumentTypeError("must be positive")
    return number


p = argparse.ArgumentParser()
p.add_argument("--pretrained", type=str2bool, default=True, help="start from published weights")
p.add_argument("--ema", type=str2bool, nargs="?", const=True, default=False)
p.add_argument("--epochs", type=positive, default=90)
p.add_argument("--shuffle", type=bool, default=True, help="shuffle the data")
p.add_argument("--model-args", type=json.loads, default={}, help="JSON with arguments of the model")
p.add_argument("--milestones", type=lambda text: [int(n) for n in text.split(",")], default=[30, 60])
p.add_argument("--size", type=eval, default="(224, 224)")
opt = p.parse_args()
