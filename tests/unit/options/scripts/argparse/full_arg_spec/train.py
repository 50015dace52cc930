import argparse
import inspect


def create_model(width, depth, dropout):
    return width, depth, dropout


def defaults_of_model():
    found = dict(width=128, depth=4, dropout=0.1, large_size=256)
    arguments = inspect.getfullargspec(create_model)[0]
    for name in found.copy().keys():
        if name not in arguments:
            del found[name]
    return found


def add_options(parser, defaults):
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", default=value, type=type(value))


def main():
    defaults = dict(data_dir="", lr=1e-4)
    defaults.update(defaults_of_model())
    parser = argparse.ArgumentParser()
    add_options(parser, defaults)
    print(parser.parse_args())


if __name__ == "__main__":
    main()
