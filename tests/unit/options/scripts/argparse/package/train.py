import project.cli as cli
from project import defaults


if __name__ == "__main__":
    args = cli.build().parse_args()
    print(args, defaults.SEED)
