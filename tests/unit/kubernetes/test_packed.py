"""Compressed objects of jobs."""

import pickle
from random import Random
from typing import Any

from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.engines.kubernetes.objects.compressed import ALIKE, SAMPLE_BYTES, Packer


def a_job(number: int) -> dict[str, Any]:
    env = [{"name": f"VARIABLE_{each}", "value": f"{each * 7919}"} for each in range(40)]
    return {"metadata": {"name": f"train-{number}", "uid": f"{number:036}"}, "spec": {"containers": [{"env": env}]}}


def test_unlike_values_come_back_as_they_were() -> None:
    values = [
        *(a_job(number) for number in range(3)),
        {"metadata": {"name": "ø \u202e 名"}, "none": None, "numbers": [0, -1, 2.5, 10**40]},
        {},
        {"long": "".join(chr(33 + each * each % 90) for each in range(3 * SAMPLE_BYTES))},
        JobSpec(name="train", entrypoint=Entrypoint(kind="script", value="/mnt/train.py")),
        a_job(3),
    ]
    packer = Packer[Any]()
    packed = [packer.pack(value) for value in values]
    assert [each.value for each in packed] == values
    assert packed[0].value is not packed[0].value


def test_what_is_like_the_first_is_small_whatever_came_between() -> None:
    packer = Packer[dict[str, Any]]()
    packer.pack(a_job(0))
    chance = Random(1)
    for _ in range(100):  # far more than is kept of them
        packer.pack({"unlike": chance.randbytes(SAMPLE_BYTES // 20)})
    whole = len(pickle.dumps(a_job(1), pickle.HIGHEST_PROTOCOL))
    assert ALIKE * len(packer.pack(a_job(1))) < whole
