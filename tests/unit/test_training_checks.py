"""Checks of how a script is started and what the job gives it: scripts with and without a mistake."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, Torchrun
from jupyterlab_t9kjob.launch.checks import of_script
from jupyterlab_t9kjob.launch.source_file import read_source
from jupyterlab_t9kjob.launch.training_checks import JobPlace, absolute_paths, unseen_here

MODULES = {
    "plain": "import torch\ndef fit():\n    torch.nn.Linear(1, 1)\n",
    "engine": "from torch.nn.parallel import DistributedDataParallel\ndef fit():\n    DistributedDataParallel(1)\n",
    "starter": "import torch.multiprocessing as mp\ndef go():\n    mp.spawn(print)\n",
    "tested": "import torch.multiprocessing as mp\ndef go():\n    pass\nif __name__ == '__main__':\n    mp.spawn(go)\n",
    "loading": "from torch.utils.data import DataLoader\ndef load(d, n):\n    return DataLoader(d, num_workers=n)\n",
    "rank_option": "def add(parser):\n    parser.add_argument('--local_rank', type=int, default=0)\n",
}
PARSER = "import argparse, os, torch\np = argparse.ArgumentParser()\n"
PARSE = "\nargs = p.parse_args()\n"
LOOP = "import torch\no = torch.optim.Adam(m)\nloss.backward()\no.step()\n"
DIST = "import os, torch, torch.distributed as dist\n"
MP = "import torch.multiprocessing as mp\n"
SPAWNED = DIST + MP + "def run(rank):\n    dist.init_process_group('gloo', rank=rank, {})\nmp.spawn(run)"
DATA = "import os, torch\nfrom torch.utils.data import DataLoader\n"


def options(*added: str, after: str = "") -> str:
    """Return a script with options."""
    return PARSER + "".join(f"p.add_argument({one})\n" for one in added) + PARSE + after


def commands(*added: str) -> str:
    """Return a script with the subcommands fit and test; the first one has an option."""
    text = PARSER + "s = p.add_subparsers(dest='command', required=True)\nf = s.add_parser('fit')\n"
    return text + "s.add_parser('test')\n" + "".join(f"f.add_argument({one})\n" for one in added) + PARSE


Case = str | tuple[str, list[str]]
"""A script, or a script with the job's arguments."""

