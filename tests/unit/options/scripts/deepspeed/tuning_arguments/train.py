from argparse import ArgumentParser

import deepspeed

parser = ArgumentParser()
parser.add_argument("--steps", type=int, default=100, help="training steps")
deepspeed.add_config_arguments(parser)
cmd_args = parser.parse_args()
model, _, _, _ = deepspeed.initialize(args=cmd_args)
