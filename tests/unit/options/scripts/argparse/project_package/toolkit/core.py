import argparse


def parse_arguments(arg_list=None):
    """Parse the command line of a recipe."""
    parser = argparse.ArgumentParser(description="Run an experiment")
    parser.add_argument("param_file", type=str, help="File with hyperparameters")
    parser.add_argument("--debug", default=False, action="store_true", help="Run a few batches only")
    parser.add_argument("--device", type=str, default="cuda:0", help="Device of the model")
    parser.add_argument("--seed", type=int, default=None)
    options, overrides = parser.parse_known_args(arg_list)
    return options.param_file, (options, overrides)
