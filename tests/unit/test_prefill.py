"""From a file to a filled form, to a preview, to a job that is let in."""

import json
import os
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.contents.manager import ContentsManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.checks import Preview
from jupyterlab_t9kjob.core.engine.info import DeviceInfo, EngineInfo, Machine
from jupyterlab_t9kjob.core.errors import Conflict, FieldError, JobError, NotFound, Unavailable
from jupyterlab_t9kjob.core.job import JobSummary
from jupyterlab_t9kjob.core.spec import Entrypoint, EnvVar, JobSpec, TensorBoardSpec, Torchrun
from jupyterlab_t9kjob.engines.local.facts import FACTS
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.service import JobService
from jupyterlab_t9kjob.launch.checks import of_script
from jupyterlab_t9kjob.launch.kernels.kernels import Kernels
from jupyterlab_t9kjob.launch.model import Kernel, Prefill, PrefillRequest, PreviewRequest, ScriptInfo, TorchInfo
from jupyterlab_t9kjob.launch.prefill import choose_kernel, fresh_spec
from jupyterlab_t9kjob.launch.scripts import packages
from jupyterlab_t9kjob.launch.scripts.packages import DISTRIBUTIONS
from jupyterlab_t9kjob.launch.service import Launch
from jupyterlab_t9kjob.launch.source_file import Source, read_source
from jupyterlab_t9kjob.presets.configuration import Configuration
from jupyterlab_t9kjob.presets.service import Presets
from jupyterlab_t9kjob.snapshots.service import Snapshots
from jupyterlab_t9kjob.snapshots.taking import Limits

pytestmark = pytest.mark.asyncio

SCRIPT = """import argparse, os
import torch, torch.distributed as dist
parser = argparse.ArgumentParser(description='Train.')
parser.add_argument('--log_dir')
parser.add_argument('--save_path', default='weights/best.pt')
parser.add_argument('--data', required=True)
parser.add_argument('--lr', type=float, default=1e-3)
dist.init_process_group()
loader = torch.utils.data.DataLoader(data)
"""
RUN = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]


class Specs:
    def __init__(self, **pythons: str) -> None:
        self.pythons = pythons

    def get_all_specs(self) -> dict[str, Any]:
        return {
            name: {"resource_dir": "/", "spec": {"argv": [python, *RUN], "language": "python", "display_name": name}}
            for name, python in self.pythons.items()
        }


class OneEngine:
    """An engine with the jobs of a test."""

    name = "local"
    label = "This machine"
    facts = FACTS
    order = 10

    def __init__(self) -> None:
        self.names: list[str] = []

    async def info(self) -> EngineInfo:
        return EngineInfo(name="local", label="This machine", available=True, machine=Machine(hostname="h", cpus=8))

    async def jobs(self) -> list[JobSummary]:
        return [
            JobSummary(
                id=f"local::{name}:1", engine="local", namespace="", name=name, uid="1", phase="Failed", created_at=1.0
            )
            for name in self.names
        ]

    async def preview(self, spec: JobSpec, _namespace: str, **_more: Any) -> Preview:
        return Preview(command="cd /", summary="2 processes on this machine")


def launch_of(manager: Any, specs: Specs, kernel: str, jobs: JobService, home: Path) -> Launch:
    root = ContentsRoot(manager)
    presets = Presets(home, Configuration(), jobs)
    return Launch(
        root,
        Kernels(specs, kernel),
        jobs,
        Snapshots(jobs, root, home, Limits()).taking,
        presets,
    )


class Place:
    """A contents root with a launch service on it."""

    def __init__(self, root: Path, specs: Specs) -> None:
        root.mkdir(exist_ok=True)
        self.root = root
        self.engine = OneEngine()
        manager = AsyncLargeFileManager(root_dir=str(root))
        jobs = JobService(Engines({"local": self.engine}))  # type: ignore[dict-item]
        self.launch = launch_of(manager, specs, "python3", jobs, root)

    def write(self, path: str, text: str | bytes = SCRIPT) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    async def prefill(self, path: str | None, **more: Any) -> Prefill:
        return await self.launch.prefill(PrefillRequest(path=path, **more))


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python without torch."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    return str(tmp_path / "bare" / "bin" / "python")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "root").mkdir()
    return Place(tmp_path / "root", Specs(python3="python"))


