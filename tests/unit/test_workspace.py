"""Scripts with modules of their own: who starts processes, whose options are not read, what Python does not find."""

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jupyterlab_t9kjob.launch.scripts.script import Script, read_script
from jupyterlab_t9kjob.launch.scripts.workspace import Workspace

INIT = "import torch.distributed as dist\ndef setup():\n    dist.init_process_group('gloo')\n"
OPTIONS = (
    "import argparse\ndef get_args():\n    p = argparse.ArgumentParser()\n"
    "    p.add_argument('--lr')\n    return p.parse_args()\n"
)
SPAWN = "import torch.multiprocessing as mp\ndef launch(work):\n    mp.spawn(work, nprocs=2)\n"


def read(root: Path, files: dict[str, str], script: str = "train.py") -> Script:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    path = root / script
    return read_script(path.read_text(), path.name, Workspace(root, path))


@dataclass
class Tree:
    """A script with its modules and what is to be told about it."""

    name: str
    files: dict[str, str]
    script: str = "train.py"
    distributed: bool | None = None
    launch: str | None = None
    unread: str | None = None
    foreign: list[str] = field(default_factory=list)


UNREAD = {
    "Hydra": "configuration is not known",
    "Typer": "Typer",
    "HfArgumentParser": "options of A",
    "jsonargparse": "while the script runs",
    "LightningCLI": "depend on the class",
    "tyro": "while the script runs",
    "while it runs": "while it runs",
}
"""Parts of the sentences about options of libraries that can't be read."""

