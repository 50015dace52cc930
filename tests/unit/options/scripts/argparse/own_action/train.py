import argparse


class ParseKwargs(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, dict(value.split("=") for value in values))


class StoreDegrees(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values * 3.14159 / 180)


parser = argparse.ArgumentParser()
parser.add_argument("--model-kwargs", nargs="*", default={}, action=ParseKwargs, help="pairs key=value")
parser.add_argument("--rotation", type=float, default=0.0, action=StoreDegrees)
args = parser.parse_args()
