"""Converts a `JobSpec` to a ``PyTorchTrainingJob`` (``batch.tensorstack.dev/v1beta1``), and back; current dialect.

Fields and semantics: `docs/developer/t9k-facts.md` (Spec; Launch; Success and failure). `.dialect` translates to the
older dialect.
"""

from __future__ import annotations

from typing import Any, Final

from ...spec import Debug, Elastic, JobSpec, ReplicaSpec, ResumeSpec, Torchrun
from ...translation import _, listing
from ..entrypoints import (
    NO_PYTHON,
    OWN_COMMAND,
    Argv,
    command_from,
    log_options,
    plain_argv,
    program_from,
    program_from_plain,
    program_of,
    words_of,
    working_directory,
)
from ..model import Notes
from .dialect import GROUP, KIND, total_replicas
from .pod_template import RESTART_POLICIES, build_template, canonical_template, compact
from .t9kboard import build_tensorboard, canonical_tensorboard, read_tensorboard
from .template_reader import Part, read_groups, read_metadata, read_template, whole

API_VERSION: Final = f"{GROUP}/v1beta1"
TRAINING: Final = None
CLEAN_UP: Final = ("None", "Unfinished", "All")
# T9k's old reference documents Never for this kind; the other defaults are in t9k-facts.md, Spec.
DEFAULT_RESTART: Final = "Never"
DEFAULT_BACKOFF: Final = 3
DEFAULT_PROCESSES: Final = "1"

__all__ = ["API_VERSION", "KIND", "TRAINING", "build", "canonical", "read", "templates"]


# -- from a spec -------------------------------------------------------------------------------------------------------


def build(spec: JobSpec) -> dict[str, Any]:
    """Return the manifest of a spec, without its `extra` and without our annotations and variables."""
    policy = spec.run_policy
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": compact({
            "name": spec.name,
            "labels": dict(spec.labels),
            "annotations": dict(spec.annotations),
        }),
        "spec": compact({
            "torchrunConfig": _build_torchrun(spec),
            "elastic": _build_elastic(spec.elastic),
            "replicaSpecs": [_build_group(spec, group) for group in spec.replica_specs],
            "runMode": compact({"debug": _build_debug(spec), "pause": _build_pause(spec)}),
            "runPolicy": compact({
                "activeDeadlineSeconds": policy.active_deadline_seconds,
                "backoffLimit": policy.backoff_limit,
                "cleanUpPolicy": policy.clean_up,
            }),
            "scheduler": compact({
                "t9kScheduler": compact({"queue": spec.scheduling.queue, "priority": spec.scheduling.priority}),
            }),
            "tensorboardSpec": build_tensorboard(spec),
        }),
    }  # fmt: skip


def _build_torchrun(spec: JobSpec) -> dict[str, Any] | None:
    torchrun = spec.torchrun
    if torchrun is None:
        return None
    entrypoint = program_of(spec, spec.replica_specs[0]).entrypoint
    mode = [NO_PYTHON] if entrypoint.kind == "command" and entrypoint != OWN_COMMAND else []
    return compact({
        "enabled": True,
        "maxRestarts": torchrun.max_restarts,
        "procPerNode": str(torchrun.proc_per_node),
        "rdzvBackend": torchrun.rdzv_backend,
        "extraOptions": [*torchrun.extra_options, *log_options(spec), *mode],
    })  # fmt: skip


def launcher(spec: JobSpec) -> list[str]:
    """Return torchrun's command for debug mode, in which the controller does not run torchrun."""
    torchrun = spec.torchrun
    if torchrun is None:
        return []
    elastic, config = spec.elastic, _build_torchrun(spec) or {}
    return [
        "torchrun",
        f"--nnodes={elastic.min}:{elastic.max}" if elastic else f"--nnodes={spec.total_replicas}",
        f"--nproc_per_node={torchrun.proc_per_node}",
        f"--max_restarts={torchrun.max_restarts}",
        f"--rdzv_backend={torchrun.rdzv_backend}",
        f"--rdzv_id={spec.name}",
        f"--rdzv_endpoint={'localhost:0' if spec.total_replicas == 1 else '$(MASTER_ADDR):$(MASTER_PORT)'}",
        *config.get("extraOptions", []),
    ]


