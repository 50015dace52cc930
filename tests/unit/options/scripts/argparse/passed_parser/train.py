import argparse


def add_model_args(parser):
    group = parser.add_argument_group("model")
    group.add_argument("--hidden", type=int, default=256, help="width of the layers")
    group.add_argument("--dropout", type=float, default=0.1)
    return parser


def add_data_args(parser, prefix="train"):
    parser.add_argument(f"--{prefix}-file", required=True, help=f"file with {prefix} data")
    parser.add_argument(f"--{prefix}-limit", type=int)


def main(args):
    print(args)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser = add_model_args(parser)
    add_data_args(parser)
    add_data_args(parser, prefix="valid")
    main(parser.parse_args())
