"""Reads the progress of a training run from the lines of its log: epochs, steps, rate and metrics.

The supervisor of local jobs uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field

from .translation import Text, _, _n

_LONGEST_LINE = 4096
_MEASURED_STEPS = 3

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# A log can hold anything: patterns take linear time at most, and counts are small enough for floats.
_AMOUNT = r"\d{1,15}(?!\d)"
# tqdm: "Epoch 2:  37%|███▋      | 37/100 [00:12<00:20,  3.10it/s, loss=0.3]"
_TQDM = re.compile(rf"(?:^|\s)\d{{1,3}}%\|[^|]*\|\s*(?P<done>{_AMOUNT})/(?P<total>{_AMOUNT})")
_COUNT = re.compile(
    r"\b(?P<unit>epoch|step|batch|iter(?:ation)?|global[_ ]step)s?"
    rf"\s*(?:[:=#]\s*)?(?:[\[(]\s*)?(?P<done>{_AMOUNT})(?:\s*(?:/|of)\s*(?P<total>{_AMOUNT}))?",
    re.IGNORECASE,
)
# Bars of downloads and of the preparation of data, which count no training steps.
_PREPARATION = re.compile(
    r"\b(cach|download|extract|fetch|filter|generat|load|map|pack|prepar|preprocess|read|resolv|sav|tokeniz|unpack|val|eval)",
    re.IGNORECASE,
)
_METRIC = re.compile(
    r"(?<![\w@./-])(?:(?![A-Za-z])[\w@./-])*"  # Only at the beginning of a word.
    r"(?P<name>(?:(?:train(?:ing)?|val(?:id(?:ation)?)?|test|eval|best|final|mean|average|avg)[ _/-])?"
    rf"[A-Za-z][\w@./-]*)['\"]?\s*[:=]\s*(?P<value>{_NUMBER})(?P<percent>\s?%)?(?![\w:.%/]*[\d:/])",
    re.IGNORECASE,
)
_METRIC_NAMES = re.compile(
    r"(^|[_ ./-])(loss|acc|accuracy|error|f1|auc|bleu|rouge|ppl|perplexity|precision|recall|mae"
    r"|mse|rmse|iou|map|score|reward|lr|learning_rate)([@_\d]*$|$)",
    re.IGNORECASE,
)
_SETTINGS = re.compile(
    r"\b\w*(?:Namespace|Args|Arguments|Config|Configuration|Options|Params|Parameters|Settings)\(\w+=.*"
    r"|^\s*\w+=[^\s,]+,\s*$"  # A line of such a value that is printed over many lines.
)
"""Printed arguments, whose values look like metrics."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True)
class Reading:
    """Progress that a log reports; the fields are those of `core.job.Progress`."""

    text: Text
    fraction: float | None
    rate: Text | None
    eta_seconds: float | None
    metrics: dict[str, float]
    updated_at: float


@dataclass
class _Counter:
    done: int
    total: int | None