def _build_elastic(elastic: Elastic | None) -> dict[str, Any] | None:
    if elastic is None:
        return None
    bounds = {"minReplicas": elastic.min, "maxReplicas": elastic.max, "expectedReplicas": elastic.expected}
    return compact({"enabled": True, **bounds})


def _build_group(spec: JobSpec, group: ReplicaSpec) -> dict[str, Any]:
    program, cwd = program_of(spec, group), working_directory(spec)
    # If torchrun is on, the controller ignores `command` (t9k-facts.md, Launch).
    argv = plain_argv(program, cwd) if spec.torchrun is None else Argv(None, words_of(program, cwd))
    return compact({
        "type": group.type,
        "replicas": group.replicas,
        "scalingWeight": group.scaling_weight,
        "restartPolicy": group.restart_policy,
        "template": build_template(spec, group, argv),
    })  # fmt: skip


def _build_debug(spec: JobSpec) -> dict[str, Any] | None:
    if spec.debug is None:
        return None
    types = [
        {"type": name, "skipInitContainer": debug.skip_init, "command": debug.command}
        for name, debug in spec.debug.items()
    ]
    return compact({"enabled": True, "replicaSpecs": types})


def _build_pause(spec: JobSpec) -> dict[str, Any] | None:
    types = [
        {"type": resume.type}
        | compact({
            "skipInitContainer": resume.skip_init or None,
            "command": resume.command,
            "args": resume.args,
        })
        for resume in spec.resume
    ]  # fmt: skip
    # Resume specs can't be added later (t9k-facts.md, Spec), so they are written when the job is created.
    return compact({"enabled": spec.paused, "resumeSpecs": types}) if spec.paused or types else None


# -- canonical form ----------------------------------------------------------------------------------------------------


def canonical(manifest: dict[str, Any], notes: Notes | None = None) -> dict[str, Any]:
    """Return a manifest in the form of `build`, with the same meaning.

    Defaults are written out, and blocks that are switched off are removed.

    Parameters
    ----------
    manifest
        A manifest whose fields have the right types, in the current dialect.
    notes
        Collects hints about removed settings; None for no notes.
    """
    notes = notes or Notes()
    spec = dict(manifest.get("spec", {}))
    torchrun = _canonical_torchrun(spec.get("torchrunConfig"), notes)
    elastic = _switched_on(spec.get("elastic"), "elastic", notes)
    if elastic and not torchrun:
        message = _("elastic has no effect with torchrun off; it is left out.")
        notes.hint("Disabled", message, "/manifest/spec/elastic")
        elastic = None
    mode = spec.get("runMode", {})
    return {
        **manifest,
        "metadata": compact(manifest.get("metadata", {})),
        "spec": compact({
            **spec,
            "torchrunConfig": torchrun,
            "elastic": elastic,
            "replicaSpecs": [_canonical_group(group, bool(torchrun)) for group in spec.get("replicaSpecs", [])],
            "runMode": compact({
                **mode,
                "debug": _canonical_debug(_switched_on(mode.get("debug"), "runMode.debug", notes)),
                "pause": _canonical_pause(mode.get("pause")),
            }),
            "runPolicy": {"backoffLimit": DEFAULT_BACKOFF, "cleanUpPolicy": "None", **spec.get("runPolicy", {})},
            "scheduler": compact({
                **spec.get("scheduler", {}),
                "t9kScheduler": compact(spec.get("scheduler", {}).get("t9kScheduler", {})),
            }),
            "tensorboardSpec": canonical_tensorboard(spec.get("tensorboardSpec")),
        }),
    }  # fmt: skip


