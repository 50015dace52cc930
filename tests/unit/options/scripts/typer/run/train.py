from enum import Enum
from pathlib import Path
from typing import List, Optional

import typer


class Network(str, Enum):
    resnet = "resnet"
    vit = "vit"


def main(
    data: Path,
    epochs: int = 10,
    lr: float = typer.Option(1e-3, "--lr", "-l", help="Learning rate."),
    network: Network = Network.resnet,
    amp: bool = True,
    force: bool = typer.Option(False, "--force"),
    tags: Optional[List[str]] = typer.Option(None, help="Labels."),
    out_dir: Optional[Path] = None,
):
    """Train a model."""
    print(data)


if __name__ == "__main__":
    typer.run(main)