@dataclass
class ProgressReader:
    """Reads progress from a log as it grows.

    `feed` takes each new piece of the log; `reading` is the newest progress, or None.
    """

    reading: Reading | None = None
    _rest: bytes = b""
    _epoch: _Counter | None = None
    _step: _Counter | None = None
    _step_unit: str = "Step"
    _counts_from_zero: bool = False
    _metrics: dict[str, float] = field(default_factory=dict)
    _measured: list[tuple[float, float]] = field(default_factory=list)

    def feed(self, data: bytes, now: float | None = None) -> None:
        """Read the next bytes of the log.

        Parameters
        ----------
        data
            Bytes that follow those of the last call.
        now
            When they were written, in seconds since the epoch; None for the current time.
        """
        lines = re.split(rb"[\r\n]", self._rest + data)
        self._rest = lines.pop()[-_LONGEST_LINE:]
        # A progress bar at the end of the log has no line end yet; it is complete if it ends with "]".
        if self._rest.rstrip().endswith(b"]"):
            lines.append(self._rest)
        when = time.time() if now is None else now
        seen = False
        for line in lines:
            text = _ANSI.sub("", line[:_LONGEST_LINE].decode(errors="replace"))
            seen = self._read_line(text) or seen
        if seen:
            self._measure(when)
            self.reading = self._summary(when)

    def _read_line(self, text: str) -> bool:
        bar = _TQDM.search(text)
        metrics = metrics_in(text)
        found = False
        if bar is not None and not _PREPARATION.search(text[: bar.start()]):
            self._step = _Counter(int(bar["done"]), int(bar["total"]))
            self._step_unit = "Step"
            found = True
        for match in _COUNT.finditer(text[: bar.start()] if bar else text):
            unit = match["unit"].lower()
            total = int(match["total"]) if match["total"] else None
            counter = _Counter(int(match["done"]), total)
            if unit == "epoch":
                if self._epoch is not None and self._epoch.done != counter.done and not bar:
                    self._step = None
                if total is None and self._epoch is not None:
                    counter.total = self._epoch.total
                self._epoch = counter
                self._counts_from_zero |= counter.done == 0
                found = True
            elif total is not None and bar is None:
                self._step = counter
                self._step_unit = "Batch" if unit == "batch" else "Step"
                found = True
        if metrics:
            self._metrics.update(metrics)
        return found or bool(metrics and (self._epoch or self._step))

    def _fraction(self) -> float | None:
        step = _share(self._step)
        epoch = self._epoch
        if epoch is None or epoch.total is None:
            # Without the number of epochs, a bar that starts again does not show the progress of the run.
            return step if epoch is None else None
        if self._step is None:
            return min(1.0, epoch.done / epoch.total) if epoch.total else None
        before = epoch.done if self._counts_from_zero else max(0, epoch.done - 1)
        passed = before + (step or 0.0)
        return min(1.0, passed / epoch.total) if epoch.total else None

    def _measure(self, now: float) -> None:
        fraction = self._fraction()
        if fraction is None:
            self._measured.clear()
            return
        if self._measured and fraction < self._measured[-1][1]:
            self._measured.clear()
        if not self._measured or fraction > self._measured[-1][1]:
            self._measured.append((now, fraction))
            # The rate is the average since the first measurement, which is kept.
            del self._measured[1:-50]

    def _eta(self) -> float | None:
        if len(self._measured) <= _MEASURED_STEPS:
            return None
        (start, first), (now, last) = self._measured[0], self._measured[-1]
        if now <= start or last >= 1:
            return None
        return rounded((now - start) / (last - first) * (1 - last))

    def _rate(self) -> Text | None:
        if len(self._measured) <= _MEASURED_STEPS or self._step is None or not self._step.total:
            return None
        (start, first), (now, last) = self._measured[0], self._measured[-1]
        if now <= start:
            return None
        epochs = self._epoch.total if self._epoch and self._epoch.total else 1
        rate = (last - first) * epochs * self._step.total / (now - start)
        return _rate_text(rate, in_batches=self._step_unit == "Batch")

    def _summary(self, now: float) -> Reading | None:
        text = _progress_text(self._epoch, self._step, in_batches=self._step_unit == "Batch")
        if text is None:
            return None
        return Reading(
            text=text,
            fraction=self._fraction(),
            rate=self._rate(),
            eta_seconds=self._eta(),
            metrics=dict(self._metrics),
            updated_at=now,
        )