def _switched_on(block: dict[str, Any] | None, name: str, notes: Notes) -> dict[str, Any] | None:
    """Return a block that is switched on. For a block that is switched off return None, and note its lost settings."""
    if block is None or block.get("enabled"):
        return block
    settings = sorted(block.keys() - {"enabled"})
    if settings:
        message = _(
            "{block} is off, so its {settings} had no effect and are left out.", block=name, settings=listing(settings)
        )
        notes.hint("Disabled", message, f"/manifest/spec/{name.replace('.', '/')}")
    return None


def _canonical_torchrun(block: dict[str, Any] | None, notes: Notes) -> dict[str, Any] | None:
    block = _switched_on(block, "torchrunConfig", notes)
    if block is None:
        return None
    return compact({
        "maxRestarts": 0,
        "rdzvBackend": "c10d",
        **block,
        "procPerNode": str(block.get("procPerNode", DEFAULT_PROCESSES)),
    })  # fmt: skip


def _canonical_group(group: dict[str, Any], torchrun: bool) -> dict[str, Any]:
    template = canonical_template(group.get("template", {}), TRAINING)
    for container in training_of(template):
        argv, cwd = Argv(container.get("command"), container.get("args", [])), container.get("workingDir")
        if torchrun:
            program = program_from(argv.args, cwd)
            if argv.args and program.entrypoint.kind != "command":
                container["args"] = words_of(program, cwd)
            container.pop("command", None)
        elif argv.command:
            argv = plain_argv(program_from_plain(argv, cwd), cwd)
            container.update(compact({"command": argv.command, "args": argv.args}))
    return {"type": "worker", "replicas": 1, "restartPolicy": DEFAULT_RESTART, **group, "template": template}


