from typing import Annotated

import typer

app = typer.Typer(help="Project")


@app.command()
def fit(
    name: Annotated[str, typer.Argument(help="Name of the run")],
    steps: Annotated[int, typer.Option(help="Steps", min=1)] = 1000,
    dry_run: Annotated[bool, typer.Option("--dry-run/--real")] = False,
):
    """Fit."""


@app.command("test")
def evaluate(split: str = typer.Argument("valid"), batch: int = typer.Option(..., help="Batch size")):
    """Evaluate."""


if __name__ == "__main__":
    app()
