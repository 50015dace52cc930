"""How a script trains, where it writes, and the mistakes of scripts that several processes run."""

from pathlib import Path

import pytest

from jupyterlab_t9kjob.launch.scripts.script import Script, read_script
from jupyterlab_t9kjob.launch.scripts.workspace import Workspace

IMPORTS = """import os, sys, argparse, torch, torch.distributed as dist, torchvision
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter
from torch.nn.parallel import DistributedDataParallel as DDP
p = argparse.ArgumentParser()
p.add_argument('--backend', default='nccl')
p.add_argument('--log_dir'); p.add_argument('--output_dir'); p.add_argument('--project'); p.add_argument('--name')
p.add_argument('--exp-dir'); p.add_argument('--workers', type=int, default=4); p.add_argument('--resume')
p.add_argument('--dist-url', default='env://')
args = p.parse_args()
"""
START = "dist.init_process_group('gloo')\nrank = dist.get_rank()\nmodel = DDP(net)\n"
SPAWNED = "import torch.multiprocessing as mp\ndef work(index):\n    dist.init_process_group('gloo')\n"


def read(tmp_path: Path, source: str, **modules: str) -> Script:
    for name, text in modules.items():
        (tmp_path / f"{name}.py").write_text(text)
    return read_script(source, "train.py", Workspace(tmp_path, tmp_path / "train.py"))


@pytest.mark.parametrize(
    ("method", "source"),
    [
        ("ddp", "from torch.nn.parallel import DistributedDataParallel as D\nD(m)"),
        ("ddp", "import torch\ntorch.nn.parallel.DistributedDataParallel(m)"),
        ("fsdp", "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nFSDP(m)"),
        ("fsdp", "from torch.distributed.fsdp import fully_shard\nfully_shard(m)"),
        ("deepspeed", "import deepspeed\ndeepspeed.initialize(model=m)"),
        ("accelerate", "from accelerate import Accelerator\na = Accelerator()"),
        ("lightning", "import lightning as L\nL.Trainer().fit(m)"),
        ("lightning", "import pytorch_lightning as pl\npl.Trainer(gpus=2)"),
        ("lightning", "from pytorch_lightning import Trainer\nTrainer.from_argparse_args(args)"),
        (
            "lightning",
            "from lightning.pytorch.cli import LightningCLI\nclass CLI(LightningCLI):\n    pass\nCLI(Net)",
        ),
        ("lightning", "import lightning as L\nclass Mine(L.Trainer):\n    pass\nMine().fit(m)"),
        ("trainer", "from transformers import Trainer\nclass Mine(Trainer):\n    pass\nMine(model=m).train()"),
        (None, "from mine import Trainer\nclass Mine(Trainer):\n    pass\nMine(model=m).train()"),
        ("fabric", "from lightning.fabric import Fabric\nFabric()"),
        ("trainer", "from transformers import Trainer\nTrainer(model=m)"),
        ("trainer", "from trl import SFTTrainer\nclass T(SFTTrainer): pass\nT(m)"),
        ("horovod", "import horovod.torch as hvd\nhvd.init()"),
        ("rpc", "import torch.distributed.rpc as rpc\nrpc.init_rpc('w')"),
        ("process_group", "import torch.distributed as dist\ndist.init_process_group()"),
        ("ddp", "import engine\nengine.fit()"),
        ("none", "import torch\nm = torch.nn.Linear(1, 1)"),
        ("none", "import torch\nd = torch.accelerator.current_accelerator()"),
        (None, "import some_library\nsome_library.train()"),
    ],
)
def test_how_a_script_trains(tmp_path: Path, method: str | None, source: str) -> None:
    engine = "import torch.nn as nn\ndef fit():\n    nn.parallel.DistributedDataParallel(1)\n"
    assert read(tmp_path, source, engine=engine).info.method == method


