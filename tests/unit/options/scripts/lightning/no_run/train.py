import lightning as L
from lightning.pytorch.cli import LightningCLI


class Net(L.LightningModule):
    def __init__(self, depth: int = 3):
        super().__init__()


class MyCLI(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.add_argument("--notify", type=bool, default=False, help="send a message")


cli = MyCLI(Net, run=False, save_config_callback=None)
cli.trainer.fit(cli.model)
