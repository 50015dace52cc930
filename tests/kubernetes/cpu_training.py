"""DDP training that the seeds' manifests run, for a machine without GPUs or downloads."""

import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--backend", choices=["gloo", "nccl"])  # nccl has nothing to run on here
parser.add_argument("--log_dir", default="log")
parser.add_argument("--save_path")
args = parser.parse_args()

dist.init_process_group("gloo")
rank, world_size = dist.get_rank(), dist.get_world_size()
print(f"rank {rank} of {world_size}, local rank {os.environ.get('LOCAL_RANK')}\n", end="", flush=True)  # one write

torch.set_num_threads(1)
torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
writer = None
if rank == 0:
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(args.log_dir)
for step in range(20):
    inputs = torch.randn(32, 8)
    loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if writer:
        writer.add_scalar("train/loss", loss.item(), step)

everywhere = [torch.zeros(8) for _ in range(world_size)]
dist.all_gather(everywhere, model.module.weight.detach().flatten())
assert all(torch.equal(everywhere[0], weights) for weights in everywhere)
if rank == 0:
    writer.close()
    if args.save_path:
        torch.save(model.module.state_dict(), args.save_path)
    print(f"trained on {world_size}", flush=True)
dist.barrier()
dist.destroy_process_group()
os._exit(0)  # gloo's threads may still let go of tensors, for which Python must not have begun to end (pytorch#179291)