@pytest.mark.parametrize(
    ("option", "source"),
    [
        ("log_dir", "SummaryWriter(args.log_dir)"),
        ("log_dir", "d = os.path.join(args.log_dir, 'x')\nSummaryWriter(log_dir=d)"),
        ("output_dir", "SummaryWriter(f'{args.output_dir}/tb')"),
        ("output_dir", "def make(d):\n    return SummaryWriter(d)\nmake(args.output_dir)"),
        ("exp_dir", "class C:\n    pass\nc = C()\nc.where = args.exp_dir\nSummaryWriter(c.where)"),
        ("project", "from pathlib import Path\nSummaryWriter(str(Path(args.project) / args.name))"),
        ("output_dir", "from tools import writer\nwriter(args)"),
        ("output_dir", "from transformers import TrainingArguments\nTrainingArguments(output_dir=args.output_dir)"),
        ("exp_dir", "from lightning import Trainer\nTrainer(default_root_dir=args.exp_dir)"),
        (
            "exp_dir",
            "from lightning.pytorch.loggers import TensorBoardLogger\nTensorBoardLogger(args.exp_dir, name=args.name)",
        ),
    ],
)
def test_the_option_for_events(tmp_path: Path, option: str, source: str) -> None:
    tools = (
        "from torch.utils.tensorboard import SummaryWriter\ndef writer(o):\n    return SummaryWriter(o.output_dir)\n"
    )
    script = read(tmp_path, IMPORTS + source, tools=tools)
    assert script.info.writes_events
    assert [found.dest for found in script.info.options if "events" in found.roles] == [option]


