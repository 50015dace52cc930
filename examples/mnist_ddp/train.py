"""Learn to read handwritten digits, on as many processes as you like.

    python train.py                                 # one process
    torchrun --nproc-per-node=2 train.py            # two processes on this machine
    torchrun --nproc-per-node=2 train.py --help     # the options

The digits (1797 images of 8x8 pixels) come with scikit-learn: nothing is downloaded.
Needs: pip install torch scikit-learn tensorboard
"""

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the process group exists: see `main`
from sklearn.datasets import load_digits
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.functional import cross_entropy, max_pool2d, relu
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Subset, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler

LOG_EVERY = 5  # batches


def parse_args():
    parser = argparse.ArgumentParser(
        description="DDP training of a small convolutional network on handwritten digits.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--backend",
        choices=["auto", "gloo", "nccl"],
        default="auto",
        help="how processes talk to each other; auto: nccl on GPUs, gloo on CPUs",
    )
    parser.add_argument(
        "--log_dir",
        default=os.environ.get("T9KJOB_LOG_DIR") or "runs/mnist",
        help="directory for TensorBoard; what is in it is kept",
    )
    parser.add_argument("--save_path", default="model.pt", help="file that gets the trained weights")
    parser.add_argument("--epochs", type=int, default=60, help="passes over the training images")
    parser.add_argument("--batch_size", type=int, default=64, help="images per step, of all processes together")
    parser.add_argument("--lr", type=float, default=0.0005, help="learning rate at the start, falling to 0")
    parser.add_argument("--seed", type=int, default=1, help="seed of the split, the weights, the order")
    parser.add_argument("--no_cuda", action="store_true", help="use the CPU even where there are GPUs")
    return parser.parse_args()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.dense1 = nn.Linear(64 * 4 * 4, 64)
        self.dense2 = nn.Linear(64, 10)

    def forward(self, x):
        x = relu(self.conv1(x))
        x = max_pool2d(relu(self.conv2(x)), 2)  # 8x8 -> 4x4
        x = relu(self.dense1(torch.flatten(x, 1)))
        return self.dense2(x)  # logits: cross_entropy does the softmax


def log(message):
    if dist.get_rank() == 0:  # one speaks for all
        print(message, flush=True)  # at once, also into a file


def set_up(backend, no_cuda):
    """Join the other processes; returns the device of this one."""
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    gpus = 0 if no_cuda else torch.cuda.device_count()
    if gpus >= int(os.environ.get("LOCAL_WORLD_SIZE", 1)):  # a GPU for each process here
        device = torch.device("cuda", local_rank)
        torch.cuda.set_device(device)
    else:
        device = torch.device("cpu")
        torch.set_num_threads(1)  # a network this small gains nothing from more
    if backend == "auto":
        backend = "nccl" if device.type == "cuda" else "gloo"
    if "RANK" in os.environ:  # set by torchrun, as are WORLD_SIZE and the address
        dist.init_process_group(backend)
    else:  # plain `python train.py`: a world of one
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}: {backend} on {device}", flush=True)
    return device


def load_data(seed):
    """Images to train, validate and test with: the same in every process, as the seed is."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8 - 1  # -1 ... 1
    dataset = TensorDataset(images, torch.tensor(digits.target))
    return random_split(dataset, [1257, 180, 360], torch.Generator().manual_seed(seed))


def open_writer(log_dir):
    """TensorBoard's writer on rank 0, elsewhere None."""
    if dist.get_rank() != 0:
        return None
    try:  # training goes on without it
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        log("No curves will be written: tensorboard is missing (pip install tensorboard)")
        return None
    log(f"writing curves to {log_dir}")
    return SummaryWriter(log_dir)  # makes the directory, adds to one that exists


def write(writer, step, scalars):
    if writer:
        for name, value in scalars.items():
            writer.add_scalar(name, value, step)
        writer.flush()  # TensorBoard can show it at once


def train_epoch(epoch, epochs, model, loader, optimizer, device, writer):
    model.train()
    loader.sampler.set_epoch(epoch)  # another order in each epoch
    for batch, (images, targets) in enumerate(loader, 1):
        images, targets = images.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = cross_entropy(model(images), targets)
        loss.backward()  # DDP averages the gradients of all processes here
        optimizer.step()
        if batch % LOG_EVERY == 0 or batch == len(loader):
            mean = loss.detach().clone()
            dist.all_reduce(mean)  # every process takes part, one writes
            mean = mean.item() / dist.get_world_size()
            log(f"epoch {epoch}/{epochs}, batch {batch}/{len(loader)} with loss: {mean:.4f}")
            write(writer, (epoch - 1) * len(loader) + batch, {"train/loss": mean})


@torch.no_grad()
def evaluate(model, dataset, device):
    """Mean loss and accuracy over the dataset; each process does its share, no image twice.

    Shares may differ in length: so it is model.module here, not DDP, which must keep step.
    """
    model.eval()
    share = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
    sums = torch.zeros(3, device=device)  # loss, correct, images
    for images, targets in DataLoader(share, batch_size=256):
        images, targets = images.to(device), targets.to(device)
        logits = model.module(images)
        sums[0] += cross_entropy(logits, targets, reduction="sum")
        sums[1] += (logits.argmax(1) == targets).sum()
        sums[2] += len(targets)
    dist.all_reduce(sums)
    loss, correct, images = sums.tolist()
    return loss / images, correct / images


def save(model, path):
    temporary = path.with_name(path.name + ".tmp")
    torch.save(model.module.state_dict(), temporary)
    temporary.replace(path)  # a run cut short never leaves half a file
    log(f"model saved to {path}")


def train(args, device):
    torch.manual_seed(args.seed)
    save_path = Path(args.save_path)
    save_path.parent.mkdir(parents=True, exist_ok=True)  # fail now, not after the training
    writer = open_writer(args.log_dir)

    train_set, val_set, test_set = load_data(args.seed)
    batch_size = max(1, args.batch_size // dist.get_world_size())  # of this process
    loader = DataLoader(train_set, batch_size, sampler=DistributedSampler(train_set, seed=args.seed))
    model = DistributedDataParallel(Net().to(device))  # keeps the weights the same in all processes
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)

    for epoch in range(1, args.epochs + 1):
        train_epoch(epoch, args.epochs, model, loader, optimizer, device, writer)
        scheduler.step()
        loss, accuracy = evaluate(model, val_set, device)
        log(f"epoch {epoch}/{args.epochs} with val loss: {loss:.4f}, val accuracy: {accuracy:.4f}")
        write(writer, epoch * len(loader), {"val/loss": loss, "val/accuracy": accuracy})

    loss, accuracy = evaluate(model, test_set, device)
    log(f"test loss: {loss:.4f}, test accuracy: {accuracy:.4f}")
    write(writer, args.epochs * len(loader), {"test/loss": loss, "test/accuracy": accuracy})
    if writer:
        writer.close()
    if dist.get_rank() == 0:
        save(model, save_path)


@record  # hands a process's traceback to torchrun, which then reports the first that failed
def main():
    args = parse_args()
    device = set_up(args.backend, args.no_cuda)
    train(args, device)
    # Gloo's threads end here if nothing refers to the process group any more. If they still run when Python ends, the
    # process may crash ("terminate called without an active exception"). DDP's model refers to the group: it went with
    # `train`. So do default arguments in torch.distributed.nn if that is imported, as DDP does, once the group exists.
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