def notebook(*cells: str, kernel: str = "python3") -> str:
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": kernel, "language": "python"}},
            "cells": [{"cell_type": "code", "source": cell} for cell in cells],
        }
    )


async def test_a_form_that_is_ready_to_submit(place: Place) -> None:
    script = place.write("proj/train.py")
    form = await place.prefill("proj/train.py")
    folder = script.parent
    assert form.path == "proj/train.py"
    assert form.spec.name == "train-1"
    assert form.spec.display_name is None
    assert (form.spec.entrypoint.kind, form.spec.entrypoint.value) == ("script", str(script))
    assert form.spec.working_dir == str(folder)
    assert form.spec.runtime.kernel == "python3"
    assert form.spec.torchrun is not None
    assert (form.spec.torchrun.proc_per_node, form.spec.torchrun.max_restarts) == (2, 0)
    assert form.spec.replica_specs[0].restart_policy == "Never"
    assert form.spec.tensorboard.log_dirs == [str(folder / "runs" / "train-1")]
    assert form.spec.args == ["--log_dir", "runs/train-1", "--save_path", "runs/train-1/best.pt"]
    assert form.follow_name == ["--log_dir", "--save_path"]
    assert form.runs_dir == str(folder / "runs")
    assert form.root == str(place.root)
    assert form.empty == ["--data"]
    assert [option.dest for option in form.script.options] == ["log_dir", "save_path", "data", "lr"]
    assert [(engine.name, engine.machine and engine.machine.cpus) for engine in form.engines] == [("local", 8)]
    checks = {check.code: check for check in form.checks}
    assert (checks["OptionMissing"].level, checks["OptionMissing"].option) == ("warning", "--data")
    assert checks["NoSampler"].level == "hint"
    link = checks["NoSampler"].link
    assert link is not None
    assert (link.path, link.line, link.label) == ("proj/train.py", 9, "train.py:9")
    assert checks["ModulesInstalled"].message == "torch is installed in this kernel."
    assert checks["LogDirectoryEmpty"].level == "passed"


async def test_names_are_free_among_jobs_and_runs(place: Place) -> None:
    place.write("train.py")
    place.engine.names = ["train-1", "train-4", "other-9"]
    assert (await place.prefill("train.py")).spec.name == "train-5"
    (place.root / "runs" / "train-6").mkdir(parents=True)
    assert (await place.prefill("train.py")).spec.name == "train-7"
    place.write("训练.py")
    form = await place.prefill("训练.py")
    assert (form.spec.name, form.spec.display_name) == ("job-1", "训练")


async def test_a_spec_to_start_from(place: Place) -> None:
    script = place.write("train.py")
    base = (await place.prefill("train.py")).spec
    base.args += ["--data", "/d", "--epochs=3"]
    base.runtime.kernel = "gone"
    place.engine.names = ["train-1"]
    form = await place.prefill("train.py", spec=base)
    assert form.spec.name == "train-2"
    assert form.spec.tensorboard.log_dirs == [str(script.parent / "runs" / "train-2")]
    assert form.spec.args == [
        *("--log_dir", "runs/train-2", "--save_path", "runs/train-2/best.pt"),
        *("--data", "/d", "--epochs=3"),
    ]
    assert form.empty == []
    assert form.spec.runtime.kernel == "python3"


@pytest.mark.parametrize(
    ("kind", "value"), [("module", "pkg.train"), ("command", "make"), ("script", "/elsewhere/x.py")]
)
async def test_a_spec_without_a_file_to_start_from(place: Place, kind: Any, value: str) -> None:
    runs = place.root / "mnist" / "runs"
    (runs / "train-4").mkdir(parents=True)
    base = JobSpec(
        name="train-1",
        entrypoint=Entrypoint(kind=kind, value=value),
        args=["--log_dir", "mnist/runs/train-1"],
        working_dir=str(place.root),
        tensorboard=TensorBoardSpec(log_dirs=[str(runs / "train-1")]),
    )
    form = await place.prefill(None, spec=base)
    assert (form.path, form.script, form.notebook) == (None, ScriptInfo(), None)
    assert form.spec.name == "train-5"
    assert (form.spec.entrypoint, form.spec.working_dir) == (base.entrypoint, base.working_dir)
    assert form.spec.args == ["--log_dir", "mnist/runs/train-5"]
    assert form.runs_dir == str(runs)
    assert form.spec.runtime.kernel == "python3"
    assert [check.code for check in form.checks] == ["LogDirectoryEmpty"]
    base.tensorboard.log_dirs = []
    assert (await place.prefill(None, spec=base)).runs_dir == str(place.root / "runs")


