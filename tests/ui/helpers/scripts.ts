/** Scripts that do what a test needs, and start at once: none of them imports torch. */

/** Says how far it is, and waits until it is ended. */
export const COUNTS = `
import time
for epoch in range(1, 1001):
    print(f"epoch {epoch}/1000 with loss: {1 / epoch:.4f}", flush=True)
    time.sleep(0.1)
time.sleep(600)
`;

/** Says a word and ends. */
export const GREETS = `
print("Hello from a job")
`;

/** Saves a checkpoint, or resumes from one. */
export const SAVES = `
import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--out")
parser.add_argument("--resume")
args = parser.parse_args()
if args.resume:
    with open(args.resume) as file:
        print("resumed from", os.path.relpath(args.resume), file.read())
os.makedirs(os.path.dirname(args.out), exist_ok=True)
with open(args.out, "w") as file:
    file.write("weights")
`;

/** Says nothing until it is ended. */
export const SILENT = `
import time
time.sleep(600)
`;

/** Rank 1 fails in the middle of its lines; the others would go on. */
export const FAILS = `
import os
import time

rank = int(os.environ["RANK"])


def load(path):
    with open(path) as file:
        return file.read()


for step in range(1, 201):
    print(f"rank {rank}, step {step}/400 with loss: {1 / step:.4f}", flush=True)
if rank == 1:
    load("data/train.npz")
time.sleep(600)
`;

/** Four ranks that lose the network once, and then go on: all that a log can show. */
export const LOSES_NETWORK = `
import math
import os
import sys
import time
import warnings

rank = int(os.environ["RANK"])
first = not os.path.exists("lost-once")


def loss(epoch, batch):
    return 2.3 * math.exp(-(epoch - 1 + batch / 938) / 1.2) + 0.01 * rank + 0.05


def train(epoch, begin, end):
    for batch in range(begin, end + 1, 4):
        if batch % 100 == 0:
            print(f"epoch {epoch}/10, batch {batch}/938 with loss: {loss(epoch, batch):.4f}", flush=True)
        if first and rank == 2 and epoch == 2 and batch == 800:
            open("lost-once", "w").close()
            raise ConnectionResetError(104, "Connection reset by peer")
        time.sleep(0.002)


def bar(epoch):
    for batch in range(0, 939, 67):
        done = "█" * (batch * 20 // 938)
        text = f"epoch {epoch}: {batch * 100 // 938:3d}%|{done:20}| {batch}/938"
        print(f"\\r\\x1b[32m{text}\\x1b[0m", end="", flush=True)
        time.sleep(0.02)
    print(flush=True)


print(f"rank {rank} of 4: gloo on cpu", flush=True)
if rank == 1:
    warnings.warn("This DataLoader will create 8 worker processes in total; the suggested maximum is 2.")
if rank == 0 and not first:
    print("loaded checkpoint checkpoints/model.pt: epoch 2, val accuracy: 0.9530", flush=True)
for epoch in range(1 if first else 3, 4):
    train(epoch, 0, 936)
    if rank == 0:
        bar(epoch)
    print(f"epoch {epoch}/10 with val loss: {loss(epoch, 938) + 0.02:.4f}, val accuracy: 0.9718", flush=True)
train(4, 0, 412)
time.sleep(600)
`;

/** Writes the curves of a training, then ends. */
export const WRITES_CURVES = `
import math
import os
import time

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

writer = EventFileWriter(os.environ["T9KJOB_LOG_DIR"])
for step in range(0, 1200, 20):
    loss = 2.2 * math.exp(-step / 300) + 0.05 + 0.03 * math.sin(step)
    values = {
        "train/loss": loss,
        "val/loss": loss + 0.04,
        "val/accuracy": 1 - math.exp(-step / 200 - 0.3),
    }
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])
    writer.add_event(Event(step=step, wall_time=time.time(), summary=summary))
writer.close()
`;
