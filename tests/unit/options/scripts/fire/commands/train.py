import fire


def prepare(source, shards=16):
    """Write the shards."""


def fit(steps: int = 1000, amp=True):
    """Train."""


if __name__ == "__main__":
    fire.Fire({"prepare": prepare, "fit": fit})
