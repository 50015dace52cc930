"""`autolog` and the callbacks. The frameworks' objects are stand-ins with the attributes that the callbacks read."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.em.autolog import place_of
from jupyterlab_t9kjob.em.keras import EMEvalCallback, EMFitCallback
from jupyterlab_t9kjob.em.lightning import EMCallback as LightningCallback
from jupyterlab_t9kjob.em.load import read_mapping
from jupyterlab_t9kjob.em.transformers import EMCallback as TrainerCallback
from jupyterlab_t9kjob.secret_values import MASK

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> em.Run:
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv("EM_RUN_PARENT_DIR", str(tmp_path / "runs"))
    return em.create_run(name="a")


def logged(run: em.Run) -> dict[str, list]:
    return {
        kind: [(item["value"], item["sequence"]["step"], item["sequence"]["epoch"]) for item in items]
        for kind, items in run.metrics.items()
    }


def test_lightning(run: em.Run) -> None:
    trainer = SimpleNamespace(
        log_every_n_steps=10,
        is_global_zero=True,
        sanity_checking=True,
        global_step=0,
        current_epoch=0,
        logged_metrics={},
        callback_metrics={"val_loss": 9.0},
    )
    callback = LightningCallback(run)
    callback.on_fit_start(trainer, SimpleNamespace(hparams={"lr": 0.1, "layer": math.sqrt, "hub_token": "hidden"}))
    callback.on_validation_end(trainer, None)
    trainer.sanity_checking = False
    # Lightning keeps the last value of each metric in both mappings.
    for step, loss in ((7, 0.6), (10, 0.5)):
        trainer.global_step = step
        trainer.logged_metrics = {"train_loss_step": loss}
        callback.on_train_batch_end(trainer, None, None, None, step - 1)
    trainer.callback_metrics = {"train_loss": 0.5, "train_loss_step": 0.5, "val_loss": 0.3, "score": 0.7, "note": "x"}
    callback.on_validation_end(trainer, None)
    trainer.callback_metrics = {**trainer.callback_metrics, "train_loss_epoch": 0.55, "train_acc": 0.8}
    callback.on_train_epoch_end(trainer, None)
    trainer.global_step, trainer.current_epoch = 20, 1
    trainer.logged_metrics = {**trainer.callback_metrics, "train_loss_step": 0.4}
    callback.on_train_batch_end(trainer, None, None, None, 9)
    trainer.callback_metrics = {"test_acc": 0.9}
    callback.on_test_epoch_end(trainer, None)
    trainer.is_global_zero = False
    callback.on_test_epoch_end(trainer, None)
    assert callback.on_exception(trainer, None, None) is None  # hooks that it lacks
    assert (run.hparams["lr"], run.hparams["hub_token"]) == (0.1, MASK)
    assert logged(run) == {
        "train": [({"loss": 0.5}, 10, 1), ({"loss_epoch": 0.55, "acc": 0.8}, 10, 1), ({"loss": 0.4}, 20, 2)],
        "val": [({"loss": 0.3, "score": 0.7}, 10, 1)],
        "test": [({"acc": 0.9}, 20, 2)],
    }


def test_hugging_face_trainer(run: em.Run) -> None:
    callback = TrainerCallback(run)
    args = SimpleNamespace(to_sanitized_dict=lambda: {"learning_rate": 0.1, "output_dir": Path("x")})
    state = SimpleNamespace(is_world_process_zero=True, global_step=20)
    callback.on_train_begin(args, state, None, model=None)
    callback.on_log(args, state, None, logs={"loss": 1.0, "learning_rate": 0.1, "epoch": 0.5})
    callback.on_log(args, state, None, logs={"eval_loss": 2.0, "epoch": 1.0})
    callback.on_log(args, state, None, logs={"train_runtime": 3.0, "train_loss": 0.5, "epoch": 1.0})
    state.is_world_process_zero = False
    callback.on_log(args, state, None, logs={"loss": 9.0})
    assert dict(run.hparams) == {"learning_rate": 0.1, "output_dir": "x"}
    assert logged(run) == {
        "train": [({"loss": 1.0, "learning_rate": 0.1}, 20, 0.5)],
        "val": [({"loss": 2.0}, 20, 1.0)],
        "summary": [({"train_runtime": 3.0, "train_loss": 0.5}, 20, 1.0)],
    }


def test_keras(run: em.Run) -> None:
    optimizer = SimpleNamespace(get_config=lambda: {"name": "adam", "lr": 0.1}, iterations=5)
    model = SimpleNamespace(optimizer=optimizer, loss="mse")
    fit, evaluate = EMFitCallback(run), EMEvalCallback(run)
    fit.model = evaluate.model = model
    fit.on_train_begin()
    fit.on_epoch_end(0, {"loss": 1.0, "val_loss": 2.0})
    evaluate.on_test_end({"loss": 3.0})
    assert dict(run.hparams) == {"optimizer": {"name": "adam", "lr": 0.1}, "lossType": "mse"}
    assert logged(run) == {
        "train": [({"loss": 1.0}, 5, 1)],
        "val": [({"loss": 2.0}, 5, 1)],
        "test": [({"loss": 3.0}, 5, None)],
    }


@pytest.mark.parametrize(
    ("tag", "place"),
    [
        ("train/loss", ("train", "loss")),
        ("Loss/train", ("train", "Loss")),
        ("Accuracy/top1/Validation", ("val", "Accuracy/top1")),
        ("loss", ("train", "loss")),
        ("optimizer/lr/0", ("train", "optimizer/lr/0")),
        ("h.0.attn/grad_norm", ("train", "h.0.attn/grad_norm")),
        ("eval/loss", ("test", "loss")),
        ("/", ("train", "/")),
    ],
)
def test_types_of_tags(tag: str, place: tuple[str, str]) -> None:
    assert place_of(tag) == place


SCRIPT = """
import argparse
from jupyterlab_t9kjob import em
run = em.autolog()
assert em.autolog() is run
from torch.utils.tensorboard import SummaryWriter
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--size", type=complex, default=1j)
parser.set_defaults(command=print)
args = parser.parse_args()
with SummaryWriter("events") as writer:
    writer.add_scalar("train/loss", 1.5, 3)
    writer.add_scalar("train/loss", 1.0, global_step=4)
    writer.add_scalars("Accuracy", {"val": 0.5}, 4)
