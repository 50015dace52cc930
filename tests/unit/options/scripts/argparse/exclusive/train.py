from argparse import ArgumentParser

parser = ArgumentParser()
kind = parser.add_mutually_exclusive_group(required=True)
kind.add_argument("--from-scratch", action="store_true")
kind.add_argument("--checkpoint", metavar="FILE", help="continue from this file")
precision = parser.add_mutually_exclusive_group()
precision.add_argument("--bf16", action="store_true")
precision.add_argument("--fp16", action="store_true", help="needs loss scaling")
parser.parse_args()