async def test_a_form_needs_something_to_start_from(place: Place) -> None:
    with pytest.raises(FieldError, match="starts from a file") as caught:
        await place.prefill(None)
    assert caught.value.field == "/path"


async def test_a_kernel_with_torch_is_chosen(tmp_path: Path, bare: str) -> None:
    (tmp_path / "root").mkdir()
    place = Place(tmp_path / "root", Specs(python3=bare, other=sys.executable))
    place.write("train.py")
    assert (await place.prefill("train.py")).spec.runtime.kernel == "other"
    # a notebook keeps its own, and its refusal says what to do
    place.write("n.ipynb", notebook("import torch", kernel="python3"))
    form = await place.prefill("n.ipynb")
    assert form.spec.runtime.kernel == "python3"
    refusal = form.checks[0]
    assert (refusal.level, refusal.code, refusal.field) == ("error", "TorchMissing", "/spec/runtime/kernel")
    assert f"{bare} -m pip install torch" in (refusal.hint or "")
    with pytest.raises(FieldError, match="PyTorch is not installed"):
        await place.launch.admit(form.spec)


async def test_free_gpus_are_used(tmp_path: Path) -> None:
    source = Source(tmp_path / "a.py", "a.py", "script")
    devices = [DeviceInfo(index=i, id=str(i), name="H", used_by="train-1" if i == 0 else None) for i in range(4)]
    engine = EngineInfo(
        name="local", label="l", available=True, machine=Machine(hostname="h", cpus=64, devices=devices)
    )
    gpu = Kernel(name="k", display_name="k", enabled=True, python="/p", torch=TorchInfo(version="2", devices=4))
    cpu = gpu.model_copy(update={"torch": TorchInfo(version="2+cpu", devices=0)})
    spec = fresh_spec(source, gpu, engine, set())
    assert spec.torchrun is not None
    assert spec.torchrun.proc_per_node == "gpu"
    assert spec.replica_specs[0].resources.device is not None
    assert spec.replica_specs[0].resources.device.count == 3
    spec = fresh_spec(source, cpu, engine, set())
    assert spec.torchrun is not None
    assert (spec.torchrun.proc_per_node, spec.replica_specs[0].resources.device) == (2, None)
    assert choose_kernel([], None) is None


async def test_a_notebook(place: Place) -> None:
    place.write("dir/explore.ipynb", notebook("%matplotlib inline", "import torch\nprint(1)"))
    form = await place.prefill("RTC:dir/explore.ipynb")
    assert form.path == "dir/explore.ipynb"
    assert (form.spec.name, form.spec.entrypoint.kind) == ("explore-1", "notebook")
    assert form.notebook is not None
    assert form.notebook.script_path == "dir/explore.t9kjob.py"
    cells = form.notebook.cells
    assert form.notebook.kernel == "python3"
    assert [(cell.text, cell.runs) for cell in cells] == [("%matplotlib inline", False), ("import torch", True)]
    assert "NotDistributed" in {check.code for check in form.checks}
    # nothing is written until the job is submitted
    script = place.root / form.notebook.script_path
    assert not script.exists()
    prepare = (await place.launch.admit(form.spec)).prepare
    assert not script.exists()
    await prepare()
    assert "print(1)" in script.read_text()
    assert form.spec.entrypoint.script == str(script)
    script.write_text("mine")
    with pytest.raises(Conflict):
        await (await place.launch.admit(form.spec)).prepare()


