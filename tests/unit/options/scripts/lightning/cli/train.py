from lightning.pytorch import LightningDataModule, LightningModule
from lightning.pytorch.cli import LightningCLI


class Classifier(LightningModule):
    """Classifies images.

    Args:
        width: Channels of the first layer.
        lr: Learning rate.
    """

    def __init__(self, width: int = 32, lr: float = 1e-3, dropout: bool = False):
        super().__init__()
        self.save_hyperparameters()


class Images(LightningDataModule):
    def __init__(self, root: str, batch_size: int = 64):
        super().__init__()


def main():
    LightningCLI(Classifier, Images, seed_everything_default=42)


if __name__ == "__main__":
    main()
