from typing import List, Literal, Optional

from jsonargparse import CLI


def main(
    data: str,
    epochs: int = 10,
    lr: float = 1e-3,
    mode: Literal["fast", "slow"] = "fast",
    amp: bool = False,
    sizes: List[int] = [1, 2],
    ckpt: Optional[str] = None,
):
    """Train a model.

    Args:
        data: Folder with the data.
        epochs: Passes over the data.
        amp: Mixed precision.
    """
    print(data)


if __name__ == "__main__":
    CLI(main)