async def test_a_syntax_error_opens_the_form_and_refuses_the_job(place: Place) -> None:
    place.write("train.py", "x = 1\ny = = 2\n")
    form = await place.prefill("train.py")
    first = form.checks[0]
    assert (first.level, first.code, first.field) == ("error", "SyntaxError", "/spec/entrypoint/value")
    assert "line 2, column 5" in first.message
    assert first.link is not None
    assert (first.link.path, first.link.line) == ("train.py", 2)
    preview = await place.launch.preview(PreviewRequest(spec=form.spec))
    assert preview.checks[0] == first
    assert preview.command == "cd /"
    with pytest.raises(FieldError, match="line 2, column 5"):
        await place.launch.admit(form.spec)


async def test_modules_that_the_kernel_lacks(place: Place) -> None:
    place.write(
        "tools/train.py", "import torch, helper, mylib.net\nimport no_such_thing\nfrom cv2 import x\nimport mylib\n"
    )
    place.write("tools/helper.py", "")
    place.write("mylib/net.py", "")
    form = await place.prefill("tools/train.py")
    missing = next(check for check in form.checks if check.code == "ModulesMissing")
    assert missing.level == "warning"
    assert missing.message.startswith("no_such_thing and cv2 can't be found")
    # a distribution that merely has the import's name may be anybody's
    assert missing.hint == f"Install with: {sys.executable} -m pip install opencv-python-headless"
    assert missing.link is not None
    assert missing.link.line == 2
    elsewhere = next(check for check in form.checks if check.code == "ModulesElsewhere")
    assert elsewhere.message.startswith(f"mylib is in {place.root}, which is not on Python's path")
    assert elsewhere.hint == f"Add the variable PYTHONPATH with the value {place.root}."
    assert all(check.level != "passed" for check in form.checks if check.code == "ModulesInstalled")
    form.spec.env = [EnvVar(name="PYTHONPATH", value=str(place.root))]
    preview = await place.launch.preview(PreviewRequest(spec=form.spec))
    assert "ModulesElsewhere" not in {check.code for check in preview.checks}


def test_distributions_are_known_by_table_or_by_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module, local in [("Kept-Name", "kept", False), ("local-name", "own", True), ("twice", "kept2", False)]:
        folder = tmp_path / f"{name.replace('-', '_')}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "top_level.txt").write_text(f"{module}\n" + ("shared\n" if not local else ""))
        if local:
            (folder / "direct_url.json").write_text('{"url": "file:///home/me/own"}')
    monkeypatch.syspath_prepend(str(tmp_path))
    packages._installed.cache_clear()
    names = ["cv2", "skimage", "sklearn", "dotenv", "google.protobuf", "kept", "own", "shared", "no_such_thing"]
    try:
        found = packages.distributions_of(names)
    finally:
        packages._installed.cache_clear()
    assert found == {
        "cv2": "opencv-python-headless",
        "skimage": "scikit-image",
        "sklearn": "scikit-learn",
        "dotenv": "python-dotenv",
        "google.protobuf": "protobuf",
        "kept": "Kept-Name",
    }
    assert len(DISTRIBUTIONS) > 250


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("datasets", "datasets/video/kinetics.py"),  # folders without __init__.py
        ("evaluate", "evaluate/a/b/scores.py"),
        ("timm", "packages/timm/models.py"),  # not above the script
        ("trl", "packages/core/trl/__init__.py"),
        ("lightning", "third_party/lightning/.gitkeep"),  # a submodule that was not fetched
        ("einops", "csrc/einops/ops.cpp"),
        ("accelerate", "research/accelerate.py"),
        ("peft", "build/peft.pyx"),
        ("fire", "lib/fire.py"),
        ("ray", "ray/README.md"),
    ],
)
async def test_no_package_is_suggested_for_a_module_of_the_workspace(place: Place, name: str, file: str) -> None:
    place.write("repo/tools/train.py", f"import torch\nimport {name}_not_there, {name}\n")
    place.write("repo/setup.py", "")
    place.write(f"repo/{file}", "")
    form = await place.prefill("repo/tools/train.py")
    told = [check for check in form.checks if check.code in ("ModulesMissing", "ModulesElsewhere")]
    assert told
    assert not any("pip install" in (check.hint or "") for check in told), told