TREES = [
    Tree("plain", {"train.py": "import torch, numpy\nmodel = torch.nn.Linear(1, 1)\n"}, distributed=False),
    Tree("data parallel", {"train.py": "import torch\nm = torch.nn.DataParallel(m)\n"}, distributed=False),
    Tree(
        "set up beside it",
        {"train.py": "import torch\nfrom comm import setup\nsetup()\n", "comm.py": INIT},
        distributed=True,
    ),
    Tree(
        "set up in a package, through its __init__",
        {"train.py": "import lib\nlib.setup()\n", "lib/__init__.py": "from .comm import setup\n", "lib/comm.py": INIT},
        distributed=True,
    ),
    Tree(
        "set up where sys.path says",
        {
            "tools/train.py": "import sys, pathlib\nROOT = pathlib.Path(__file__).resolve().parent.parent\n"
            "sys.path.insert(0, str(ROOT / 'src'))\nimport comm\ncomm.setup()\n",
            "src/comm.py": INIT,
        },
        "tools/train.py",
        distributed=True,
    ),
    Tree(
        "set up where os.path says",
        {
            "tools/train.py": "import os, sys\n"
            "sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))\n"
            "from src.comm import setup\n",
            "src/comm.py": INIT,
        },
        "tools/train.py",
        distributed=True,
    ),
    Tree(
        "a cycle",
        {"train.py": "import a\n", "a.py": "import b\nimport train\n", "b.py": "import a\n"},
        distributed=False,
    ),
    Tree("a module that is broken", {"train.py": "import a\n", "a.py": "def (\n"}, distributed=False),
    Tree("a broken module with a group", {"train.py": "import a\n", "a.py": "def (\ninit_process_group"}),
    Tree(
        "a module that is compiled",
        {"train.py": "import a.b\n", "a/__init__.py": "", "a/b.cpython-311-x86_64-linux-gnu.so": ""},
    ),
    Tree("a folder of data", {"train.py": "import datasets\n", "datasets/mnist.csv": ""}, distributed=False),
    Tree("imported by name", {"train.py": "import importlib\nimportlib.import_module(name)\n"}),
    Tree(
        "imported by name from the workspace",
        {"train.py": "import importlib\nimportlib.import_module('nets.' + name)\n", "nets/a.py": "x = 1\n"},
        distributed=False,
    ),
    Tree(
        "imported by name, with a group",
        {"train.py": "import importlib\nimportlib.import_module('nets.' + name)\n", "nets/a.py": INIT},
    ),
    Tree("another program", {"train.py": "import subprocess\nsubprocess.run(['make'])\n"}, distributed=False),
    Tree(
        "a path that only a run tells",
        {"train.py": "import sys, os\nsys.path.insert(0, os.environ['LIB'])\nimport torch, lib\nlib.go()\n"},
        foreign=["lib"],
    ),
    *(
        Tree(f"the trainer of {package}", {"train.py": f"import torch\nfrom {package} import x\nx()\n"})
        for package in (
            *(
                "lightning.pytorch",
                "pytorch_lightning",
                "accelerate",
                "deepspeed",
                "ray.train.torch",
                "ignite.distributed",
            ),
            *(
                "composer",
                "fastai.vision.all",
                "lightning_fabric",
                "colossalai",
                "horovod.torch",
                "mmengine",
                "detectron2",
            ),
            *("ultralytics", "trl", "monai.engines", "super_gradients", "megatron.core", "no_such_thing"),
        )
    ),
    *(
        Tree(f"a folder with the name of a library: {name}", files, script, distributed=distributed)
        for name, script, files, distributed in [
            (
                "the script's own",
                "ultralytics/train.py",
                {"ultralytics/train.py": "from ultralytics import YOLO\nYOLO('n').train(data='d.yaml')\n"},
                None,
            ),
            (
                "above the script's",
                "colossalai/small/train.py",
                {"colossalai/small/train.py": "import colossalai\ncolossalai.launch()\n"},
                None,
            ),
            (
                "beside the script",
                "train.py",
                {"train.py": "from ultralytics import YOLO\nYOLO('n').train()\n", "ultralytics/a.py": "import torch\n"},
                None,
            ),
            (
                "any name, the script's own",
                "mylib/train.py",
                {"mylib/train.py": "from mylib import train_all\ntrain_all()\n"},
                None,
            ),
            (
                "with the imported module",
                "train.py",
                {"train.py": "from trainer.loop import setup\nsetup()\n", "trainer/loop.py": INIT},
                True,
            ),
            (
                "with the imported name, around the script",
                "trainer/train.py",
                {"trainer/train.py": "from trainer import loop\nloop.fit()\n", "trainer/loop.py": "def fit(): ...\n"},
                False,
            ),
            (
                "a package",
                "ultralytics/train.py",
                {
                    "ultralytics/train.py": "from ultralytics import fit\nfit()\n",
                    "ultralytics/__init__.py": "import torch\ndef fit(): ...\n",
                },
                False,
            ),
        ]
    ),
    Tree("Transformers' trainer", {"train.py": "from transformers import Trainer, TrainingArguments\n"}),
    Tree("Transformers' models", {"train.py": "import torch\nfrom transformers import AutoModel\n"}, distributed=False),
    Tree(
        "a trainer behind a module",
        {"train.py": "import engine\n", "engine.py": "import lightning as L\ndef fit():\n    L.Trainer().fit(m)\n"},
    ),
    Tree(
        "a seed of Lightning's",
        {"train.py": "import torch, lightning as L\nL.seed_everything(1)\nloss.backward()\no.step()\n"},
        distributed=False,
    ),
    Tree(
        "a guarded trainer",
        {
            "train.py": "try:\n    import deepspeed\nexcept ImportError:\n    deepspeed = None\n"
            "def f():\n    deepspeed.initialize(m)\n"
        },
    ),
    Tree(
        "a group that the training loop does not start",
        {
            "train.py": "import torch, tools\ntools.seed()\nloss.backward()\no.step()\n",
            "tools.py": f"{INIT}def seed():\n    pass\ndef setup():\n    dist.init_process_group()\n",
        },
        distributed=False,
    ),
    Tree(
        "a job that a module starts",
        {
            "train.py": f"{INIT}import cluster\ndist.init_process_group()\ncluster.evaluate()\n",
            "cluster.py": "import os\ndef evaluate():\n    os.system('srun python eval.py')\n",
        },
        distributed=True,
    ),
    Tree(
        "data of another library",
        {"train.py": "import some_data, numpy\nnumpy.save('x', some_data.load())\n"},
        distributed=False,
        foreign=["some_data"],
    ),
    Tree("a wrapper's name", {"train.py": "import torch, timm\ntimm.utils.init_distributed_device(args)\n"}),
    # who starts the processes
    Tree(
        "mp.spawn",
        {
            "train.py": f"{INIT}import torch.multiprocessing as mp\n"
            "if __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n"
        },
        distributed=True,
        launch="mp.spawn",
    ),
    Tree(
        "spawn by its full name, in a function",
        {"train.py": "import torch\ndef main():\n    torch.multiprocessing.spawn(work)\nmain()\n"},
        distributed=False,
        launch="mp.spawn",
    ),
    Tree(
        "spawn imported",
        {"train.py": "from torch.multiprocessing import spawn\nspawn(work)\n"},
        distributed=False,
        launch="mp.spawn",
    ),
    Tree(
        "spawn in a module",
        {"train.py": "from run import launch\nlaunch(f)\n", "run.py": SPAWN},
        distributed=False,
        launch="mp.spawn",
    ),
    Tree(
        "spawn in a module that nobody calls",
        {"train.py": "import run\nrun.other()\n", "run.py": SPAWN},
        distributed=False,
    ),
    Tree(
        "spawn where a module is a script itself",
        {
            "train.py": "import run\n",
            "run.py": "import torch.multiprocessing as mp\nif __name__ == '__main__':\n    mp.spawn(f)\n",
        },
        distributed=False,
    ),
    Tree(
        "processes one by one",
        {
            "train.py": f"{INIT}from multiprocessing import Process\nfor rank in range(size):\n"
            "    p = Process(target=run, args=(rank, size))\n    p.start()\n"
        },
        distributed=True,
        launch="Process",
    ),
    Tree(
        "processes that load data",
        {
            "train.py": "from multiprocessing import Process\n"
            "for f in files:\n    Process(target=load, args=(f,)).start()\n"
        },
        distributed=False,
    ),
    Tree(
        "a notebook's launcher",
        {"train.py": "from accelerate import notebook_launcher\nnotebook_launcher(f)\n"},
        launch="notebook_launcher",
    ),
    Tree(
        "torchrun by subprocess",
        {"train.py": "import subprocess\nsubprocess.run(['torchrun', 'x.py'])\n"},
        launch="a launcher",
    ),
    Tree(
        "torchrun by a shell",
        {"train.py": "import os\nos.system('python -m torch.distributed.run x.py')\n"},
        launch="a launcher",
    ),
    Tree(
        "accelerate in a list",
        {"train.py": "import subprocess\ncmd = 'accelerate launch x.py'\nsubprocess.check_call(cmd, shell=True)\n"},
        launch="a launcher",
    ),
    Tree(
        "spawn by another name",
        {"train.py": f"{INIT}import torch\nlaunch = torch.multiprocessing.spawn\nlaunch(setup, nprocs=2)\n"},
        distributed=True,
        launch="mp.spawn",
    ),
    Tree(
        "a pool of ranks",
        {
            "train.py": f"{INIT}from multiprocessing import get_context\ndef work(rank):\n    setup()\n"
            "with get_context('spawn').Pool(2) as pool:\n    pool.map(work, range(2))\n"
        },
        distributed=True,
        launch="a process pool",
    ),
    Tree(
        "a pool that loads data",
        {"train.py": f"{INIT}from multiprocessing import Pool\nsetup()\nPool(2).map(load, files)\n"},
        distributed=True,
    ),
    Tree(
        "torchrun as a module",
        {"train.py": "import runpy, sys\nrunpy.run_module('torch.distributed.run', run_name='__main__')\n"},
        launch="a launcher",
    ),
    Tree(
        "accelerate word by word",
        {"train.py": "import subprocess\ncmd = ['accelerate', 'launch', 'x.py']\nsubprocess.run(cmd)\n"},
        launch="a launcher",
    ),
    Tree(
        "torchrun put together",
        {
            "train.py": "import subprocess, sys\ncmd = [sys.executable]\ncmd += ['-m', 'torch.distributed.run']\n"
            "subprocess.run(cmd)\n"
        },
        launch="a launcher",
    ),
    Tree(
        "torchrun in messages beside another program",
        {
            "train.py": f"{INIT}import argparse, subprocess\nUSAGE = 'torchrun x.py'\n"
            "argparse.ArgumentParser(epilog='torchrun train.py').parse_args()\n"
            "subprocess.check_output(['git', 'rev-parse', 'HEAD'], cwd=here)\n"
            "raise RuntimeError('Start it with torchrun train.py')\n"
        },
        distributed=True,
        unread="parses the command line",
    ),
    Tree(
        "torchrun in an error beside a program that only a run tells",
        {
            "train.py": f"{INIT}import subprocess\ndef run(cmd):\n    subprocess.run(cmd)\n"
            "run(['make'])\nif not setup():\n    raise RuntimeError('Start it with torchrun train.py')\n"
        },
        distributed=True,
    ),
    Tree("torchrun in a message", {"train.py": "print('Start it with torchrun x.py')\n"}, distributed=False),
    # whose options are not read
    *(
        Tree(f"options by {what}", {"train.py": source}, unread=UNREAD.get(what), distributed=distributed)
        for what, source, distributed in [
            ("click", "import click\n@click.command()\n@click.option('--lr')\ndef main(lr): ...\nmain()\n", False),
            ("Fire", "import fire\ndef main(lr=1): ...\nif __name__ == '__main__':\n    fire.Fire(main)\n", False),
            ("Hydra", "import hydra\n@hydra.main(config_path='c')\ndef main(cfg): ...\nmain()\n", False),
            ("Typer", "import typer\napp = typer.Typer()\n@app.command()\ndef main(): ...\napp()\n", False),
            ("absl.flags", "from absl import app, flags\nflags.DEFINE_string('x', '', '')\napp.run(main)\n", False),
            (
                "HfArgumentParser",
                "from transformers import HfArgumentParser\nHfArgumentParser(A).parse_args_into_dataclasses()\n",
                False,
            ),
            ("jsonargparse", "from jsonargparse import CLI\nCLI(main)\n", False),
            ("LightningCLI", "from lightning.pytorch.cli import LightningCLI\nLightningCLI(M)\n", True),
            ("tyro", "import tyro\ntyro.cli(main)\n", False),
            (
                "Typer with options",
                "import typer\nfrom typer import Option\ndef main(lr=Option(1)): ...\ntyper.run(main)\n",
                False,
            ),
            ("sys.argv", "import sys\nlr = float(sys.argv[1])\n", False),
            (
                "while it runs",
                "import argparse\np = argparse.ArgumentParser()\nfor n in names:\n    p.add_argument(n)\n",
                False,
            ),
            (
                "deepspeed.add_config_arguments",
                "import argparse, deepspeed\np = argparse.ArgumentParser()\n"
                "p.add_argument('--lr')\np = deepspeed.add_config_arguments(p)\n",
                None,
            ),
        ]
    ),
    Tree(
        "options elsewhere",
        {"train.py": "from opts import get_args\nargs = get_args()\n", "opts.py": OPTIONS},
        distributed=False,
    ),
    Tree(
        "options of a module's own", {"train.py": "import opts\nopts.other()\n", "opts.py": OPTIONS}, distributed=False
    ),
    Tree(
        "options of a class elsewhere",
        {
            "train.py": "from opts.base import Options\nopt = Options().parse()\n",
            "opts/__init__.py": "",
            "opts/base.py": "import argparse\nclass Options:\n    def fill(self, p):\n        p.add_argument('--x')\n"
            "    def parse(self):\n"
            "        p = argparse.ArgumentParser()\n        self.fill(p)\n        return p.parse_args()\n",
        },
        distributed=False,
    ),
    Tree(
        "nanoGPT's",
        {"train.py": "lr = 1\nexec(open('configurator.py').read())\n"},
        distributed=False,
        unread="configurator.py",
    ),
    Tree("read well", {"train.py": OPTIONS + "get_args()\nprint(__import__)\n"}, distributed=False),
    Tree("no options", {"train.py": "import sys\nprint(sys.argv[0])\n"}, distributed=False),
    Tree(
        "hidden ones",
        {
            "train.py": "import argparse\np = argparse.ArgumentParser()\n"
            "p.add_argument('--x', help=argparse.SUPPRESS)\n"
            "p.add_argument('-V', action='version')\np.parse_args()\n"
        },
        distributed=False,
    ),
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_what_is_told_of_a_script_and_its_modules(tmp_path: Path, tree: Tree) -> None:
    script = read(tmp_path, tree.files, tree.script)
    assert script.info.distributed is tree.distributed
    assert (script.launch and script.launch.what) == tree.launch
    assert bool(script.unread) == (tree.unread is not None), script.unread
    assert all(str(tree.unread) in unread.sentence for unread in script.unread)


def test_modules_of_the_workspace_need_no_installing(tmp_path: Path) -> None:
    files = {
        "tools/train.py": "import sys\nsys.path.append('../lib')\nimport near, far, below.deep, numpy, away, data\n",
        "tools/near.py": "",
        "tools/below/deep.py": "",
        "tools/data/x.csv": "",
        "lib/far.py": "",
        "away/__init__.py": "",
        "src/lab/__init__.py": "",
    }
    script = read(tmp_path, files, "tools/train.py")
    assert [module.name for module in script.info.imports] == ["away", "data", "numpy"]
    workspace = Workspace(tmp_path, tmp_path / "tools/train.py")
    assert {name: workspace.elsewhere(name) for name in ("away", "lab", "data", "numpy")} == {
        "away": tmp_path,
        "lab": tmp_path / "src",
        "data": None,
        "numpy": None,
    }


def test_a_library_is_not_found_in_a_folder_of_its_name_around_the_script(tmp_path: Path) -> None:
    read(tmp_path, {"ultralytics/train.py": "import ultralytics, timm.a\n", "timm/a.py": ""}, "ultralytics/train.py")
    workspace = Workspace(tmp_path, tmp_path / "ultralytics/train.py")
    assert (workspace.elsewhere("ultralytics"), workspace.elsewhere("timm")) == (None, tmp_path)


def test_options_that_a_script_sets_itself_are_not_offered() -> None:
    parser = "import argparse, sys\np = argparse.ArgumentParser()\np.add_argument('--lr')\n"
    for text, line in [
        ("p.parse_args([])", 4),
        ("p.parse_known_args(args=['--lr', '1'])", 4),
        ("p.parse_args(''.split())", 4),
        ("p.parse_args('')", 4),
        ("sys.argv = ['']\np.parse_args()", 4),
        ("p.parse_args()", None),
        ("p.parse_args(argv)", None),
        ("p.parse_args(sys.argv[1:])", None),
        ("p.parse_args(None)", None),
        ("if 'ipykernel' in sys.modules:\n    sys.argv = ['']\n    p.parse_args([])\np.parse_args()", None),
    ]:
        script = read_script(parser + text, "train.py")
        assert (script.given, len(script.info.options)) == (line, 0 if line else 1), text
        assert script.unread == []


def test_where_ipython_is_needed() -> None:
    for text, line in [
        ("x = 1\nget_ipython().run_line_magic('matplotlib', 'inline')", 2),
        ("def f():\n    return get_ipython()", 2),
        ("from IPython import get_ipython\nget_ipython().system('ls')", 2),
        ("from IPython import get_ipython\nif get_ipython() is not None:\n    pass", None),
        ("try:\n    get_ipython().__class__\nexcept NameError:\n    pass", None),
    ]:
        assert read_script(text, "train.py").ipython == line, text
    # a notebook's script has a get_ipython that returns None
    assert read_script("print(get_ipython())", "n.ipynb", compiled=False).ipython is None


def test_nothing_outside_of_the_root_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text(INIT)
    root = tmp_path / "root"
    files = {"train.py": "import sys\nsys.path.append('..')\nimport secret, linked, around\n"}
    root.mkdir()
    (root / "linked.py").symlink_to(tmp_path / "secret.py")
    (root / "around.py").symlink_to("around.py")
    script = read(root, files)
    assert script.info.distributed is None
    assert script.closure.modules == {}
    assert Workspace(root, root / "train.py").elsewhere("secret") is None


def test_reading_modules_is_bounded(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    for number in range(2000):
        (package / f"m{number}.py").write_text(f"from . import m{number + 1}\n" * 5)
    (tmp_path / "huge.py").write_text("x = 1\n" * 400_000)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    began = time.process_time()
    script = read(tmp_path, {"train.py": f"import pkg.m0, huge, pipe, folder, {'x' * 5000}, a{'.b' * 500}\n"})
    assert time.process_time() - began < 30
    assert len(script.closure.modules) <= 300
    assert script.info.distributed is None


def test_no_module_is_imported(tmp_path: Path) -> None:
    read(tmp_path, {"train.py": "import evil_module\n", "evil_module.py": "open('made', 'w')\nraise SystemExit\n"})
    assert "evil_module" not in sys.modules
    assert not (tmp_path / "made").exists()
