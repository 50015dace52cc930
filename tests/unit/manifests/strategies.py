"""Jobs that an engine supports, at random, and whatever may stand in a manifest."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from jupyterlab_t9kjob.core.features import uses
from jupyterlab_t9kjob.core.manifests import KINDS, Kind
from jupyterlab_t9kjob.core.manifests.entrypoints import OWN_COMMAND
from jupyterlab_t9kjob.core.spec import JobSpec

names = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
words = st.one_of(
    st.sampled_from(["", "-m", "--x=1", "--nnodes=1", "--log_dir=/a", "--tee=3", "python", "train.py", "$(A)", "训练"]),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
)
words_lists = st.lists(words, max_size=3)
env_names = st.sampled_from(
    [
        "A",
        "B",
        "C_1",
        "USER",
        "HOME",
        "T9KJOB_NAME",
        "T9KJOB_LOG_DIR",
        "EM_RUN_PARENT_DIR",
        "EM_ARTIFACT_PARENT_DIR",
        "LOGNAME",
        "PYTHONUNBUFFERED",
        "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
    ]
)
folders = st.sampled_from(["/w", "/w/sub", "/data", "/", "/w/sub/deep"])
quantities = st.none() | st.sampled_from(["1", "0", "500m", "0.5", "16Gi", "1e3", "1073741824", "08"])
labels = st.dictionaries(st.sampled_from(["a", "team/x", "kueue.x-k8s.io/queue-name"]), st.text("ab1", max_size=3))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab$/~ ", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab$/~", max_size=3), inner, max_size=3),
    max_leaves=6,
)

sources = st.none() | st.fixed_dictionaries(
    {"folder": folders, "leave_out": st.sampled_from([[], ["*.pt", "runs/"]])},
    optional={
        "taken": st.none()
        | st.fixed_dictionaries(
            {
                "digest": st.just("0123456789" * 4),
                "path": st.sampled_from(["/w/.t9kjob/code/a/files", "/w/sub", "/"]),
                "files": st.just(2),
                "size": st.just(10),
            },
            optional={"commit": st.just({"id": "ab" * 20, "branch": "main", "subject": "x", "changed": 1})},
        )
    },
)
entrypoints = st.one_of(
    st.builds(
        lambda folder, name: {"kind": "script", "value": f"{folder.rstrip('/')}/{name}"},
        folders,
        st.sampled_from(["train.py", "-x.py", "a b.py", "nb.t9kjob.py", "run", ".t9kjob.py"]),
    ),
    st.sampled_from(["dist.py", "./dist.py", "-m", "/w", "sub/../x.py"]).map(lambda v: {"kind": "script", "value": v}),
    st.sampled_from(["/w/nb.ipynb", "nb.ipynb"]).map(lambda v: {"kind": "notebook", "value": v}),
    st.sampled_from(["pkg.mod", "train"]).map(lambda v: {"kind": "module", "value": v}),
    st.sampled_from(["sh", "python", "torchrun", "./run.sh", "-x", OWN_COMMAND.value]).map(
        lambda v: {"kind": "command", "value": v}
    ),
)
env = st.lists(
    st.one_of(
        st.fixed_dictionaries({"name": env_names, "value": words}),
        st.fixed_dictionaries({"name": env_names}),
        st.fixed_dictionaries({"name": env_names, "secret": st.just({"name": "s", "key": "k"})}),
    ),
    max_size=3,
    unique_by=lambda variable: variable["name"],
)
runtimes = st.fixed_dictionaries(
    {"image": st.sampled_from(["torch:1", "torch:2"])},
    optional={
        "pull_policy": st.sampled_from(["Always", "Never"]),
        "pull_secrets": st.lists(st.sampled_from(["r1", "r2"]), unique=True, max_size=2),
        "kernel": st.sampled_from(["python3"]),
    },
)
resources = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.fixed_dictionaries({"request": quantities, "limit": quantities}),
        "memory": st.fixed_dictionaries({"request": quantities, "limit": quantities}),
        "device": st.fixed_dictionaries(
            {"name": st.sampled_from(["nvidia.com/gpu", "rdma/hca", "hygon.com/dcu"]), "count": st.integers(0, 8)}
        ),
    },
)
groups = st.fixed_dictionaries(
    {"type": names, "replicas": st.integers(1, 4)},
    optional={
        "restart_policy": st.sampled_from(["Never", "OnFailure", "Always", "ExitCode"]),
        "resources": resources,
        "entrypoint": entrypoints,
        "args": words_lists,
        "runtime": runtimes,
        "env": env,
        "scaling_weight": st.integers(0, 5),
    },
)
mounts = st.lists(
    st.fixed_dictionaries(
        {"claim": st.sampled_from(["c1", "c2", "c3"]), "mount_path": folders},
        optional={
            "sub_path": st.sampled_from(["s", "s/t"]),
            "read_only": st.booleans(),
        },
    ),
    max_size=3,
    unique_by=lambda mount: mount["mount_path"],
)
shms = st.none() | st.fixed_dictionaries({"size_limit": quantities, "volume": st.sampled_from([None, "mem"])})
boards = st.fixed_dictionaries(
    {},
    optional={
        "log_dirs": st.lists(
            st.sampled_from(["/w/runs", "/w/sub/log", "/data", "/elsewhere"]), unique=True, max_size=3
        ),
        "cluster": st.fixed_dictionaries({"image": st.none() | st.just("tb"), "resources": resources}),
    },
)
extras = st.fixed_dictionaries(
    {},
    optional={
        "new": JSON,
        "spec": st.fixed_dictionaries(
            {}, optional={"new": JSON, "runPolicy": st.fixed_dictionaries({"new": st.integers() | st.none()})}
        ),
        "metadata": st.fixed_dictionaries({}, optional={"new": JSON, "labels": labels}),
    },
)


@st.composite
def specs(draw: st.DrawFn, kind: Kind) -> JobSpec:
    """A job that `kind` can run."""
    types = draw(st.lists(groups, min_size=1, max_size=3, unique_by=lambda group: group["type"]))
    torchrun = draw(
        st.none()
        | st.fixed_dictionaries(
            {"proc_per_node": st.integers(1, 16) | st.just("gpu"), "max_restarts": st.integers(0, 9)},
            optional={"extra_options": st.lists(st.sampled_from(["--role", "trainer", "--x=y"]), max_size=2)},
        )
    )  # fmt: skip
    if kind == "t9k" and torchrun:
        # torchrun's --no_python holds for all types.
        for group in types:
            group.pop("entrypoint", None)
    elastic = None
    if kind in ("job", "jobset", "trainjob"):
        types = types[:1]
    elif torchrun and draw(st.booleans()):
        types = types if kind == "t9k" else types[:1]
        total = sum(group["replicas"] for group in types)
        elastic = {"min": draw(st.integers(1, total)), "max": draw(st.integers(total, 9 + total))}
        elastic["expected"] = draw(st.none() | st.integers(elastic["min"], elastic["max"]))
    elif kind == "kubeflow":
        types = types[:2]
        if len(types) == 2:
            types[0]["replicas"] = 1
    debugged = st.dictionaries(
        st.sampled_from([group["type"] for group in types]),
        st.fixed_dictionaries(
            {}, optional={"skip_init": st.booleans(), "command": st.lists(words, min_size=1, max_size=2)}
        ),
    )  # fmt: skip
    resumed = st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from([group["type"] for group in types])},
            optional={"skip_init": st.booleans(), "command": words_lists, "args": words_lists},
        ),
        max_size=2,
        unique_by=lambda resume: resume["type"],
    )
    spec = JobSpec.model_validate(
        {
            "name": draw(names),
            "display_name": draw(st.none() | st.sampled_from(["训练.py", "My job"])),
            "labels": draw(labels),
            "annotations": draw(labels),
            "entrypoint": draw(entrypoints),
            "args": draw(words_lists),
            "working_dir": draw(st.none() | st.just("") | folders),
            "env": draw(env),
            "runtime": draw(runtimes),
            "replica_specs": types,
            "torchrun": torchrun,
            "elastic": elastic,
            "run_policy": {
                "backoff_limit": draw(st.integers(0, 9)),
                "active_deadline_seconds": draw(st.none() | st.integers(1, 100)),
                "clean_up": draw(st.sampled_from(["None", "Unfinished", "All"])),
                "ttl_seconds": draw(st.none() | st.integers(0, 100)),
                "resume_evicted": draw(st.booleans()),
            },
            "paused": draw(st.booleans()),
            "debug": draw(st.none() | debugged),
            "resume": draw(resumed),
            "scheduling": {
                "queue": draw(st.none() | st.just("q")),
                "priority": draw(st.none() | st.integers(0, 100)),
                "priority_class": draw(st.none() | st.just("high")),
                "node_selector": draw(st.sampled_from([{}, {"zone": "a"}])),
                "tolerations": draw(st.sampled_from([[], [{"operator": "Exists"}]])),
                "scheduler": draw(st.none() | st.sampled_from(["volcano", "mine"])),
            },
            "mounts": draw(mounts),
            "shm": draw(shms),
            "security": {
                "uid": draw(st.none() | st.just(1000)),
                "fs_group": draw(st.none() | st.just(0)),
                "restricted": draw(st.booleans()),
            },
            "tensorboard": draw(boards),
            "keep_logs": draw(st.booleans()),
            "diagnostics": {"stacks": draw(st.booleans()), "collectives": draw(st.booleans())},
            "source": draw(sources),
            "extra": draw(extras),
        }
    )  # fmt: skip
    refused = {use.capability for use in uses(spec) if not KINDS[kind].capabilities[use.capability].supported}
    without: dict[str, Any] = {}
    policy = {"ttl": {"ttl_seconds": None}, "clean_up": {"clean_up": "Unfinished"}}
    for name in policy.keys() & refused:
        without["run_policy"] = without.get("run_policy", spec.run_policy).model_copy(update=policy[name])
    if "priority" in refused:
        without["scheduling"] = spec.scheduling.model_copy(update={"priority": None})
    if "restart_always" in refused:
        without["replica_specs"] = [
            group.model_copy(update={"restart_policy": "OnFailure"}) if group.restart_policy == "Always" else group
            for group in spec.replica_specs
        ]
    if refused & {"resume", "resume_command"}:
        without["resume"] = []
    if "skip_init" in refused and spec.debug:
        without["debug"] = {name: debug.model_copy(update={"skip_init": False}) for name, debug in spec.debug.items()}
    return spec.model_copy(update=without)