@pytest.mark.parametrize(
    ("cells", "level", "says"),
    [
        (("%%writefile made.py\nx = 1\n", "import made"), None, ""),
        (("%%writefile pkg/made.py\nx = 1\n", "from pkg import made"), None, ""),
        (("!pip install -q scikit_no 'no-such[all]==2' 2>&1", "import no_such, scikit_no"), None, ""),
        (
            ("%pip install opencv-python-headless no_such", "import cv2, no_such, not_there"),
            "warning",
            "not_there can't",
        ),
        (("%pip install -r requirements.txt", "import no_such"), "hint", "own commands may install what is missing."),
        (
            ("!git clone https://example.org/x && cd x", "import no_such, not_there"),
            "hint",
            "commands may install what is missing.",
        ),
        (("!nvidia-smi", "import no_such"), "warning", "no_such can't be found"),
        (("from google.colab import drive",), "warning", "google.colab can't be found"),
    ],
)
async def test_modules_that_a_notebook_brings_itself(
    place: Place, cells: tuple[str, ...], level: str | None, says: str
) -> None:
    place.write("n.ipynb", notebook(*cells))
    found = [check for check in (await place.prefill("n.ipynb")).checks if check.code == "ModulesMissing"]
    assert [(check.level, says in check.message) for check in found] == ([(level, True)] if level else [])


async def test_scripts_that_a_notebook_runs_are_read(place: Place) -> None:
    place.write(
        "spawns.py",
        "import torch.multiprocessing as mp\nif __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n",
    )
    place.write("train.py", SCRIPT)
    for cells, torchrun in [
        (["%run spawns.py"], False),
        (["import sys\n!{sys.executable} -u spawns.py --lr 1"], False),
        (["%run train --data x"], True),
        (["%%writefile run.sh\ntorchrun train.py", "!bash run.sh"], False),
        (["%%writefile train.py\n# start: torchrun train.py\nx = 1", "!nvidia-smi"], True),
    ]:
        place.write("n.ipynb", notebook(*cells))
        form = await place.prefill("n.ipynb")
        assert (form.spec.torchrun is not None) == torchrun, cells
        assert {"OptionsUnread", "NotDistributed"}.isdisjoint(check.code for check in form.checks)


async def test_what_a_job_would_do_in_vain_is_said(place: Place) -> None:
    place.write("train.py", '"""Not saved yet."""\n')
    assert next(check.code for check in (await place.prefill("train.py")).checks) == "NothingToRun"
    place.write(
        "train.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--log_dir')\np.parse_args([])"
    )
    form = await place.prefill("train.py")
    given = {check.code: check for check in form.checks}["OptionsGiven"]
    assert (given.level, form.spec.args, given.link and given.link.line) == ("hint", [], 4)
    spec = form.spec.model_copy(update={"args": ["--log_dir", "x"]})
    checks = (await place.launch.preview(PreviewRequest(spec=spec))).checks
    assert {check.code: check.level for check in checks}["OptionsGiven"] == "warning"
    place.write("train.py", "x = 1\nget_ipython().run_line_magic('matplotlib', 'inline')\n")
    found = {check.code: check for check in (await place.prefill("train.py")).checks}["NoIPython"]
    assert (found.level, found.link and found.link.line) == ("warning", 2)


async def test_a_script_that_starts_its_processes_is_started_once(place: Place) -> None:
    place.write("train.py", "import run\nrun.launch()\n")
    place.write("run.py", "import torch.multiprocessing as mp\ndef launch():\n    mp.spawn(work, nprocs=2)\n")
    form = await place.prefill("train.py")
    assert (form.spec.torchrun, form.spec.total_replicas) == (None, 1)
    check = next(check for check in form.checks if check.code == "OwnProcesses")
    assert (check.level, check.message) == (
        "hint",
        "train.py starts its own processes (mp.spawn), so torchrun is off.",
    )
    assert check.link is not None
    assert (check.link.path, check.link.line) == ("run.py", 3)
    spec = form.spec.model_copy(update={"torchrun": Torchrun(proc_per_node=2)})
    preview = await place.launch.preview(PreviewRequest(spec=spec))
    check = next(check for check in preview.checks if check.code == "OwnProcesses")
    assert (check.level, check.field) == ("warning", "/spec/torchrun")
    assert "NotDistributed" not in {check.code for check in preview.checks}


