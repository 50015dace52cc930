import typer
from typing_extensions import Annotated

cli = typer.Typer()


@cli.command()
def train(
    config: Annotated[str, typer.Option("--config", "-c")],
    workers: Annotated[int, typer.Option()] = 4,
    mode: Annotated[str, typer.Option(hidden=True)] = "x",
):
    pass


if __name__ == "__main__":
    cli()
