import sys

import torch
from torchtune import config


@config.parse
def recipe_main(cfg):
    torch.distributed.init_process_group("cuda:nccl,cpu:gloo")


if __name__ == "__main__":
    sys.exit(recipe_main())