async def test_a_script_of_a_package_runs_as_a_module(place: Place) -> None:
    script = place.write("proj/pkg/sub/train.py", "from ..data import load\nimport torch\n" + SCRIPT)
    for name in ("pkg/__init__.py", "pkg/sub/__init__.py", "pkg/data.py"):
        place.write(f"proj/{name}", "")
    form = await place.prefill("proj/pkg/sub/train.py")
    folder = place.root / "proj"
    assert form.spec.entrypoint == Entrypoint(kind="module", value="pkg.sub.train")
    assert (form.spec.working_dir, form.runs_dir) == (str(folder), str(folder / "runs"))
    assert form.spec.tensorboard.log_dirs == [str(folder / "runs" / "train-1")]
    assert form.spec.args[:2] == ["--log_dir", "runs/train-1"]
    assert [option.dest for option in form.script.options] == ["log_dir", "save_path", "data", "lr"]
    codes = {check.code: check for check in form.checks}
    assert codes["RunsAsModule"].level == "hint"
    assert "as the module pkg.sub.train" in codes["RunsAsModule"].message
    # the module is checked as its file is
    request = PreviewRequest(spec=form.spec, path="proj/pkg/sub/train.py")
    assert {"RunsAsModule", "OptionMissing"} <= {check.code for check in (await place.launch.preview(request)).checks}
    as_script = form.spec.model_copy(update={"entrypoint": Entrypoint(kind="script", value=str(script))})
    preview = await place.launch.preview(PreviewRequest(spec=as_script))
    found = next(check for check in preview.checks if check.code == "PartOfPackage")
    assert (found.level, found.field) == ("warning", "/spec/entrypoint/kind")
    assert f"Choose Module, pkg.sub.train, and the working directory {folder}." == found.hint


@pytest.mark.parametrize(
    ("path", "text", "module"),
    [
        ("pkg/train.py", "from pkg.data import x\n", "pkg.train"),
        ("pkg/__main__.py", "from . import data\n", "pkg"),
        ("loose/train.py", "from .data import x\n", "loose.train"),
        ("pkg/train.py", "try:\n    from .data import x\nexcept ImportError:\n    from data import x\n", None),
        ("pkg/train.py", "__package__ = 'pkg'\nfrom .data import x\n", None),
        ("pkg/train.py", "import data\n", None),
        ("no-package/train.py", "from .data import x\n", None),
        ("train.py", "import torch\n", None),
    ],
)
async def test_which_scripts_are_modules(place: Place, path: str, text: str, module: str | None) -> None:
    for name in ("pkg/__init__.py", "pkg/data.py"):
        place.write(name, "")
    script = place.write(path, text)
    spec = (await place.prefill(path)).spec
    expected = ("module", module) if module else ("script", str(script))
    assert (spec.entrypoint.kind, spec.entrypoint.value) == expected
    assert spec.working_dir == str(place.root if module else script.parent)


@pytest.mark.parametrize(
    "text",
    [
        "import typer\napp = typer.Typer()\n@app.command()\ndef main(lr: float = 0.1): ...\napp()\n",
        "import typer\ndef main(lr: float = typer.Option(0.1)): ...\ntyper.run(main)\n",
        "import configargparse\np = configargparse.ArgParser()\np.add('--lr', type=float)\np.parse_args()\n",
        "from dataclasses import dataclass\nfrom trl import TrlParser\n@dataclass\nclass A:\n    lr: float = 0.1\n"
        "TrlParser(A).parse_args_and_config()\n",
    ],
    ids=["typer-app", "typer-run", "configargparse", "trl"],
)
async def test_libraries_whose_options_are_all_read_have_no_hint(place: Place, text: str) -> None:
    place.write("train.py", text)
    form = await place.prefill("train.py")
    assert "--lr" in [flag for option in form.script.options for flag in option.flags]
    assert "OptionsUnread" not in [check.code for check in form.checks]


async def test_options_that_are_not_read_are_said(place: Place) -> None:
    place.write("train.py", "import fire\nfrom mains import choose\nfire.Fire(choose())\n")
    check = next(check for check in (await place.prefill("train.py")).checks if check.code == "OptionsUnread")
    assert check.message == "The options are built while the script runs. Not all of its options can be shown here."
    assert check.hint == "Type the others under More arguments."
    assert check.link is not None
    assert check.link.line == 3


