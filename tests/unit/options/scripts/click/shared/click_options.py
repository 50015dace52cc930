import click


def common(function):
    function = click.option("--gpus", type=int, default=1, help="Devices.")(function)
    function = click.option("--seed", type=int, default=7)(function)
    return function