MISTAKES: dict[str, tuple[list[str], list[str]]] = {
    "nccl": (
        [
            "dist.init_process_group('nccl')",
            "dist.init_process_group(backend='nccl')",
            "dist.init_process_group(args.backend)",
            "b = 'nccl'\ndist.init_process_group(backend=b)",
            "def setup():\n    dist.init_process_group('nccl', init_method='env://')\nsetup()",
            "def setup(backend='nccl'):\n    dist.init_process_group(backend)\nsetup()",
            "args.b = 'nccl'\ndist.init_process_group(backend=args.b)",
            "from torch.distributed import init_process_group as init\ninit_process_group('nccl')",
            "if 'RANK' in os.environ:\n    dist.init_process_group('nccl')",
            "assert torch.cuda.is_available()\ndist.init_process_group('nccl')",
            "if not torch.cuda.is_available():\n    raise RuntimeError('no GPU')\ndist.init_process_group('nccl')",
            "if not torch.cuda.is_available():\n    sys.exit()\ndist.init_process_group('nccl')",
            "if not torch.cuda.is_available():\n    sys.exit('no GPU')\ndist.init_process_group('nccl')",
            "dist.init_process_group('gloo' if os.name == 'nt' else 'nccl')",
            "from transformers import Trainer\ndist.init_process_group('nccl')\nTrainer(model=m).train()",
            "cfg = {'backend': 'nccl'}\ncfg['backend'] = 'nccl'\ndist.init_process_group(cfg['backend'])",
            "cfg = {'run': {'backend': 'nccl'}}\ndist.init_process_group(cfg['run']['backend'])",
            "dist.init_process_group(dist.Backend.NCCL)",
            "import deepspeed\ndeepspeed.init_distributed(dist_backend='nccl')",
            "import ignite.distributed as idist\nidist.initialize('nccl')",
            "p.add_argument('--cuda', type=bool, default=True)\nargs = p.parse_args()\n"
            "if args.cuda:\n    dist.init_process_group('nccl')",
            "assert int(os.environ['WORLD_SIZE']) > 1\ndist.init_process_group('nccl')",
            "assert dist.is_nccl_available()\ndist.init_process_group('nccl')",
            "try:\n    dist.init_process_group('nccl')\nexcept RuntimeError:\n    sys.exit(1)",
            "try:\n    import wandb\nexcept ImportError:\n    wandb = None\ndist.init_process_group('nccl')",
            "try:\n    dist.init_process_group('nccl')\nexcept ValueError:\n"
            "    dist.init_process_group('nccl', init_method='env://')",
            "p.add_argument('--no-cuda', action='store_true')\nargs = p.parse_args()\n"
            "if args.no_cuda:\n    pass\nelse:\n    dist.init_process_group('nccl')",
        ],
        [
            "dist.init_process_group('gloo')",
            "dist.init_process_group()",
            "dist.init_process_group('nccl' if torch.cuda.is_available() else 'gloo')",
            "if torch.cuda.is_available():\n    dist.init_process_group('nccl')",
            "b = 'gloo'\nif torch.cuda.is_available():\n    b = 'nccl'\ndist.init_process_group(b)",
            "dist.init_process_group('cpu:gloo,cuda:nccl')",
            "dist.init_process_group(choose())",
            "def setup():\n    dist.init_process_group('nccl')",
            "use_cuda = torch.cuda.is_available()\nif use_cuda:\n    dist.init_process_group('nccl')",
            "dist.init_process_group(os.environ.get('BACKEND', 'gloo'))",
            "def setup():\n    dist.init_process_group('nccl')\nif torch.cuda.is_available():\n    setup()",
            "import deepspeed\ndeepspeed.init_distributed()",
            "p.add_argument('--cuda', type=bool, default=True)\nargs = p.parse_args()\n"
            "args.cuda = args.cuda and torch.cuda.is_available()\nif args.cuda:\n    dist.init_process_group('nccl')",
            "if not torch.cuda.is_available():\n    args.d = False\nif args.d:\n    dist.init_process_group('nccl')",
            "try:\n    dist.init_process_group('nccl')\nexcept Exception:\n    dist.init_process_group('gloo')",
            "def start():\n    try:\n        if args.name:\n            dist.init_process_group(backend=args.backend)\n"
            "    except RuntimeError as e:\n        print(e)\n        dist.init_process_group(backend='gloo')\nstart()",
        ],
    ),
    "write": (
        [
            START + "torch.save(model.state_dict(), 'model.pt')",
            START + "torch.save(model, f='model.pt')",
            START + "torch.save(model, args.output_dir + '/m.pt')",
            START + "def save():\n    torch.save(model, 'm.pt')\nsave()",
            START + "for e in range(3):\n    torch.save(model, f'{e}.pt')",
            START + "def main():\n    torch.save(model, 'm.pt')\nif __name__ == '__main__':\n    main()",
            START + "if loss < best:\n    torch.save(model, 'best.pt')",
            START + "class T:\n    def run(self):\n        torch.save(1, 'm.pt')\nT().run()",
            "import torch.multiprocessing as mp\ndef save():\n    torch.save(1, 'm.pt')\n"
            "def work(index):\n    dist.init_process_group('gloo')\n    save()\nmp.spawn(work)",
            START + "if epoch % 10 == 0:\n    torch.save(model, os.path.join('out', 'm.pt'))",
            START + "with torch.no_grad():\n    torch.save(model, 'm.pt')",
            "from transformers import Trainer\nTrainer(model=model).train()\nmodel.save_pretrained('out')",
            "import lightning as L\nL.Trainer().fit(m)\ntorch.save(m.state_dict(), 'm.pt')",
            f"{START}if __name__ == '__main__':\n    torch.save(model, 'm.pt')",
            f"{SPAWNED}torch.save(1, 'm.pt')\nif __name__ == '__main__':\n    mp.spawn(work)",
            START + "if rank < 0:\n    sys.exit('no rank')\ntorch.save(model, 'm.pt')",
            START + "if args.resume:\n    sys.exit(0)\ntorch.save(model, 'm.pt')",
            START + "def better(loss):\n    return loss < 1\nif better(loss):\n    torch.save(model, 'm.pt')",
            START + "block = clock()\nwith block:\n    torch.save(model, 'm.pt')",
        ],
        [
            f"{SPAWNED}if __name__ == '__main__':\n    mp.spawn(work)\n    torch.save(1, 'm.pt')",
            f"{SPAWNED}if __name__ == '__main__':\n    torch.save(1, 'm.pt')\n    mp.Process(target=work).start()",
            START + "if rank != 0:\n    sys.exit(0)\ntorch.save(model, 'm.pt')",
            START + "if dist.get_rank() > 0:\n    print('ready')\n    exit()\ntorch.save(model, 'm.pt')",
            START + "def save():\n    if rank:\n        os._exit(0)\n    torch.save(model, 'm.pt')\nsave()",
            START + "def should_log():\n    return not dist.is_initialized() or dist.get_rank() == 0\n"
            "if should_log():\n    torch.save(model, 'm.pt')",
            START + "class T:\n    def __init__(self):\n        self.r = dist.get_rank()\n    def logs(self):\n"
            "        return self.r == 0\n    def save(self):\n        if self.logs():\n"
            "            torch.save(1, 'm.pt')\nT().save()",
            START + "from filelock import FileLock\nwith FileLock('m.lock'):\n    torch.save(model, 'm.pt')",
            "from transformers import Trainer\nt = Trainer(model=m)\nt.train()\nt.model.config.save_pretrained('out')",
            "from transformers import Trainer\nt = Trainer(model=m)\n"
            "if t.is_world_process_zero():\n    m.save_pretrained('out')",
            START + "if rank == 0:\n    torch.save(model, 'm.pt')",
            START + "if dist.get_rank() == 0:\n    torch.save(model, 'm.pt')",
            START + "torch.save(model, f'm-{rank}.pt')",
            START + "def save():\n    if rank != 0:\n        return\n    torch.save(model, 'm.pt')\nsave()",
            START + "def save():\n    torch.save(model, 'm.pt')\nif rank == 0:\n    save()",
            START
            + "def save():\n    if args.name:\n        dist.barrier()\n        if rank != 0:\n            return\n"
            "    torch.save(model, 'm.pt')\nsave()",
            START + "main = rank == 0\nif main:\n    torch.save(model, 'm.pt')",
            START + "@rank_zero_only\ndef save():\n    torch.save(model, 'm.pt')\nsave()",
            START + "w = None\nif rank == 0:\n    w = 1\nif w is not None:\n    torch.save(model, 'm.pt')",
            START + "import io\nb = io.BytesIO()\ntorch.save(model, b)",
            "import torch.multiprocessing as mp\ndef work(gpu_idx):\n    dist.init_process_group('gloo')\n"
            "def prepare():\n    torch.save(1, 'cache.pt')\nprepare()\nmp.spawn(work)",
            "torch.save(model, 'm.pt')",
            START + "if args.local_rank in (-1, 0):\n    torch.save(model, 'm.pt')",
            "import lightning as L\nt = L.Trainer()\nt.fit(m)\nif t.is_global_zero:\n    torch.save(m, 'm.pt')",
        ],
    ),
    "download": (
        [
            START + "torchvision.datasets.MNIST('data', download=True)",
            START + "torchvision.datasets.CIFAR10(root='data', train=True, download=True)",
            START + "d = True\ntorchvision.datasets.MNIST('data', download=d)",
            START + "def data():\n    return torchvision.datasets.MNIST('data', download=True)\ndata()",
            START + "from urllib.request import urlretrieve\nurlretrieve('https://example.org/x', 'x')",
            START + "import urllib.request\nurllib.request.urlretrieve('https://example.org/x', 'x')",
            START + "from torchvision.datasets.utils import download_url\ndownload_url('https://example.org/x', 'd')",
            START + "if args.name:\n    torchvision.datasets.MNIST('data', download=True)",
            START + "class D:\n    def __init__(self):\n        MNIST('d', download=True)\nD()",
            START + "def main():\n    MNIST('d', download=True)\nmain()",
            "from lightning import Trainer\nTrainer()\nMNIST('d', download=True)",
            "from lightning.fabric import Fabric\nFabric()\nMNIST('d', download=True)",
            START + "def data():\n    return MNIST('d', download=True)\ndef unused():\n    data()\ndata()",
            START + "assert args.rank == dist.get_rank()\nMNIST('d', download=True)",
            START + "with Block():\n    MNIST('d', download=True)",
        ],
        [
            f"{SPAWNED}if __name__ == '__main__':\n    MNIST('d', download=True)\n    mp.spawn(work, nprocs=2)",
            START + "if dist.get_rank() != 0:\n    quit()\nMNIST('d', download=True)",
            START + "from filelock import FileLock\nwith FileLock('d.lock'):\n    MNIST('d', download=True)",
            START + "def data():\n    MNIST('d', download=True)\nwith lock:\n    data()",
            START + "if rank == 0:\n    MNIST('d', download=True)",
            START + "MNIST('d', download=False)",
            START + "MNIST('d', download=rank == 0)",
            START + "MNIST('d')",
            START + "def data():\n    MNIST('d', download=True)\n    dist.barrier()\ndata()",
            START + "with zero_first(rank):\n    MNIST('d', download=True)",
            "MNIST('d', download=True)",
            START + "MNIST('d', download=args.name)",
            START + "def data():\n    MNIST('d', download=True)\nif rank == 0:\n    data()",
            "from lightning import Trainer\nclass D:\n    def prepare_data(self):\n        MNIST('d', download=True)\n"
            "d = D()\nd.prepare_data()\nTrainer().fit(m, d)",
        ],
    ),
    "sampler": (
        [
            START + "s = torch.utils.data.DistributedSampler(d)\nDataLoader(d)\ns.set_epoch(1)",
            START + "DataLoader(d, shuffle=True)",
        ],
        [
            START + "s = torch.utils.data.DistributedSampler(d)\nDataLoader(d, sampler=s)",
            START + "s = torch.utils.data.DistributedSampler(d)\nbatches(d, s)",
            START + "s = torch.utils.data.DistributedSampler(d)\nDataLoader(d, 4, False, s)",
        ],
    ),
    "launcher": (
        ["import horovod.torch as hvd\nhvd.init()", "import tools.horovod as hvd\nhvd.init()"],
        [
            "import wandb\nwandb.init()",
            "import torch.multiprocessing as mp\ndef work(r):\n    if 'SLURM_PROCID' in os.environ:\n"
            "        r = int(os.environ['SLURM_PROCID'])\n    dist.init_process_group('gloo', rank=r)\nmp.spawn(work)",
        ],
    ),
    "workers": (
        [
            "from transformers import Trainer, TrainingArguments\n"
            "Trainer(args=TrainingArguments('out', dataloader_num_workers=8)).train()",
            "cfg = {'loader': {'workers': 8}}\nDataLoader(d, num_workers=cfg['loader']['workers'])",
            "more = {'num_workers': 8, 'pin_memory': True}\nDataLoader(d, **more)",
            "DataLoader(d, num_workers=args.workers if args.workers else 2)",
            "import lightning as L\nclass Data(L.LightningDataModule):\n    def train_dataloader(self):\n"
            "        return DataLoader(d, num_workers=8)\nL.Trainer().fit(m, Data())",
        ],
        [
            "from transformers import TrainingArguments\nTrainingArguments('out')",
            "DataLoader(d)",
            "DataLoader(d, num_workers=args.workers // torch.cuda.device_count())",
            "class Data:\n    def unused(self):\n        return DataLoader(d, num_workers=8)\nData()",
        ],
    ),
    "path": (
        [
            "PATHS = {'cifar': '/datasets/cifar'}",
            "class C:\n    def __init__(self):\n        self.data_root = '/datasets/cifar'\nC()",
            "cfg = {'data': {'root': '/datasets/cifar'}}",
        ],
        [
            "import platform\nif platform.node() == 'a':\n    DATA = '/datasets/cifar'\nelse:\n    DATA = 'd'",
            "from pathlib import Path\nimport platform\nif platform.node() == 'a':\n    DATA = Path('/datasets/cifar')",
            "COLOURS = {'cifar': 'red'}",
            "DATA_KEY = '/observations/images'",
            "load(d, data_key='/observations/images')",
        ],
    ),
    "events": (
        [
            START + "SummaryWriter()",
            START + "SummaryWriter('runs')",
            START + "SummaryWriter(args.log_dir)",
            START + "w = SummaryWriter(log_dir=args.log_dir)",
            START + "def main():\n    SummaryWriter('x')\nmain()",
            START + "class T:\n    def __init__(self):\n        self.w = SummaryWriter()\nT()",
            START + "if args.log_dir:\n    SummaryWriter(args.log_dir)",
            START + "with SummaryWriter('x') as w:\n    pass",
            START + "from tensorboardX import SummaryWriter as S\nSummaryWriter('y')",
            START + "SummaryWriter(os.path.join(args.output_dir, 'tb'))",
            "from lightning.fabric import Fabric\nFabric()\nSummaryWriter('runs')",
        ],
        [
            START + "if rank == 0:\n    SummaryWriter()",
            START + "w = SummaryWriter() if rank == 0 else None",
            START + "SummaryWriter(f'runs/{rank}')",
            START + "def make():\n    if rank != 0:\n        return None\n    return SummaryWriter()\nmake()",
            START + "def make():\n    return SummaryWriter()\nif dist.get_rank() == 0:\n    make()",
            START + "class L:\n    def __init__(self):\n        SummaryWriter()\nl = L() if rank == 0 else None",
            "SummaryWriter()",
            START + "is_main = rank == 0\nw = is_main and SummaryWriter()",
            "from accelerate import Accelerator\na = Accelerator()\nif a.is_main_process:\n    SummaryWriter()",
            START + "SummaryWriter('runs/' + os.environ['RANK'])",
            START + "class Log:\n    def __init__(self, folder, enabled):\n        self.enabled = enabled\n"
            "        if self.enabled:\n            SummaryWriter(folder)\n"
            "def begin(folder, enabled=True):\n    Log(folder, enabled)\nbegin('runs', enabled=(rank == 0))",
        ],
    ),
    "address": (
        [
            "os.environ['MASTER_ADDR'] = 'localhost'\n" + START,
            "os.environ['MASTER_PORT'] = '12355'\n" + START,
            "def setup():\n    os.environ['MASTER_ADDR'] = '127.0.0.1'\n    dist.init_process_group('gloo')\nsetup()",
            "dist.init_process_group('gloo', init_method='tcp://127.0.0.1:23456')",
            "dist.init_process_group('gloo', 'tcp://localhost:1234')",
            "dist.init_process_group('gloo', init_method='tcp://10.1.1.20:23456', rank=0, world_size=2)",
            "PORT = '29501'\nos.environ['MASTER_PORT'] = PORT\n" + START,
            "from os import environ\nos.environ['MASTER_ADDR'] = 'node-1'\n" + START,
            "dist.init_process_group('gloo', init_method=args.dist_url)",
            "u = 'tcp://localhost:1234'\ndist.init_process_group('gloo', init_method=u)",
        ],
        [
            START,
            "os.environ.setdefault('MASTER_ADDR', 'localhost')\n" + START,
            "if 'MASTER_ADDR' not in os.environ:\n    os.environ['MASTER_ADDR'] = 'localhost'\n" + START,
            "dist.init_process_group('gloo', init_method='env://')",
            "try:\n    dist.init_process_group('gloo', rank=int(os.environ['RANK']))\nexcept KeyError:\n"
            "    dist.init_process_group('gloo', init_method='tcp://127.0.0.1:1234', rank=0, world_size=1)",
            "os.environ['MASTER_PORT'] = os.environ.get('MASTER_PORT', '29500')\n" + START,
            "os.environ['MASTER_ADDR'] = args.name\n" + START,
            "if 'SLURM_PROCID' in os.environ:\n    os.environ['MASTER_ADDR'] = 'localhost'\n" + START,
            "dist.init_process_group('gloo', init_method=f'file://{args.name}')",
            "os.environ['OMP_NUM_THREADS'] = '1'\n" + START,
            "a = os.environ['MASTER_ADDR']\n" + START,
        ],
    ),
}
CASES = [
    pytest.param(rule, source, bad, id=f"{rule} {'bad' if bad else 'good'} {index}")
    for rule, groups in MISTAKES.items()
    for bad, sources in zip((True, False), groups, strict=True)
    for index, source in enumerate(sources)
]


