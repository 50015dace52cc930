"""Parameters and environment of runs of jobs without recorder."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import Entrypoint, EnvVar, JobSpec
from jupyterlab_t9kjob.experiments.of_jobs.job_facts import facts_of
from jupyterlab_t9kjob.secret_values import MASK


def job(args: list[str], env: dict[str, str]) -> Job:
    variables = [EnvVar(name=name, value=value) for name, value in env.items()]
    return Job(
        id="local::a:u", engine="local", namespace="", name="a", uid="u", phase="Running", created_at=1.0, command=[],
        spec=JobSpec(name="a", entrypoint=Entrypoint(value="/w/train.py"), args=args, env=variables),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("--lr 0.1 --data=/x -b -8 --amp", {"lr": 0.1, "data": "/x", "b": -8, "amp": True}),
        # What follows the value of an option is an argument of its own.
        ("--epochs 5 --lr 0.1 /data/imagenet", {"epochs": 5, "lr": 0.1, "arguments": "/data/imagenet"}),
        ("resnet50 --model vit a b --lr 1", {"model": "vit", "lr": 1, "arguments": "resnet50 a b"}),
        ("--lr 0.1 -- --data 5", {"lr": 0.1, "arguments": "--data 5"}),
        ("--betas 0.9 0.999 train", {"betas": "0.9 0.999", "arguments": "train"}),
        (
            "--config-name big model.depth=3 +opt/name=adam",
            {"config-name": "big", "model.depth": 3, "opt/name": "adam"},
        ),
        ("--lr 0.1 s3://bucket/x?y=1", {"lr": 0.1, "arguments": "s3://bucket/x?y=1"}),
    ],
)
def test_arguments_become_parameters(line: str, wanted: dict[str, Any]) -> None:
    assert facts_of(job(line.split(), {})).parameters == wanted


def test_only_what_looks_like_a_secret_is_masked() -> None:
    line = "--max-tokens 2048 --tokenizer gpt2 --author me --pad_token_id 50256 --use-auth true --token-file /run/token"
    assert facts_of(job(line.split(), {})).parameters == {
        "max-tokens": 2048,
        "tokenizer": "gpt2",
        "author": "me",
        "pad_token_id": 50256,
        "use-auth": True,
        "token-file": "/run/token",
    }
    key = "sk-" + "a" * 24
    line = f"--api-key hidden --hf_token=hidden hub.token=hidden --apiKey hidden --note {key} {key}"
    names = ("api-key", "hf_token", "hub.token", "apiKey", "note", "arguments")
    assert facts_of(job(line.split(), {})).parameters == dict.fromkeys(names, MASK)


def test_variables_with_secrets_keep_their_names() -> None:
    variables = {"HF_TOKEN": "hidden", "PGPASSWORD": "hidden", "TOKENIZERS_PARALLELISM": "false", "AUTHOR": "me"}
    environment = facts_of(job([], variables)).environment
    assert {name[4:]: value for name, value in environment.items() if name.startswith("env.")} == {
        "HF_TOKEN": MASK,
        "PGPASSWORD": MASK,
        "TOKENIZERS_PARALLELISM": "false",
        "AUTHOR": "me",
    }
