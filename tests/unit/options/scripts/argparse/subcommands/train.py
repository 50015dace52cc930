import argparse


def train(args):
    print("train", args)


def evaluate(args):
    print("evaluate", args)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.yaml")
    commands = parser.add_subparsers(dest="command", required=True, help="what to do")
    sub = commands.add_parser("train", help="fit the model")
    sub.add_argument("--epochs", type=int, default=10)
    sub.set_defaults(func=train)
    sub = commands.add_parser("eval", help="measure the model")
    sub.add_argument("checkpoint", help="file with weights")
    sub.add_argument("--split", choices=["valid", "test"], default="test")
    sub.set_defaults(func=evaluate)
    args = parser.parse_args()
    args.func(args)


if __name__ == "__main__":
    main()