async def test_a_syntax_that_another_python_may_know(place: Place) -> None:
    place.write("train.py", "x = = 2\n")
    source = read_source(
        ContentsRoot(AsyncLargeFileManager(root_dir=str(place.root))), place.root / "train.py", "/path"
    )
    kernel = Kernel(name="k", display_name="New", enabled=True, python_version="3.99.0")
    spec = (await place.prefill("train.py")).spec
    found = of_script(spec, source, kernel)[0]
    assert (found.level, found.code) == ("warning", "SyntaxError")
    assert "“New” has Python 3.99.0" in (found.hint or "")
    assert of_script(spec, source, kernel.model_copy(update={"python_version": None}))[0].level == "error"


async def test_a_root_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    place = Place(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")), Specs(python3="python"))
    place.write("train.py")
    with pytest.raises(FieldError, match="is not UTF-8") as caught:
        await place.prefill("train.py")
    assert caught.value.message.encode()
    assert (caught.value.field, bool(caught.value.hint)) == ("/path", True)
    base = JobSpec(name="a", entrypoint=Entrypoint(kind="command", value="make"), working_dir="/")
    assert (await place.prefill(None, spec=base)).model_dump_json()


async def test_an_option_that_is_given_twice(place: Place) -> None:
    """By its field and among the further arguments, say: the later one is pointed at, for it counts."""
    options = ("'--lr', '-l'", "'--tag', action='append'", "'--quick', action=argparse.BooleanOptionalAction", "'--n'")
    place.write(
        "train.py",
        "import argparse\np = argparse.ArgumentParser()\n" + "".join(f"p.add_argument({o})\n" for o in options),
    )
    spec = (await place.prefill("train.py")).spec
    for args, twice in [
        (["--lr", "1", "--tag", "a", "--tag", "b"], []),
        (["--lr", "1", "--n", "2", "--lr=3"], [("/spec/args/4", "--lr")]),
        (["-l", "1", "--lr", "2"], [("/spec/args/2", "--lr")]),
        (["--quick", "--no-quick"], [("/spec/args/1", "--quick")]),
        (["--lr", "1", "--", "--lr"], []),
    ]:
        preview = await place.launch.preview(PreviewRequest(spec=spec.model_copy(update={"args": args})))
        found = [check for check in preview.checks if check.code == "OptionTwice"]
        assert [(check.field, check.message.split()[0]) for check in found] == twice
        assert all(check.level == "warning" for check in found)


async def test_log_directories_are_looked_at(place: Place) -> None:
    place.write("train.py")
    spec = (await place.prefill("train.py")).spec
    used = place.write("old/events", "x").parent
    for path, level, code in [
        (str(used), "warning", "LogDirectoryInUse"),
        (str(used / "events"), "error", "LogDirectoryIsAFile"),
        (f"{used}/", "warning", "LogDirectoryInUse"),
        ("relative", "error", "LogDirectoryNotAbsolute"),
        (str(used / "new"), "passed", "LogDirectoryEmpty"),
        (f"{used}/{'x' * 300}/y", "passed", "LogDirectoryEmpty"),
    ]:
        spec.tensorboard.log_dirs = [path]
        preview = await place.launch.preview(PreviewRequest(spec=spec))
        found = next(check for check in preview.checks if check.code.startswith("LogDirectory"))
        assert (found.level, found.code) == (level, code)


@pytest.mark.parametrize(
    ("path", "kind", "says"),
    [
        ("gone.py", NotFound, "does not exist"),
        ("../outside.py", FieldError, "outside the folder"),
        ("a/../../outside.py", FieldError, "outside the folder"),
        ("folder", FieldError, "is a folder"),
        ("folder.py", FieldError, "is a folder"),
        ("", FieldError, "is a folder"),
        ("data.csv", FieldError, "neither a Python script nor a notebook"),
        ("pipe.py", FieldError, "can't be read"),
        ("loop.py", FieldError, "can't be read"),
        ("nul\0.py", FieldError, "NUL"),
        ("bad.ipynb", FieldError, "not a Jupyter notebook"),
        ("x" * 300 + ".py", FieldError, "can't be read"),
        ("x" * 300, FieldError, "neither a Python script nor a notebook"),
    ],
)
async def test_what_can_not_be_a_job(place: Place, path: str, kind: type[JobError], says: str) -> None:
    for folder in ("folder", "folder.py"):
        (place.root / folder).mkdir()
    place.write("data.csv", "")
    place.write("bad.ipynb", "{")
    place.write("../outside.py")
    (place.root / "loop.py").symlink_to("loop.py")
    os.mkfifo(place.root / "pipe.py")
    with pytest.raises(kind, match=says) as caught:
        await place.prefill(path)
    assert caught.value.field
    assert caught.value.hint or "\0" in path


async def test_admission_names_the_field(place: Place) -> None:
    place.write("train.py")
    spec = (await place.prefill("train.py")).spec
    await place.launch.admit(spec)
    for value, reason in [
        (str(place.root / "gone.py"), "ScriptGone"),
        (str(place.root.parent / "x.py"), "OutsideRoot"),
        ("train.py", "InvalidField"),
        (str(place.root), "IsAFolder"),
    ]:
        spec.entrypoint.value = value
        with pytest.raises(FieldError) as caught:
            await place.launch.admit(spec)
        assert (caught.value.field, caught.value.code) == ("/spec/entrypoint/value", reason)
        preview = await place.launch.preview(PreviewRequest(spec=spec))
        assert (preview.checks[0].level, preview.checks[0].code) == ("error", reason)
    spec.entrypoint.kind, spec.entrypoint.value = "module", "pkg.train"
    await place.launch.admit(spec)
    spec.runtime.kernel = "gone"
    with pytest.raises(FieldError) as caught:
        await place.launch.admit(spec)
    assert (caught.value.field, caught.value.code) == ("/spec/runtime/kernel", "KernelGone")


async def test_files_that_are_not_on_this_machine(tmp_path: Path) -> None:
    launch = launch_of(ContentsManager(), Specs(), "k", JobService(Engines({})), tmp_path)
    with pytest.raises(Unavailable) as caught:
        await launch.prefill(PrefillRequest(path="train.py"))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("args", "missing"),
    [
        ([], ["--config", "data"]),
        (["--config", "a", "b"], []),
        (["--conf=a", "b"], []),
        (["-ca", "d"], []),
        (["--other"], ["--config", "data"]),
        (["--con", "a", "b"], ["--config"]),  # an option of its own, so no abbreviation
        (["--config", "a", "--layers", "1", "b"], ["data"]),  # the list takes all words
        (["--config", "a", "--layers", "1", "--", "b"], []),
        (["b", "--layers", "1", "--config", "a"], []),
    ],
)
async def test_required_options_without_a_value(place: Place, args: list[str], missing: list[str]) -> None:
    text = "import argparse\nparser = argparse.ArgumentParser()\n"
    text += "parser.add_argument('--config', '-c', required=True)\nparser.add_argument('--con')\n"
    text += "parser.add_argument('data')\nparser.add_argument('--layers', nargs='*')\n"
    place.write("train.py", text)
    form = await place.prefill("train.py")
    request = PreviewRequest(path="train.py", spec=form.spec.model_copy(update={"args": args}))
    checks = (await place.launch.preview(request)).checks
    assert [check.option for check in checks if check.code == "OptionMissing"] == missing


@pytest.mark.parametrize(
    ("args", "missing"), [(["a", "b"], ["out"]), (["a", "b", "c"], []), (["--size", "1", "2", "a", "b"], ["out"])]
)
async def test_required_options_after_one_of_two_words(place: Place, args: list[str], missing: list[str]) -> None:
    text = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', nargs=2)\n"
    text += "parser.add_argument('pair', nargs=2)\nparser.add_argument('out')\n"
    place.write("train.py", text)
    form = await place.prefill("train.py")
    request = PreviewRequest(path="train.py", spec=form.spec.model_copy(update={"args": args}))
    checks = (await place.launch.preview(request)).checks
    assert [check.option for check in checks if check.code == "OptionMissing"] == missing
