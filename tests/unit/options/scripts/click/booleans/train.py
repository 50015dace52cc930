import click


@click.command()
@click.option("--amp", default=False, help="mixed precision")
@click.option("--shuffle", default=True, show_default=True)
@click.option("--verbose", is_flag=True)
@click.option("--debug", is_flag=True, default=True)
@click.option("--compile/--no-compile", default=True)
@click.option("--fast", "speed", flag_value="fast", default="slow")
@click.option("--resume", type=bool)
@click.option("--cache", type=bool, default=True, is_flag=True)
@click.option("--wandb", is_flag=False, default=False)
@click.option("--quiet", is_flag=False, flag_value="all", default=None)
@click.option("-v", "--level", count=True)
@click.argument("strict", default=False)
def main(**kwargs):
    pass


if __name__ == "__main__":
    main()