@pytest.mark.parametrize(("rule", "source", "bad"), CASES)
def test_mistakes(tmp_path: Path, rule: str, source: str, bad: bool) -> None:
    found = {finding.rule for finding in read(tmp_path, IMPORTS + source).findings}
    assert (rule in found) == bad, found


CONFIG = "train:\n  threads: {threads}\n  root: /datasets/cifar\nval:\n  threads: 2\nddp:\n  comm: nccl\n"
USES = (
    "dist.init_process_group(cfg['ddp']['comm'])\nDDP(net)\n"
    "DataLoader(d, num_workers=cfg['train']['threads'], sampler=s)\n"
)


@pytest.mark.parametrize(
    ("load", "is_read"),
    [
        ("import yaml\ncfg = yaml.safe_load(open('conf/a.yaml'))\n", True),
        ("p.add_argument('--config', default='conf/a.yaml')\nargs = p.parse_args()\ncfg = load(args.config)\n", True),
        ("NAME = 'conf/a.yaml'\ncfg = load(NAME)\n", True),
        ("from omegaconf import OmegaConf\ncfg = OmegaConf.load('conf/a.yaml').copy()\n", True),
        ("def unused():\n    load('conf/a.yaml')\ncfg = load(args.resume)\n", False),
        ("cfg = load('../a.yaml')\n", False),  # outside of the workspace
        ("cfg = load('conf/b.yaml')\n", False),  # does not exist
        ("cfg = load('conf/large.yaml')\n", False),
        ("cfg = load('conf/wrong.yaml')\n", False),
        ("cfg = load('conf/folder.yaml')\n", False),
    ],
)
def test_values_of_configuration_files(tmp_path: Path, load: str, is_read: bool) -> None:
    folder = tmp_path / "work"
    (folder / "conf" / "folder.yaml").mkdir(parents=True)
    file = folder / "conf" / "a.yaml"
    text = CONFIG.format(threads=8)
    for path in (file, tmp_path / "a.yaml"):
        path.write_text(text)
    (file.parent / "large.yaml").write_text(text + "# more\n" * 10_000)
    (file.parent / "wrong.yaml").write_text(text + "- a: [")

    def found() -> dict[str, object]:
        return {finding.rule: finding.value for finding in read(folder, IMPORTS + load + USES).findings}

    expected = {"nccl": "nccl", "workers": 8, "path": "/datasets/cifar"}
    assert found() == (expected if is_read else {})
    if is_read:
        file.write_text(CONFIG.format(threads=16))
        assert found()["workers"] == 16


