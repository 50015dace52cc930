LR = 1e-4


def main(*, enable_fsdp: bool = True, lr: float = LR, output_dir: str = "out/" + "model", **kwargs):
    """
    Fine-tunes a model.

    :param lr: learning rate
    :param output_dir: where it is saved
    """
    print(enable_fsdp, lr, kwargs)
