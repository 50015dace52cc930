import argparse


def base_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", type=str, default="translation")
    parser.add_argument("--arch", type=str)
    parser.add_argument("--share", action="store_true")
    return parser


def main():
    parser = base_parser()
    parser.set_defaults(task="language_modeling", arch="gpt2_small", version=3)
    args = parser.parse_args()
    print(args)


if __name__ == "__main__":
    main()