class StepCounter:
    """Counts the training steps that a log reports. The count is never higher than the number of steps that ran.

    The first report counts as one step, because a training that was resumed begins with a high number.
    """

    def __init__(self) -> None:
        self.steps = 0
        self._last: int | None = None
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Read the next bytes of the log."""
        lines = re.split(rb"[\r\n]", self._rest + data)
        self._rest = lines.pop()[-_LONGEST_LINE:]
        for line in lines:
            done = _step_in(_ANSI.sub("", line[:_LONGEST_LINE].decode(errors="replace")))
            if done is not None:
                before, self._last = self._last, done
                # A lower number begins the next epoch.
                self.steps += min(done, 1) if before is None or done < before else done - before


def _step_in(text: str) -> int | None:
    """Return the number of the step that a line reports; None if it reports none."""
    bar = _TQDM.search(text)
    if bar is not None:
        return None if _PREPARATION.search(text[: bar.start()]) else int(bar["done"])
    counts = [int(match["done"]) for match in _COUNT.finditer(text) if match["unit"].lower() != "epoch"]
    return counts[-1] if counts else None


def rounded(seconds: float) -> float:
    """Round a remaining time (seconds): below 2 min to 5 s, below 1 h to 1 min, otherwise to 5 min."""
    step = 5 if seconds < 120 else 60 if seconds < 3600 else 300
    return float(max(step, round(seconds / step) * step))


def _progress_text(epoch: _Counter | None, step: _Counter | None, *, in_batches: bool) -> Text | None:
    """Return “Epoch 4 of 10, batch 412 of 938”; None without counters."""
    if epoch is None:
        return None if step is None else _step_text(step, in_batches=in_batches)
    done, total = _grouped(epoch.done), _grouped(epoch.total or 0)
    if step is None:
        if epoch.total is None:
            return _("Epoch {epoch}", epoch=done)
        return _("Epoch {epoch} of {epochs}", epoch=done, epochs=total)
    at, steps = _grouped(step.done), _grouped(step.total or 0)
    match epoch.total is None, in_batches:
        case True, True:
            return _("Epoch {epoch}, batch {batch} of {batches}", epoch=done, batch=at, batches=steps)
        case True, False:
            return _("Epoch {epoch}, step {step} of {steps}", epoch=done, step=at, steps=steps)
        case False, True:
            return _(
                "Epoch {epoch} of {epochs}, batch {batch} of {batches}",
                epoch=done,
                epochs=total,
                batch=at,
                batches=steps,
            )
    return _("Epoch {epoch} of {epochs}, step {step} of {steps}", epoch=done, epochs=total, step=at, steps=steps)


def is_last_of_unit(text: Text) -> bool:
    """Return True if a progress text names the last step of an epoch or a run, after which no step is due."""
    pairs = (("step", "steps"), ("batch", "batches"))
    return any(one in text.params and text.params[one] == text.params.get(all_) for one, all_ in pairs)


def _step_text(step: _Counter, *, in_batches: bool) -> Text:
    done, total = _grouped(step.done), _grouped(step.total or 0)
    if in_batches:
        return _("Batch {batch} of {batches}", batch=done, batches=total)
    return _("Step {step} of {steps}", step=done, steps=total)


def _rate_text(rate: float, *, in_batches: bool) -> Text:
    """Return “22.7 batches a second” for a rate in units per second."""
    per_minute = rate < 0.1
    number = f"{rate * 60 if per_minute else rate:.3g}"
    count = 1 if number == "1" else 2  # “1.5” has the plural, too.
    match in_batches, per_minute:
        case True, True:
            return _n("{number} batch a minute", "{number} batches a minute", count, number=number)
        case True, False:
            return _n("{number} batch a second", "{number} batches a second", count, number=number)
        case False, True:
            return _n("{number} step a minute", "{number} steps a minute", count, number=number)
    return _n("{number} step a second", "{number} steps a second", count, number=number)


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}") if number >= 1000 else str(number)


def _share(counter: _Counter | None) -> float | None:
    if counter is None or not counter.total:
        return None
    return min(1.0, counter.done / counter.total)


def metrics_in(text: str) -> dict[str, float]:
    """Return the metrics that a line of a log reports, by their names in lower case; none of printed arguments."""
    found = {}
    for match in _METRIC.finditer(_SETTINGS.sub("", text)):
        name = match["name"].strip()
        if _METRIC_NAMES.search(name):
            value = float(match["value"])
            if math.isfinite(value):
                found[name.lower()] = value / 100 if match["percent"] else value
    return found
