"""Decides how a try ended: passed, failed, or not tried because only the job's own place can run it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from ..core.job import Failure, Job, Reason
from ..core.lab import on_volume
from ..core.texts.wording import duration
from ..core.translation import Text, _, _n
from .model import TryState
from .plan import TryPlan

_MODULE: Final = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_LIBRARY: Final = re.compile(r"ImportError: (lib[\w.+-]+\.so[\w.]*)")
_NO_FILE: Final = re.compile(
    r"FileNotFoundError|NotADirectoryError|PermissionError|No such file|does not exist|not found|can't open|Read-only",
    re.IGNORECASE,
)
_PATH: Final = re.compile(r"(?<![\w.:/~-])/[^\s'\"`,:;()<>\[\]]+")
_GPU: Final = r"(?:cuda|gpu|nvidia|nccl|hip)"
# Messages of PyTorch, CUDA and libraries for training where no GPU is, and messages of scripts in such words.
_NEEDS_GPU: Final = re.compile(
    rf"\bno (?:\w+ )?{_GPU}\w*(?: \w+)? (?:\w+ )?(?:available|found|detected|visible)"
    rf"|\b{_GPU}\w* (?:is|are|was|were) (?:not |un)(?:available|found|detected)|\b{_GPU}\w* (?:not|un) ?available"
    rf"|\b{_GPU}\w* (?:is|are) (?:required|needed)|\b(?:requires?|needs?) (?:\w+ ){{0,3}}{_GPU}"
    rf"|\bonly (?:be )?(?:\w+ )?(?:on|with|for) (?:\w+ )?{_GPU}"
    r"|not compiled with CUDA|no CUDA-capable device|NVIDIA driver|CUDA driver|CUDA error|No supported gpu backend"
    r"|CUDA device but torch\.cuda\.is_available\(\) is False|Accelerator can ?not run on your system"
    r"|your machine only has: \[\]|have NCCL built in|\b0 active drivers",
    re.IGNORECASE,
)
# Mistakes in the script, whose names may contain such words.
_MISTAKE: Final = re.compile(r"^(?:Attribute|Key|Name|Type|Index|Syntax|ModuleNotFound)Error\b|: error: ")
_KEY: Final = re.compile(r"KeyError: '(\w+)'")
_KILLED: Final = 137


@dataclass
class Verdict:
    """End of a try; the fields are those of `Try`."""

    state: TryState
    sentence: Text
    hint: Text | None = None
    reason: Reason | None = None
    failure: Failure | None = None


def verdict(job: Job, plan: TryPlan, *, steps: int, reached: bool, stopped: Text | None) -> Verdict:
    """Return how a try ended.

    Parameters
    ----------
    job
        The try's record.
    plan
        Its plan.
    steps
        Number of counted steps.
    reached
        True if it was ended because it had run enough steps.
    stopped
        Why it was stopped before; None if it was not.
    """
    code = job.reason.code if job.reason is not None else ""
    time = duration(job.ran_seconds)
    if job.phase == "Succeeded":
        return Verdict("passed", _("The script ended without an error after {time}", time=time))
    if code == "Stopped" and reached:
        return Verdict(
            "passed", _n("{n} step passed here in {time}", "{n} steps passed here in {time}", steps, time=time)
        )
    if code == "DeadlineExceeded":
        return Verdict("passed", _("It ran here for {time} without an error", time=time))
    if code == "Stopped":
        return Verdict("stopped", stopped or _("The try was stopped after {time}", time=time))
    elsewhere = _elsewhere(job.failure, plan) if job.failure is not None else None
    if elsewhere is not None:
        failure = _without_log(job.failure) if job.failure is not None and job.failure.frames else None
        return Verdict("not_tried", elsewhere[0], elsewhere[1], failure=failure)
    reason = job.reason
    if reason is not None:
        reason = reason.model_copy(
            update={"links": [link for link in reason.links if link.kind == "file"], "fix": None}
        )
    headline = _n("The try failed after {n} step", "The try failed after {n} steps", steps)
    if steps == 0:
        headline = _("The try failed")
    return Verdict("failed", headline, None, reason, _without_log(job.failure))


def _without_log(failure: Failure | None) -> Failure | None:
    """Return a failure without links to the log, which is deleted with the try."""
    return failure and failure.model_copy(update={"link": None, "last_output": None})


def _elsewhere(failure: Failure, plan: TryPlan) -> tuple[Text, Text | None] | None:
    """Return sentence and hint for an error that says nothing about the job, since its place differs; else None."""
    error = failure.error or ""
    return (
        _missing_module(error, plan)
        or _missing_path(error, plan)
        or _missing_secret(error, plan)
        or _missing_gpu(error)
        or _memory(failure)
    )


def _missing_module(error: str, plan: TryPlan) -> tuple[Text, Text | None] | None:
    library = _LIBRARY.search(error)
    if library is not None and plan.elsewhere:
        return _("{library} is not installed here; the job's image may have it.", library=library[1]), None
    found = _MODULE.search(error)
    if found is None or not plan.elsewhere:
        return None
    module = found[1].partition(".")[0]
    workspace = plan.source.workspace if plan.source is not None else None
    if workspace is not None and (workspace.named(module) or workspace.elsewhere(module) is not None):
        return None  # A module of the user, which the job does not find either.
    return (
        _("The module {module} is not installed here; the job's image may have it.", module=module),
        _("To try the job, install {module} in the kernel “{kernel}”.", module=module, kernel=_kernel(plan)),
    )


def _kernel(plan: TryPlan) -> str:
    return plan.kernel.display_name if plan.kernel is not None else ""


def _missing_path(error: str, plan: TryPlan) -> tuple[Text, Text | None] | None:
    """Return the sentence for a path that only the cluster may have."""
    if not plan.elsewhere or not _NO_FILE.search(error):
        return None
    own = [str(mount.lab_path) for mount in plan.lab.mounts]
    own += [plan.spec.working_dir or "/", *plan.spec.tensorboard.log_dirs] if plan.spec is not None else []
    for path in _PATH.findall(error):
        claimed = on_volume(path, plan.job.mounts)
        if claimed is None:
            if not any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in own):
                return _("{path} can't be used on this machine; the job's image may have it.", path=path), None
            continue
        here = plan.lab.in_lab(path, plan.job.mounts, plan.namespace)
        if here is None:
            return _("{path} is on the PVC {claim}, which is not on this machine.", path=path, claim=claimed[0]), None
        if os.path.lexists(here) and str(here) != os.path.realpath(path):
            text = _("{path} is on a volume that JupyterLab has at another path, {here}.", path=path, here=str(here))
            return text, None
    return None


def _missing_secret(error: str, plan: TryPlan) -> tuple[Text, Text | None] | None:
    found = _KEY.search(error)
    if found is None or found[1] not in plan.secrets:
        return None
    return _("The script needs {name}, which comes from a Secret of the cluster.", name=found[1]), None


def _missing_gpu(error: str) -> tuple[Text, Text | None] | None:
    if _MISTAKE.search(error) or not _NEEDS_GPU.search(error):
        return None
    return (
        _("The script needs a GPU, and a try has none: {error}", error=error[:300]),
        _("To try it, use the processor and gloo where torch.cuda.is_available() is False."),
    )


def _memory(failure: Failure) -> tuple[Text, Text | None] | None:
    if failure.exit_code != _KILLED or not failure.signaled:
        return None
    return _("A process was killed here, as when this machine is out of memory. The job may have more."), None