CHECKS: dict[str, tuple[list[Case], list[Case]]] = {
    "NotDistributed": (
        [
            "import torch\nm = torch.nn.Linear(1, 1)",
            "print(1)",
            "import torch\nfor epoch in range(3):\n    loss = torch.zeros(1)",
            "import torch, torchvision\ntorchvision.models.resnet18()",
            options("'--lr'"),
            "import plain\nplain.fit()",
            "import numpy as np\nnp.zeros(3)",
            "import torch\nm = torch.nn.DataParallel(torch.nn.Linear(1, 1))",
            "import timm, torch\ntimm.create_model('resnet18')",
            "from torch.utils.tensorboard import SummaryWriter\nSummaryWriter()",
            "import not_known, torch\no = torch.optim.Adam(m)\no.zero_grad()\nloss.backward()\no.step()",
            "class AddPositionEmbs:\n    pass\nimport jax",
            LOOP + "from apex.parallel import DistributedDataParallel as DDP",
            LOOP + "isinstance(m, torch.nn.parallel.DistributedDataParallel)",
            LOOP + "type(m) in (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)",
            LOOP + "def f(m: torch.nn.parallel.DistributedDataParallel | None = None):\n    pass\nf()",
        ],
        [
            DIST + "dist.init_process_group()",
            "from torch.nn.parallel import DistributedDataParallel as D\nD(m)",
            "from accelerate import Accelerator\nAccelerator()",
            "import lightning as L\nL.Trainer().fit(m)",
            "from transformers import Trainer\nTrainer(model=m).train()",
            "import engine\nengine.fit()",
            "import some_library\nsome_library.train()",
            "import deepspeed\ndeepspeed.initialize(model=m)",
            "from torch.distributed.fsdp import fully_shard\nfully_shard(m)",
            "import importlib, sys\nimportlib.import_module(sys.argv[1]).main()",
            LOOP + "from some_library import distributed_utils\ndistributed_utils.set_backend()",
        ],
    ),
    "OwnProcesses": (
        [
            MP + "mp.spawn(print, nprocs=2)",
            "from torch.multiprocessing import spawn\nspawn(print)",
            "import torch\ntorch.multiprocessing.spawn(print)",
            MP + "def main():\n    mp.spawn(print)\nif __name__ == '__main__':\n    main()",
            "from accelerate import notebook_launcher\nnotebook_launcher(print)",
            "import subprocess\nsubprocess.run(['torchrun', '--nproc-per-node', '2', 'x.py'])",
            "import os\nos.system('torchrun --nproc-per-node 2 x.py')",
            DIST + "import multiprocessing as m\ndef run(rank):\n    dist.init_process_group(rank=rank)\n"
            "for rank in range(2):\n    m.Process(target=run, args=(rank,)).start()",
            "import starter\nstarter.go()",
            DIST + "from multiprocessing import Process\ndef run(i, size):\n"
            "    dist.init_process_group('gloo', rank=i)\n"
            "for i in range(2):\n    Process(target=run, args=(i, 2)).start()",
            MP + "launch = mp.start_processes\nlaunch(print)",
            "import os, subprocess, sys\nenv = {**os.environ, 'WORLD_SIZE': '2'}\nfor rank in range(2):\n"
            "    env['RANK'] = str(rank)\n    subprocess.Popen([sys.executable, sys.argv[1]], env=env)",
            MP + "from fastcore.script import call_parse\n@call_parse\ndef main(lr: float = 0.1):\n    mp.spawn(print)",
        ],
        [
            MP + "mp.set_start_method('spawn')",
            MP + "def unused():\n    mp.spawn(print)",
            "import multiprocessing\nmultiprocessing.Pool(4).map(print, [1])",
            "print('Start it with torchrun x.py')",
            "import subprocess\nsubprocess.run(['git', 'log'])",
            "import os, subprocess\nrank = os.environ['RANK'], os.environ['WORLD_SIZE']\nfor name in ('a', 'b'):\n"
            "    subprocess.run(['git', 'log', name])",
            "raise RuntimeError('Use torchrun --nproc-per-node 2 x.py')",
            "from multiprocessing import Process\nProcess(target=print).start()",
            "import engine\nengine.fit()",
            "import tested\ntested.go()",
            '"""Run with mp.spawn(main)."""\nimport torch',
        ],
    ),
    "OtherLauncher": (
        [
            "import horovod.torch as hvd\nhvd.init()",
            "import horovod.torch\nhorovod.torch.init()",
            "from horovod import torch as hvd\nhvd.init()",
            "import horovod.torch as hvd\ndef main():\n    hvd.init()\nmain()",
            "from mpi4py import MPI\nMPI.COMM_WORLD.Get_rank()",
            "import mpi4py\nprint(mpi4py)",
            "import torch\ndef main():\n    from mpi4py import MPI\nmain()",
            DIST + "dist.init_process_group('mpi')",
            DIST + "backend = 'mpi'\ndist.init_process_group(backend=backend)",
            DIST + "dist.init_process_group('gloo', rank=int(os.environ['SLURM_PROCID']), world_size=2)",
        ],
        [
            DIST + "dist.init_process_group('gloo')",
            "try:\n    from mpi4py import MPI\nexcept ImportError:\n    MPI = None",
            DIST + "rank = int(os.environ.get('RANK', os.environ['SLURM_PROCID']))\n"
            "dist.init_process_group('gloo', rank=rank)",
            "import wandb\nwandb.init()",
            "import ray\nray.init()",
            DIST + "print(os.environ.get('SLURM_PROCID'))\ndist.init_process_group('gloo')",
            options("'--backend', default='gloo'", after=DIST + "dist.init_process_group(args.backend)"),
            "import pygame as hv\nhv.init()",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mpi4py import MPI",
            "print('mpirun -n 2 python x.py')",
        ],
    ),
    "FixedAddress": (
        [
            SPAWNED.format("init_method='tcp://10.0.0.7:23456'"),
            SPAWNED.format("init_method='tcp://224.66.41.62:23456'"),
            SPAWNED.format("") + "\nos.environ['MASTER_ADDR'] = 'node-1'",
            options("'--ip', default='10.0.0.7'", after=SPAWNED.format("init_method='tcp://' + args.ip + ':2345'")),
            DIST + "os.environ['MASTER_ADDR'] = 'localhost'\ndist.init_process_group()",
        ],
        [
            SPAWNED.format("init_method='tcp://localhost:23456'"),
            SPAWNED.format("init_method='tcp://127.0.0.1:23456'"),
            options("'--ip', default='localhost'", after=SPAWNED.format("init_method='tcp://' + args.ip + ':2345'")),
            SPAWNED.format("") + "\nos.environ['MASTER_PORT'] = '12355'",
            SPAWNED.format("") + "\nos.environ['MASTER_ADDR'] = 'localhost'",
            DIST + "dist.init_process_group()",
        ],
    ),
    "ManyLoaderWorkers": (
        [
            DATA + "DataLoader(d, num_workers=8)",
            DATA + "N = 16\nDataLoader(d, num_workers=N)",
            options("'--workers', type=int, default=16", after=DATA + "DataLoader(d, num_workers=args.workers)"),
            (options("'--j', type=int, default=1", after=DATA + "DataLoader(d, num_workers=args.j)"), ["--j", "9"]),
            (options("'--j', type=int, default=1", after=DATA + "DataLoader(d, num_workers=args.j)"), ["--j=9"]),
            DATA + "def load(n):\n    return DataLoader(d, num_workers=n)\nload(12)",
            DATA + "def load(n=12):\n    return DataLoader(d, num_workers=n)\nload()",
            DATA + "DataLoader(d, 32, False, None, None, 8)",
            "import torch\ntorch.utils.data.DataLoader(d, batch_size=2, num_workers=5)",
            "import loading\nloading.load([], 8)",
        ],
        [
            DATA + "DataLoader(d, num_workers=4)",
            DATA + "DataLoader(d, num_workers=0)",
            DATA + "DataLoader(d)",
            DATA + "DataLoader(d, num_workers=os.cpu_count())",
            DATA + "DataLoader(d, num_workers=min(8, os.cpu_count()))",
            options("'--workers', type=int, default=2", after=DATA + "DataLoader(d, num_workers=args.workers)"),
            (options("'--j', type=int, default=16", after=DATA + "DataLoader(d, num_workers=args.j)"), ["--j", "2"]),
            DATA + "DataLoader(d, batch_size=64)",
            DATA + "DataLoader(d, num_workers=int(os.environ['WORKERS']))",
            DATA + "num_workers = 16\nprint(num_workers)",
        ],
    ),
    "PathNotSeen": (
        [
            "DATA_DIR = '/no_such_disk/imagenet'\nprint(DATA_DIR)",
            "open('/no_such_disk/list.txt')",
            options("'--data', default='/no_such_disk/data'"),
            (options("'--data'"), ["--data", "/no_such_disk/data"]),
            (options("'--data'"), ["--data=/no_such_disk/data"]),
            options("'--weights', default='/no_such_disk/w'"),
            options("'--ssh-key', default='/no_such_disk/id_rsa'"),
            options("'--keys-file', default='/no_such_disk/keys'"),
            "import torchvision\ntorchvision.datasets.ImageFolder('/no_such_disk/train')",
            "import torch\ntorch.load('/no_such_disk/model.pt')",
            "import pandas as pd\npd.read_csv('/no_such_disk/a.csv')",
            "def load(root):\n    pass\nload(root='/no_such_disk/data')",
            "from transformers import AutoModel\nAutoModel.from_pretrained('/no_such_disk/llama')",
        ],
        [
            "DATA_DIR = '/tmp/imagenet'",
            "DATA_DIR = 'data/imagenet'",
            "open('/dev/shm/cache')",
            "url_root = 'https://example.org/data'",
            "import os\nif os.path.exists('/no_such_disk/a'):\n    open('/no_such_disk/a')",
            "api_path = '/v1/models'",
            '"""Reads /no_such_disk/data."""',
            "print('/no_such_disk/data')",
            (options("'--data', default='/no_such_disk/data'"), ["--data", "data"]),
            options("'--data-key', default='/observations/images'"),
            (options("'--image_keys', nargs='*'"), ["--image_keys", "/observations/images"]),
            options("'--topic', default='/camera/image_raw'"),
            options("'--data', default='/usr/share/data'"),
        ],
    ),
    "LocalRankExpected": (
        [
            options("'--local_rank', type=int, default=-1"),
            options("'--local_rank', type=int, default=0"),
            options("'--local_rank', type=int, required=True"),
            options("'--local-rank', type=int, default=0"),
            options("'--local-rank', '--local_rank', type=int"),
            options("'--local_rank', default=0", after="torch.cuda.set_device(int(args.local_rank))"),
            PARSER + "import rank_option\nrank_option.add(p)" + PARSE,
            PARSER + "g = p.add_argument_group('ddp')\ng.add_argument('--local_rank', type=int)" + PARSE,
            PARSER + "p.add_argument('--local_rank', type=int)\nargs, rest = p.parse_known_args()",
            (options("'--local_rank', type=int, default=0"), ["--local_rank", "0"]),
        ],
        [
            options("'--lr'"),
            options(
                "'--local_rank', type=int, default=0",
                after="from transformers import Trainer\nTrainer(model=m).train()",
            ),
            options("'--local_rank', type=int, default=0", after="rank = int(os.environ['LOCAL_RANK'])"),
            options("'--local_rank', type=int, default=0", after="rank = os.environ.get('LOCAL_RANK', 0)"),
            options("'--rank', type=int, default=0"),
            "import simple_parsing, lightning\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n"
            "    local_rank: int = 0\np = simple_parsing.ArgumentParser()\np.add_arguments(A, 'a')\np.parse_args()\n"
            "lightning.Trainer().fit(m)",
            options("'--local_world_size', type=int, default=1"),
            options("'--local_rank', type=int, default=int(os.environ['LOCAL_RANK'])"),
            options(
                "'--local_rank', type=int, default=0",
                after="for name in ('LOCAL_RANK', 'SLURM_LOCALID'):\n    args.gpu = int(os.environ.get(name, 0))",
            ),
            options("'--local_rank', type=int, default=0", after="args.local_rank = setup().local_rank"),
            options("'--local_rank', type=int, default=0", after="import importlib\nimportlib.import_module('start')"),
            PARSER
            + "if torch.__version__ < '2':\n    p.add_argument('--local_rank', type=int, required=True)"
            + PARSE
            + "rank = int(os.environ['LOCAL_RANK'])",
            (options("'--local_rank', type=int, default=0"), ["--local_rank", "${local_rank}"]),
            (options("'--local_rank', type=int, default=0"), ["--local_rank=${local_rank}"]),
            options("'--local_rank', type=int, default=-1", after="import deepspeed\ndeepspeed.initialize(args)"),
            options("'--local_rank', type=int, default=-1", after="from other import ddp_tools\nddp_tools.start(args)"),
            "local_rank = 0",
            "from transformers import HfArgumentParser, TrainingArguments\n"
            "HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()",
        ],
    ),
    "OptionMissing": (
        [
            options("'--data', required=True"),
            options("'data'"),
            (options("'data'", "'out'"), ["x"]),
            options("'files', nargs='+'"),
            options("'size', nargs=2"),
            (options("'--data', required=True", "'--dir'"), ["--dir", "data"]),
            (commands("'--lr', required=True"), ["fit"]),
            commands("'--lr'"),
            "import click\n@click.command()\n@click.option('--data', required=True)\ndef main(data):\n    pass\nmain()",
            "import fire\ndef main(data, lr=1):\n    pass\nfire.Fire(main)",
        ],
        [
            (options("'--data', required=True"), ["--data", "x"]),
            (options("'--data', required=True"), ["--data=x"]),
            (options("'--data-dir', required=True"), ["--data", "x"]),
            PARSER + "if torch.__version__ < '2':\n    p.add_argument('--data', required=True)" + PARSE,
            (options("'-d', required=True"), ["-dx"]),
            (options("'data'"), ["x"]),
            options("'data', nargs='?'"),
            options("'files', nargs='*'"),
            (commands("'--lr', required=True"), ["test"]),
            options("'--data', default='x'"),
            (options("'data'", "'--lr'"), ["--lr", "1", "x"]),
        ],
    ),
}
CASES = [
    pytest.param(code, case, bad, id=f"{code} {'bad' if bad else 'good'} {index}")
    for code, groups in CHECKS.items()
    for bad, cases in zip((True, False), groups, strict=True)
    for index, case in enumerate(cases)
]


