from typing import Literal, Optional, Tuple

import tyro


def main(
    data: str,
    batch_size: int = 32,
    lr: float = 1e-3,
    optimizer: Literal["adam", "sgd"] = "adam",
    amp: bool = False,
    compile_model: bool = True,
    size: Tuple[int, int] = (224, 224),
    ckpt: Optional[str] = None,
) -> None:
    """Train a model.

    Args:
        data: Folder with the data.
        batch_size: Examples per step.
        amp: Mixed precision.
    """
    print(data)


if __name__ == "__main__":
    tyro.cli(main)