STARTING = {
    "starting": "import torch.multiprocessing as mp\ndef launch():\n    mp.spawn(print)\n",
    "offering": "from starting import launch\nfrom training import fit\n__all__ = ['launch', 'fit']\n",
    "training": "def fit():\n    pass\n",
    "script": "import torch.multiprocessing as mp\ndef main():\n    mp.spawn(print)\n"
    "def fit():\n    pass\nif __name__ == '__main__':\n    main()\n",
    "engine": "import starting\nclass Engine:\n    def fit(self):\n        self.go()\n    def go(self):\n"
    "        starting.launch()\n",
    "registry": "from starting import launch\nLAUNCHERS = {'spawn': launch}\n",
}


@pytest.mark.parametrize(
    ("source", "starts"),
    [
        ("from offering import launch\nlaunch()", True),
        ("from offering import launch as go\ngo()", True),
        ("import starting\nstarting.launch()", True),
        ("import starting as s\ndef main():\n    s.launch()\nmain()", True),
        ("from engine import Engine\nEngine().fit()", True),
        ("from starting import *\nlaunch()", True),
        ("from registry import LAUNCHERS\nLAUNCHERS['spawn']()", True),
        ("from offering import fit\nfit()", False),
        ("import offering\noffering.fit()", False),
        ("from starting import launch\nfrom training import fit\nfit()", False),
        ("from script import fit\nfit()", False),
        ("import starting\ndef launch():\n    pass\nlaunch()", False),
        ("import starting\nclass Job:\n    def run(self):\n        self.launch()\nJob().run()", False),
        ("from starting import launch\ndef unused():\n    launch()", False),
    ],
)
def test_functions_that_the_script_reaches(tmp_path: Path, source: str, starts: bool) -> None:
    assert (read(tmp_path, source, **STARTING).launch is not None) == starts


