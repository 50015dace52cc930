from argparse import ArgumentParser as Parser


def make_parser():
    parser = Parser(description="Train a new model")
    parser.add_argument("--max-update", default=0, type=int, metavar="N", help="force stop training at specified update")
    parser.add_argument("--clip-norm", default=0.0, type=float)
    return parser


def main(args):
    print(args)


def cli_main():
    main(make_parser().parse_args())
