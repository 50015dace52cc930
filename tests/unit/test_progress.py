"""Progress as training scripts really print it."""

from __future__ import annotations

import time

import pytest

from jupyterlab_t9kjob.core.progress import ProgressReader, Reading, rounded


def read(*pieces: str, step: float = 1.0) -> Reading | None:
    reader = ProgressReader()
    for number, piece in enumerate(pieces):
        reader.feed(piece.encode(), 1000.0 + number * step)
    return reader.reading


@pytest.mark.parametrize(
    ("line", "text", "fraction"),
    [
        ("epoch 2/10, batch 5/50 with loss: 0.2", "Epoch 2 of 10, batch 5 of 50", 0.11),
        ("Epoch [3/4], Step [100/200], Loss: 0.5", "Epoch 3 of 4, step 100 of 200", 0.625),
        ("step 411/3600 | loss 1.912", "Step 411 of 3\u202f600", 411 / 3600),
        ("Step: 1440 of 3600", "Step 1\u202f440 of 3\u202f600", 0.4),
        ("Epoch 3:", "Epoch 3", None),
        ("iter 10/20", "Step 10 of 20", 0.5),
        (" 37%|███▋      | 37/100 [00:12<00:20,  3.10it/s]", "Step 37 of 100", 0.37),
        ("Epoch 1/2:  50%|█████     | 5/10 [00:01<00:01, 4.9it/s]", "Epoch 1 of 2, step 5 of 10", 0.25),
        ("\x1b[32mepoch 1/4\x1b[0m", "Epoch 1 of 4", 0.25),
    ],
)
def test_lines(line: str, text: str, fraction: float | None) -> None:
    found = read(line + "\n")
    assert found is not None
    assert found.text == text
    assert found.fraction == (pytest.approx(fraction) if fraction is not None else None)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("Tokenizing:  37%|███▋      | 37/100 [00:12<00:20,  3.10it/s]\n", None),
        ("Map (num_proc=4): 100%|██████████| 100/100 [00:12<00:00]\n", None),
        ("step 5/10\nEvaluating:  50%|█████     | 5/8 [00:01<00:01, 4.9it/s]\n", "Step 5 of 10"),
        ("Epoch 2/4 validation: 50%|█████     | 5/8 [00:01<00:01, 4.9it/s]\n", "Epoch 2 of 4"),
    ],
)
def test_bars_of_preparation_and_evaluation_count_no_steps(lines: str, text: str | None) -> None:
    found = read(lines)
    assert (found and found.text) == text


def test_epochs_may_be_counted_from_zero() -> None:
    halves = [f"Epoch {epoch}/4, step {step}/2\n" for epoch in range(4) for step in (1, 2)]
    found = [read(*halves[: end + 1]) for end in range(len(halves))]
    assert [each and each.fraction for each in found] == [number / 8 for number in range(1, 9)]


@pytest.mark.parametrize(
    ("line", "metrics"),
    [
        ("Namespace(epochs=20, lr=0.1, loss='mse') loss=0.5", {}),
        ("args: TrainingArguments(learning_rate=5e-05, seed=1)", {}),
        ("learning_rate=5e-05,", {}),
        ("Metrics(loss=0.5, acc=0.9)", {"loss": 0.5, "acc": 0.9}),
        ("loss=0.5, lr=0.1", {"loss": 0.5, "lr": 0.1}),
        ("with loss: 0.25", {"loss": 0.25}),
        ("train_loss=1.9e-2 val acc: 93.2%", {"train_loss": 0.019, "val acc": 0.932}),
        ("{'loss': 0.4, 'learning_rate': 1e-5}", {"loss": 0.4, "learning_rate": 1e-5}),
        ("Test accuracy = 97.5 %", {"test accuracy": 0.975}),
        ("12:30:33 host: 10.0.0.1 port=1234 seed: 7", {}),
        ("loss: nan", {}),
    ],
)
def test_metrics(line: str, metrics: dict[str, float]) -> None:
    found = read("epoch 1/2\n" + line + "\n")
    assert found is not None
    assert found.metrics == pytest.approx(metrics)


@pytest.mark.parametrize(
    "line", ["", "ready", "listening on 10/20", "2026-11-21 step by step", "\x00\xff{}[]", "[" * 5000]
)
def test_what_is_no_progress(line: str) -> None:
    assert read(line + "\n") is None


def test_a_line_may_come_in_pieces() -> None:
    found = read("epo", "ch 1/4, ba", "tch 1/2\n")
    assert found is not None
    assert found.text == "Epoch 1 of 4, batch 1 of 2"


def test_a_bar_that_is_redrawn_counts_by_its_last_state() -> None:
    found = read(" 10%|█| 1/10 [00:01<00:09, 1.00it/s]\r 20%|██| 2/10 [00:02<00:08, 1.00it/s]")
    assert found is not None
    assert found.text == "Step 2 of 10"


def test_time_left_only_after_three_measured_steps() -> None:
    lines = [f"step {number}/100\n" for number in range(1, 12)]
    for count in (1, 2, 3):
        found = read(*lines[:count])
        assert found is not None
        assert (found.eta_seconds, found.rate) == (None, None)
    found = read(*lines)
    assert found is not None
    assert found.eta_seconds == 90.0
    assert found.rate == "1 step a second"


def test_a_run_that_begins_anew_is_measured_anew() -> None:
    found = read("step 90/100\n", "step 91/100\n", "step 1/100\n", "step 2/100\n")
    assert found is not None
    assert found.eta_seconds is None


def test_a_new_epoch_forgets_the_batch_of_the_last() -> None:
    found = read("epoch 1/2, batch 10/10\n", "epoch 2/2\n")
    assert found is not None
    assert found.text == "Epoch 2 of 2"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(1, 5), (13, 15), (119, 120), (200, 180), (3599, 3600), (7000, 6900), (9999, 9900)]
)
def test_rounding(seconds: float, shown: float) -> None:
    assert rounded(seconds) == shown


@pytest.mark.parametrize(
    "line",
    [
        "step " + "9" * 400 + "/1",
        "epoch " + "9" * 400 + "/" + "9" * 400,
        "epoch" + " " * 4000 + "x",
        "epoch" + " :" * 2000,
        "aB3d" * 1024,
        "a_" * 2048,
        "_1" * 2048,
        "a=1" * 1365,
        "loss" + " " * 4000,
        "loss=" + "1" * 4000,
        "loss=1" + "a:" * 2000,
        "train " * 680,
        "37%|" + "|" * 4000,
        "37%|" + " " * 2000 + "|" + " " * 2000,
    ],
)
def test_no_line_takes_long_or_fails(line: str) -> None:
    reader = ProgressReader()
    reader.feed(b"epoch 1/4\n", 1.0)
    began = time.process_time()
    for number in range(16):  # what is read at a time
        reader.feed(f"{line}\n".encode(), 2.0 + number)
    assert time.process_time() - began < 10
    assert reader.reading and reader.reading.text.startswith("Epoch 1")


def test_a_metric_is_a_number_that_json_has() -> None:
    reader = ProgressReader()
    reader.feed(b"epoch 1/4 loss=1e999 acc=0.5\n", 1.0)
    assert reader.reading and reader.reading.metrics == {"acc": 0.5}