SHARDS = (
    "import torch.utils.data as d\nclass Images(d.Dataset):\n    def __init__(self, folder, **more):\n        pass\n"
)
SLURM = (
    "import os\ndef start_slurm(port=None):\n    if port is not None:\n        os.environ['MASTER_PORT'] = str(port)\n"
)
BY_NODE = "import os\ndef start_node():\n    os.environ['MASTER_ADDR'] = '10.0.0.1'\n"


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        ("address", "from cluster import start_slurm\nstart_slurm()\n" + START),
        ("address", "from cluster import start_slurm\nstart_slurm(29500)\n" + START),
        ("address", "import node\n" + START),
        ("address", "from node import start_node\nif args.name == 'slurm':\n    start_node()\n" + START),
        ("address", "from node import start_node\ndef on_mpi():\n    start_node()\non_mpi()\n" + START),
        ("sampler", "from mpi4py import MPI\nfrom images import Images\n" + START
         + "data = Images('d', shard=MPI.COMM_WORLD.Get_rank(), num_shards=MPI.COMM_WORLD.Get_size())\n"
         "DataLoader(data)"),
        ("sampler", "from images import Images\n" + START + "DataLoader(Images('d', rank=rank, world_size=2))"),
    ],
)  # fmt: skip
def test_code_for_another_launcher_or_with_shares(tmp_path: Path, rule: str, source: str) -> None:
    modules = {"cluster": SLURM, "node": BY_NODE, "images": SHARDS}
    assert rule not in {finding.rule for finding in read(tmp_path, IMPORTS + source, **modules).findings}