def training_of(template: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a list with the training container of a template; an empty list if there is none."""
    containers = template.get("spec", {}).get("containers", [])
    named = [container for container in containers if container.get("name") == "python"]
    return (named or containers)[:1]


def _canonical_debug(block: dict[str, Any] | None) -> dict[str, Any] | None:
    if block is None:
        return None
    types = [
        {
            "skipInitContainer": False,
            "command": ["sleep", "inf"],
            **{key: value for key, value in group.items() if value or key != "command"},
        }
        for group in block.get("replicaSpecs", [])
    ]
    return compact({**block, "replicaSpecs": types})


def _canonical_pause(block: dict[str, Any] | None) -> dict[str, Any] | None:
    if block is None or not (block.get("enabled") or block.get("resumeSpecs")):
        return None
    types = [
        {key: value for key, value in group.items() if value or key not in ("skipInitContainer", "command", "args")}
        for group in block.get("resumeSpecs", [])
    ]
    return compact({"enabled": False, **block, "resumeSpecs": types})


# -- to a spec ---------------------------------------------------------------------------------------------------------


def read(manifest: dict[str, Any]) -> JobSpec:
    """Return the spec of a canonical manifest.

    Fields that the model lacks are ignored. The caller finds them when it builds the result again.

    Raises
    ------
    pydantic.ValidationError
        If a value is not valid in a spec.
    """
    spec = manifest["spec"]
    torchrun, mode, policy = spec.get("torchrunConfig"), spec.get("runMode", {}), spec.get("runPolicy", {})
    options = list(torchrun.get("extraOptions", [])) if torchrun else []
    as_command = bool(options) and options[-1] == NO_PYTHON
    if as_command:
        options.pop()
    groups = [_read_group(group, torchrun is not None, as_command) for group in spec["replicaSpecs"]]
    fields = {**read_metadata(manifest), **read_groups(groups)}
    fields |= {
        "torchrun": _read_torchrun(torchrun, options),
        "elastic": _read_elastic(spec.get("elastic"), total_replicas(spec)),
        "run_policy": {
            "backoff_limit": _or(whole(policy.get("backoffLimit"), 0, 2**31 - 1), DEFAULT_BACKOFF),
            "active_deadline_seconds": whole(policy.get("activeDeadlineSeconds"), 1, 2**31 - 1),
            "clean_up": policy["cleanUpPolicy"] if policy.get("cleanUpPolicy") in CLEAN_UP else "None",
        },
        "paused": mode.get("pause", {}).get("enabled", False),
        "debug": _read_debug(mode.get("debug")),
        "resume": [_read_resume(group) for group in mode.get("pause", {}).get("resumeSpecs", [])],
    }
    scheduler = spec.get("scheduler", {}).get("t9kScheduler", {})
    queue = {"queue": scheduler.get("queue"), "priority": whole(scheduler.get("priority"), 0, 100)}
    fields["scheduling"] = {**fields["scheduling"], **queue}
    if (board := spec.get("tensorboardSpec")) is not None:
        fields["tensorboard"] = read_tensorboard(board, fields["mounts"])
    return _without_log_options(JobSpec(**fields))


def templates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pod templates of a manifest."""
    return [group["template"] for group in manifest["spec"].get("replicaSpecs", []) if "template" in group]


def _without_log_options(spec: JobSpec) -> JobSpec:
    """Remove our options for rank logs from torchrun's extra options, and set `keep_logs` accordingly."""
    ours = log_options(spec)
    if not ours or spec.torchrun is None:
        return spec
    options = spec.torchrun.extra_options
    if options[-len(ours) :] != ours:
        return spec.model_copy(update={"keep_logs": False})
    torchrun = spec.torchrun.model_copy(update={"extra_options": options[: -len(ours)]})
    return spec.model_copy(update={"torchrun": torchrun})


def _read_group(group: dict[str, Any], torchrun: bool, as_command: bool) -> tuple[ReplicaSpec, Part]:
    part = read_template(group["template"], TRAINING)
    if not torchrun:
        part.program = program_from_plain(part.argv, part.working_dir)
    elif as_command:
        part.program = command_from(part.argv.args)
    else:
        part.program = program_from(part.argv.args, part.working_dir)
    policy = group.get("restartPolicy")
    return (
        ReplicaSpec(
            type=group["type"],
            replicas=whole(group.get("replicas"), 1, 10_000) or 1,
            restart_policy=policy if policy in RESTART_POLICIES else DEFAULT_RESTART,
            scaling_weight=whole(group.get("scalingWeight")),
        ),
        part,
    )


def _read_torchrun(block: dict[str, Any] | None, options: list[str]) -> Torchrun | None:
    if block is None:
        return None
    processes = block.get("procPerNode", "")
    count = int(processes) if processes.isascii() and processes.isdigit() and len(processes) < 5 else 0
    return Torchrun(
        proc_per_node="gpu" if processes == "gpu" else count if 1 <= count <= 1024 else 1,
        max_restarts=_or(whole(block.get("maxRestarts"), 0), 0),
        extra_options=options,
    )


def _read_elastic(block: dict[str, Any] | None, total: int) -> Elastic | None:
    if block is None:
        return None
    return Elastic(
        min=whole(block.get("minReplicas"), 1) or 1,
        max=whole(block.get("maxReplicas"), 1) or max(total, 1),
        expected=whole(block.get("expectedReplicas"), 1),
    )


def _read_debug(block: dict[str, Any] | None) -> dict[str, Debug] | None:
    if block is None:
        return None
    return {
        group["type"]: Debug(skip_init=group["skipInitContainer"], command=group["command"])
        for group in block.get("replicaSpecs", [])
        if "type" in group
    }


def _read_resume(group: dict[str, Any]) -> ResumeSpec:
    return ResumeSpec(
        type=group.get("type", "worker"),
        command=group.get("command"),
        args=group.get("args"),
        skip_init=group.get("skipInitContainer", False),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
