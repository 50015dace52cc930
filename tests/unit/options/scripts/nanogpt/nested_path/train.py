import os

import torch

batch_size = 64
compile = True  # use PyTorch 2.0 to compile the model to be faster
device = "cuda" if torch.cuda.is_available() else "cpu"
max_iters = 5 * 1000
exec(open(os.path.join("tools", "configurator.py")).read())
print(batch_size)
