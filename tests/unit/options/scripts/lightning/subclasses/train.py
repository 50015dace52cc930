from lightning.pytorch.cli import LightningCLI


class Command(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.link_arguments("data.init_args.batch_size", "model.init_args.batch_size")


if __name__ == "__main__":
    Command(model_class=None, datamodule_class=None, run=False)