"""


def run_script(folder: Path, content: str, *arguments: str) -> tuple[Path, int]:
    """Run a script; return the folder of its run, and its exit code."""
    (folder / "my-train.py").write_text(content)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("EM_", "RANK", "T9KJOB"))}
    command = [sys.executable, "my-train.py", *arguments]
    done = subprocess.run(command, cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)}, check=False)
    [run] = (folder / ".em/runs").iterdir()
    return run, done.returncode


def test_autolog_records_options_and_scalars(tmp_path: Path) -> None:
    folder, code = run_script(tmp_path, SCRIPT, "--lr", "0.5")
    assert code == 0
    assert folder.name.startswith("my_train_")
    assert read_mapping(folder / "hyperparameters.yaml") == {"lr": 0.5, "size": "1j"}
    assert read_mapping(folder / "metadata.yaml")["status"] == "Complete"
    index = read_mapping(folder / "index.yaml")["metrics"]
    assert sorted(index) == ["train", "val"]
    train = (folder / index["train"]).read_text()
    assert train.count("- value:\n    loss:") == 2
    assert list((tmp_path / "events").glob("events.out.tfevents.*"))


@pytest.mark.parametrize(
    ("ending", "code", "status"),
    [
        ("", 0, "Complete"),
        ("sys.exit()", 0, "Complete"),
        ("exit(0)", 0, "Complete"),
        ("raise SystemExit", 0, "Complete"),
        ("sys.exit(1)", 1, "Error"),
        ("exit(1)", 1, "Error"),
        ("quit('bad')", 1, "Error"),
        ("leave(3)", 3, "Error"),
        ("1 / 0", 1, "Error"),
    ],
)
def test_autolog_ends_the_run_as_the_script_ends(tmp_path: Path, ending: str, code: int, status: str) -> None:
    begin = "import sys\nfrom sys import exit as leave\nfrom jupyterlab_t9kjob import em\nem.autolog()\n"
    folder, left = run_script(tmp_path, begin + ending)
    assert (left, read_mapping(folder / "metadata.yaml")["status"]) == (code, status)


SECRETS = """
import argparse
from jupyterlab_t9kjob import em
em.autolog()
parser = argparse.ArgumentParser()
for name in ("--api-key", "--hf_token", "--tokenizer"):
    parser.add_argument(name)
parser.add_argument("--max-tokens", type=int)
parser.set_defaults(hub={"token": "hidden", "name": "x"})
parser.parse_args()
"""


def test_autolog_masks_secrets(tmp_path: Path) -> None:
    arguments = ("--api-key", "hidden", "--hf_token", "hidden", "--tokenizer", "gpt2", "--max-tokens", "2048")
    folder, _code = run_script(tmp_path, SECRETS, *arguments)
    assert read_mapping(folder / "hyperparameters.yaml") == {
        "api_key": MASK,
        "hf_token": MASK,
        "tokenizer": "gpt2",
        "max_tokens": 2048,
        "hub": {"token": MASK, "name": "x"},
    }
