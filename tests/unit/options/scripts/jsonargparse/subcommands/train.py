from jsonargparse import ArgumentParser

import parsers

parser = ArgumentParser(description="Tools for a model.")
parser.add_argument("--seed", type=int, default=1, help="Seed of all generators")
subcommands = parser.add_subcommands()
subcommands.add_subcommand("train", parsers.train_parser())
subcommands.add_subcommand("eval", parsers.EvalParser())


def main():
    config = parser.parse_args()
    print(config)


if __name__ == "__main__":
    main()
