"""Corrects records of earlier versions, which took the last line of a log or of a termination message for the error.

Such a record names a cause that is not known. If the job still exists, its failures are read again from the logs;
otherwise the wrong error is removed from the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....core.job import Failure, LastOutput, Reason
from ....core.texts.wording import failure as failure_text
from ....core.translation import Text
from ..reasons.causes import EndingRecord
from .records import Record

_CLAIM = re.compile(r"\b(?P<verb>[Ff])ailed: (?P<error>.*)", re.DOTALL)
_MISSING = "failed: Command not found (127)"


def correct(record: Record) -> None:
    """Remove wrong errors from a record (in place)."""
    failures = {name: one for name, one in record.failures.items() if "last_output" not in one.model_fields_set}
    endings = {name: one for name, one in record.endings.items() if _is_doubtful(one)}
    doubtful = dict(_doubtful(failures, endings))
    for name, failure in failures.items():
        if record.deleted:
            record.failures[name] = _failure(failure, doubtful)
        else:
            del record.failures[name]
    for name, ending in endings.items():
        record.endings[name] = _ending(ending)
    record.reason = _reason(record.reason, doubtful)
    for replica in record.replicas:
        replica.reason = _reason(replica.reason, doubtful)


def _doubtful(failures: dict[str, Failure], endings: dict[str, EndingRecord]) -> Iterator[tuple[str, int]]:
    """Yield the errors of unknown form, each with its exit code."""
    if failures:
        from ....logs.failures.failure_text import error_in
    for failure in failures.values():
        known = failure.error is None or failure.frames or error_in(failure.error, failure.exit_code)
        if failure.error is not None and not known:
            yield failure.error, failure.exit_code
    for ending in endings.values():
        if ending["error"] is not None and ending["exit_code"]:
            yield ending["error"], ending["exit_code"]


def _is_doubtful(ending: EndingRecord) -> bool:
    """Return True if the termination message does not contain the error that a record names."""
    from ....logs.failures.failure_text import cause_in_message

    error, code = ending["error"], ending["exit_code"]
    if _MISSING in ending["words"]:
        return True
    return error is not None and code is not None and cause_in_message(ending["verbatim"] or error, code).error is None


def _failure(failure: Failure, doubtful: dict[str, int]) -> Failure:
    error, link = failure.error, failure.link
    if error is None or error not in doubtful:
        return failure
    output = None
    if link is not None and link.stream is not None:
        output = LastOutput(stream=link.stream, offset=link.offset or 0, lines=[error])
    return failure.model_copy(update={"error": None, "last_output": output})


def _ending(ending: EndingRecord) -> EndingRecord:
    code = ending["exit_code"] or 0
    claim = f"failed: {ending['error']}" if ending["error"] is not None else _MISSING
    hint = None if claim == _MISSING else ending["hint"]
    words = Text.verbatim(ending["words"].replace(claim, _ended_with(code)))
    return {**ending, "words": words, "error": None, "hint": hint}


def _ended_with(code: int) -> str:
    """Return how a replica ended, in the form of records of earlier versions: English words that follow its name."""
    return failure_text("It", code, None).removeprefix("It ")


def _reason(reason: Reason | None, doubtful: dict[str, int]) -> Reason | None:
    """Return a reason without a wrong error: “Rank 3 ended with exit code 1” for “Rank 3 failed: 49%|…”."""
    claim = _CLAIM.search(reason.sentence) if reason is not None else None
    if reason is None or claim is None:
        return reason
    shown = claim["error"].removesuffix("…").rstrip()
    code = next((code for error, code in doubtful.items() if shown and error.startswith(shown)), None)
    if code is None:
        return reason
    words = _ended_with(code)
    words = words.capitalize() if claim["verb"] == "F" else words
    sentence = Text.verbatim(reason.sentence[: claim.start()] + words)
    return reason.model_copy(update={"sentence": sentence, "hint": None})
