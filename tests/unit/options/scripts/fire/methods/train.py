import fire


class Runner:
    """Trains and evaluates."""

    def __init__(self, config="base.yaml", gpu=0):
        self.config = config
        self.gpu = gpu

    def train(self, epochs=10, lr=0.1):
        """Train the model.

        Parameters
        ----------
        epochs : int
            Passes over the data.
        """
        print(epochs, lr)

    def evaluate(self, checkpoint):
        """Evaluate a checkpoint."""
        print(checkpoint)

    def _private(self):
        pass


if __name__ == "__main__":
    fire.Fire(Runner)
