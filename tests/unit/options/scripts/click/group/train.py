import click


@click.group()
@click.option("--seed", type=int, default=0, help="Seed.")
def cli(seed):
    """Tools of the project."""


@cli.command()
@click.option("--steps", type=click.INT, default=100)
def train(steps):
    """Train."""


@cli.command("evaluate", help="Evaluate.")
@click.argument("checkpoint")
@click.option("--top-k", type=click.IntRange(1, 10), default=5)
def evaluate_model(checkpoint, top_k):
    pass


if __name__ == "__main__":
    cli()