def test_the_same_code_where_it_counts(tmp_path: Path) -> None:
    modules = {"node": BY_NODE, "images": SHARDS}
    source = "from node import start_node\nfrom images import Images\nstart_node()\n" + START
    found = {
        finding.rule for finding in read(tmp_path, IMPORTS + source + "DataLoader(Images('d'))", **modules).findings
    }
    assert {"address", "sampler"} <= found


def test_the_workers_of_a_loader_in_a_configuration(tmp_path: Path) -> None:
    config = "train:\n  _target_: torch.utils.data.DataLoader\n  num_workers: 8\nother:\n  num_workers: 16\n"
    (tmp_path / "config.yaml").write_text(config)
    source = "import hydra\n@hydra.main(config_path='.', config_name='config')\ndef main(cfg):\n    pass\nmain()\n"
    (tmp_path / "train.py").write_text(source)
    found = [each for each in read(tmp_path, source).findings if each.rule == "workers"]
    assert [(each.option, each.line) for each in found] == [("train.num_workers", 3)]


def test_the_options_of_a_wrapper_of_hydra(tmp_path: Path) -> None:
    """Dora's decorator reads the same configuration, and passes the arguments on."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text("epochs: 3\noptim:\n  lr: 0.1\n")
    source = "from dora import hydra_main\n@hydra_main(config_path='conf', config_name='config')\ndef main(args):\n"
    (tmp_path / "train.py").write_text(source := source + "    pass\nmain()\n")
    script = read(tmp_path, source)
    assert {option.dest: option.default for option in script.info.options} == {"epochs": "3", "optim.lr": "0.1"}
    (tmp_path / "conf" / "config.yaml").write_text("epochs: 30\n")
    assert {option.dest: option.default for option in read(tmp_path, source).info.options} == {"epochs": "30"}
    (tmp_path / "conf" / "config.yaml").unlink()
    assert [each.line for each in read(tmp_path, source).unread] == [2]
