import fire


def train(epochs=1):
    print(epochs)


if __name__ == "__main__":
    fire.Fire()
