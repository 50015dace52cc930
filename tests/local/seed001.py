# ruff: noqa: N812, N817, PTH103, PTH118
"""The script of T9k's page on recording a training, put together from its parts, with a few random digits for MNIST."""

import logging
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from t9k import em
from torch.nn.parallel import DistributedDataParallel as DDP

logging.basicConfig(format="%(message)s", level=logging.INFO)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, hparams["conv_channels1"], hparams["conv_kernel_size"], 1)
        self.conv2 = nn.Conv2d(hparams["conv_channels1"], hparams["conv_channels2"], hparams["conv_kernel_size"], 1)
        self.conv3 = nn.Conv2d(hparams["conv_channels2"], hparams["conv_channels3"], hparams["conv_kernel_size"], 1)
        self.pool = nn.MaxPool2d(hparams["maxpool_size"], hparams["maxpool_size"])
        self.dense1 = nn.Linear(576, hparams["linear_features1"])
        self.dense2 = nn.Linear(hparams["linear_features1"], 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = F.relu(self.conv3(x))
        x = F.relu(self.dense1(torch.flatten(x, 1)))
        return F.softmax(self.dense2(x), dim=1)


def train(scheduler):
    global global_step
    for epoch in range(1, epochs + 1):
        model.train()
        for step, (data, target) in enumerate(train_loader, 1):
            optimizer.zero_grad()
            loss = criterion(model(data), target)
            loss.backward()
            optimizer.step()
            global_step = (epoch - 1) * steps_per_epoch + step
            if rank == 0:
                run.log(type="train", metrics={"loss": loss.item()}, step=global_step, epoch=epoch)
        scheduler.step()
        test(val=True, epoch=epoch)


def test(val=False, epoch=None):
    label = "val" if val else "test"
    model.eval()
    running_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in train_loader:
            output = model(data)
            running_loss += criterion(output, target).item()
            correct += (output.max(1)[1] == target).sum().item()
    test_loss = running_loss / len(train_loader)
    test_accuracy = correct / len(train_loader.dataset)
    logging.info(f"{label} loss: {test_loss:.4f}, {label} accuracy: {test_accuracy:.4f}")
    if rank == 0:
        run.log(type=label, metrics={"loss": test_loss, "accuracy": test_accuracy}, step=global_step, epoch=epoch)


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group(backend="gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    hparams = {
        "batch_size": 8 * world_size,
        "epochs": 2,
        "learning_rate": 0.001 * world_size,
        "learning_rate_decay_period": 1,
        "learning_rate_decay_factor": 0.7,
        "conv_channels1": 32,
        "conv_channels2": 64,
        "conv_channels3": 64,
        "conv_kernel_size": 3,
        "maxpool_size": 2,
        "linear_features1": 64,
        "seed": 1,
    }
    if rank == 0:
        run = em.create_run(name="mnist_torch_distributed", hparams=hparams)
    torch.manual_seed(hparams["seed"])
    model = DDP(Net())
    if rank == 0:
        run.hparams.parse(dist_torch_model=model)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=hparams["learning_rate"])
    scheduler = optim.lr_scheduler.StepLR(
        optimizer, step_size=hparams["learning_rate_decay_period"], gamma=hparams["learning_rate_decay_factor"]
    )
    dataset = torch.utils.data.TensorDataset(torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,)))
    train_loader = torch.utils.data.DataLoader(dataset, batch_size=hparams["batch_size"], shuffle=True)
    global_step, epochs, steps_per_epoch = 0, hparams["epochs"], len(train_loader)
    train(scheduler)
    test()
    if rank == 0:
        path = os.path.join(os.environ["T9KJOB_LOG_DIR"], "model_state_dict.pt")
        os.makedirs(os.environ["T9KJOB_LOG_DIR"], exist_ok=True)
        torch.save(model.state_dict(), path)
        model_artifact = em.create_artifact(name="mnist_torch_saved_model")
        model_artifact.add_file(path)
        run.mark_output(model_artifact)
        run.finish()
        em.login()
        run.upload(folder="em-examples", make_folder=True)
    dist.destroy_process_group()
