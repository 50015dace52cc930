from jsonargparse import auto_cli


def fit(epochs: int = 1, name: str = "run"):
    """Fit a model.

    Args:
        epochs: Passes.
    """


def test(checkpoint: str):
    """Test a model."""


if __name__ == "__main__":
    auto_cli([fit, test])
