import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--cuda", action="store_true", default=True, help="train on GPUs")
parser.add_argument("--no-cuda", dest="cuda", action="store_false", help="train on the CPU")
parser.add_argument("--quiet", dest="log_level", action="store_const", const="error", default="info")
parser.add_argument("--debug", dest="log_level", action="store_const", const="debug")
args = parser.parse_args()
