"""The median rule of sweeps, and the metrics that it reads."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.evictions.model import Continuation
from jupyterlab_t9kjob.core.job import JobSummary, LogStream
from jupyterlab_t9kjob.core.log_sources import LogFile
from jupyterlab_t9kjob.core.sweep import MedianRule
from jupyterlab_t9kjob.jobs.metrics.reader import LineMetrics, Metrics
from jupyterlab_t9kjob.jobs.sweeps.median_rule import verdict_on, without_continued
from jupyterlab_t9kjob.tensorboard.scalars import Scalars

NAN = math.nan


def metrics(*values: float, every: int = 10, of: Any = "step") -> Metrics:
    return Metrics(of, {"loss": {every * number: value for number, value in enumerate(values, 1)}})


OTHERS = [metrics(4, 3, 2, 1), metrics(5, 4, 3), metrics(6, 5, 4)]  # averages at step 30: 3, 4, 5


@pytest.mark.parametrize(
    ("own", "others", "rule", "verdict"),
    [
        (metrics(9, 8, 7), OTHERS, {}, ("7", "4", 30)),
        (metrics(9, 3, 7), OTHERS, {}, None),  # its best value counts
        (metrics(9, 4, 7), OTHERS, {}, None),  # as good as the median
        (metrics(9, 8, 7), OTHERS, {"after": 31}, None),
        (metrics(9, 8, 7), OTHERS, {"after": 30}, ("7", "4", 30)),
        (metrics(9, 8, 7), OTHERS, {"least_jobs": 4}, None),
        (metrics(9, 8, 7, 6), OTHERS, {}, None),  # only one other job has reached step 40
        (metrics(9, 8, 7, 6), OTHERS, {"least_jobs": 1}, ("6", "2.5", 40)),
        (metrics(9), OTHERS, {}, ("9", "5", 10)),
        (metrics(1, 2, 3), OTHERS, {"goal": "maximize"}, ("3", "4", 30)),
        (metrics(1, 5, 3), OTHERS, {"goal": "maximize"}, None),
        (metrics(NAN, NAN), OTHERS, {}, ("NaN", "4.5", 20)),
        (metrics(3, NAN), OTHERS, {}, None),
        (metrics(9, 8, 7), [*OTHERS, metrics(NAN, NAN, NAN)], {}, ("7", "4", 30)),
        (metrics(9, 8, 7), OTHERS, {"metric": "accuracy"}, None),
        (metrics(9, 8, 7, of="report"), OTHERS, {}, None),  # steps and reports do not compare
        (metrics(), OTHERS, {}, None),
        (metrics(9, 8, 7), [], {"least_jobs": 1}, None),
    ],
)
def test_verdicts(
    own: Metrics, others: list[Metrics], rule: dict[str, Any], verdict: tuple[str, str, int] | None
) -> None:
    found = verdict_on(own, others, MedianRule.model_validate({"metric": "loss", **rule}))
    assert (found and (found.value, found.median, found.step)) == verdict


def job(ident: str, continued_by: str | None = None, **continuation: Any) -> JobSummary:
    """Return a job that another one continues, or that none does."""
    place = {"engine": "kubeflow", "namespace": "n", "name": ident, "uid": ident, "phase": "Failed"}
    followed = Continuation(job=continued_by, **continuation) if continued_by or continuation else None
    return JobSummary(id=ident, created_at=1.0, continuation=followed, **place)


def test_a_job_that_continues_an_evicted_one_counts_as_one_job_with_it() -> None:
    jobs = [
        *(job("a", "b"), job("b", "c"), job("c"), job("x", problem="No checkpoint.")),
        *(job("y", "gone"), job("p", "q"), job("q"), job("r", "r")),
    ]
    steps = [
        Metrics("step", {"loss": {10: 9.0, 20: 8.0, 30: 7.0}, "acc": {10: 0.1}}),
        Metrics("step", {"loss": {25: 7.5, 35: 6.0}}),
        Metrics("step", {}),
        *(metrics(1), metrics(2), metrics(3, 4, of="report"), metrics(5, of="report"), metrics(6)),
    ]
    found, joined = without_continued(jobs, steps)
    assert [each.id for each in found] == ["c", "x", "y", "q"]
    assert joined[0].series == {"loss": {10: 9.0, 20: 8.0, 25: 7.5, 35: 6.0}, "acc": {10: 0.1}}
    assert joined[1:] == [metrics(1), metrics(2), metrics(5, of="report")]


def test_a_metric_is_found_by_its_name_or_without_its_folder() -> None:
    found = Metrics("step", {"train/loss": {1: 1.0}, "val/loss": {1: 2.0}, "val/Acc": {1: 3.0}})
    assert found.find("val/loss") == {1: 2.0} and found.find("acc") == {1: 3.0} and found.find("loss") == {}


def test_metrics_of_a_log_are_counted_as_it_grows(tmp_path: Path) -> None:
    stream = LogStream(id="a", replica="worker-0", attempt=1, source="rank", size=0)
    reader, file = LineMetrics(), LogFile(stream, tmp_path / "log", None)
    for text in ("epoch 1 loss=0.5, acc=80%\nepoch 2 lo", "ss=0.25\n", "epoch 3 loss=nan\r"):
        with file.path.open("a") as opened:
            opened.write(text)
        reader.read([file])
    assert reader.series == {"loss": {1: 0.5, 2: 0.25}, "acc": {1: 0.8}}


def test_scalars_of_event_files_are_read_on(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    top, below = EventFileWriter(str(tmp_path)), EventFileWriter(str(tmp_path / "val"))
    scalars = Scalars()
    for step in (1, 2):
        value = Summary.Value(tag="loss", simple_value=0.5 * step)
        tensor = TensorProto(dtype=1, float_val=[2.0 * step])
        top.add_event(Event(step=step, summary=Summary(value=[value, Summary.Value(tag="t", tensor=tensor)])))
        below.add_event(Event(step=step, summary=Summary(value=[value])))
        top.flush()
        below.flush()
        scalars.read([tmp_path])
        assert max(scalars.series["loss"]) == step and scalars.complete
    assert scalars.series == {"loss": {1: 0.5, 2: 1.0}, "t": {1: 2.0, 2: 4.0}, "val/loss": {1: 0.5, 2: 1.0}}
    (tmp_path / "events.tfevents.bad").write_bytes(b"\xff" * 100)
    scalars.read([tmp_path])
    assert len(scalars.series) == 3