@pytest.mark.parametrize(("code", "case", "bad"), CASES)
def test_checks(tmp_path: Path, code: str, case: Case, bad: bool) -> None:
    text, args = case if isinstance(case, tuple) else (case, [])
    script = tmp_path / "train.py"
    script.write_text(text)
    for name, module in MODULES.items():
        (tmp_path / f"{name}.py").write_text(module)
    root = ContentsRoot(AsyncLargeFileManager(root_dir=str(tmp_path)))
    source = read_source(root, script, "/path")
    entrypoint = Entrypoint(kind="script", value=str(script))
    spec = JobSpec(name="job", entrypoint=entrypoint, args=args, torchrun=Torchrun(proc_per_node=2))
    place = JobPlace(has_gpu=True, cpus=4, unseen=unseen_here(absolute_paths(spec, source)))
    found = {check.code for check in of_script(spec, source, place=place) if check.level != "passed"}
    assert (code in found) == bad, found


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("!pip install foo", False),
        ("!pip install 'foo>=2'", False),
        ('%pip install "foo>=2" bar', False),
        ("pip install 'foo>=2' \"bar\"", False),
        ("!pip list", True),
        ("!pip install 'foo>=2'\n!ls", True),
        ('!echo "_t9kjob.pip(\'install"', True),
    ],
)
def test_commands_of_a_notebook_that_each_process_runs(tmp_path: Path, cell: str, told: bool) -> None:
    file = tmp_path / "explore.ipynb"
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3"}
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)], metadata={"kernelspec": kernel})
    nbformat.write(made, file)
    source = read_source(ContentsRoot(AsyncLargeFileManager(root_dir=str(tmp_path))), file, "/path")
    entrypoint = Entrypoint(kind="notebook", value=str(file))
    spec = JobSpec(name="job", entrypoint=entrypoint, torchrun=Torchrun(proc_per_node=2))
    assert ("CommandsRepeated" in {check.code for check in of_script(spec, source)}) == told
