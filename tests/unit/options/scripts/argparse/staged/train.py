import argparse

config_parser = argparse.ArgumentParser(description="Config", add_help=False)
config_parser.add_argument("-c", "--config", default="", type=str, metavar="FILE", help="YAML file with defaults")

parser = argparse.ArgumentParser(description="ImageNet Training")
parser.add_argument("--model", default="resnet50", type=str)
parser.add_argument("--bce-loss", action="store_true", default=False, help="Use BCE loss.")
parser.add_argument("--mean", type=float, nargs="+", default=None, help="Override mean pixel value")


def _parse_args():
    args_config, remaining = config_parser.parse_known_args()
    if args_config.config:
        with open(args_config.config) as f:
            import yaml

            parser.set_defaults(**yaml.safe_load(f))
    return parser.parse_args(remaining)


def main():
    print(_parse_args())


if __name__ == "__main__":
    main()
