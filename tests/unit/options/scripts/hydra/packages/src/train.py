import os

import hydra

CONFIG = "main"


@hydra.main("../conf", CONFIG)
def main(cfg):
    return cfg


if __name__ == "__main__":
    main()
