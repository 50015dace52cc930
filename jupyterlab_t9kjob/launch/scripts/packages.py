"""Tables of third-party modules: their distributions, and those that read options or start processes."""

from __future__ import annotations

from typing import Final

_SAME_NAME: Final = """
IPython accelerate albumentations bitsandbytes boto3 click colorama datasets deepspeed dill easydict einops
evaluate fastai ffcv fire fsspec ftfy fvcore gdown gensim gym gymnasium h5py huggingface_hub imageio
ipywidgets jieba joblib jsonargparse kornia librosa lightgbm lightning lmdb loguru lpips matplotlib
ml_collections mlflow monai msgpack networkx nibabel nltk numba numpy omegaconf optuna orjson packaging pandas
peft pillow plotly polars prettytable psutil pyarrow pycocotools pydantic ray regex requests rich sacrebleu
safetensors scipy seaborn sentencepiece setuptools shapely six soundfile spacy sympy tabulate tensorboard
tensorboardX termcolor thop tifffile tiktoken timm tokenizers toml torch torchaudio torchinfo torchmetrics
torchtext torchvision tqdm transformers trl typer tyro wandb xarray xgboost yacs zarr
"""
_NO_GROUP: Final = """
torch torchvision torchaudio torchtext torchinfo torchsummary functorch tensorboard tensorboardX numpy scipy
pandas polars pyarrow sklearn skimage matplotlib mpl_toolkits seaborn plotly networkx sympy numba PIL cv2
imageio av decord librosa soundfile h5py zarr xarray lmdb tifffile nibabel pycocotools shapely albumentations
kornia einops timm segmentation_models_pytorch lpips thop fvcore peft transformers datasets tokenizers
sentencepiece safetensors huggingface_hub evaluate nltk spacy gensim jieba ftfy tiktoken sacrebleu regex wandb
mlflow gym gymnasium tqdm yaml toml dotenv click typer tyro fire absl rich tabulate prettytable colorama
termcolor loguru omegaconf hydra yacs easydict ml_collections jsonargparse simple_parsing configargparse
requests six attr pydantic packaging setuptools pkg_resources psutil joblib dill cloudpickle msgpack orjson
fsspec gdown boto3 filelock dateutil bs4 lxml IPython ipywidgets
"""

DISTRIBUTIONS: Final = {
    # Where the distribution has another name than the module.
    "Bio": "biopython",
    "PIL": "pillow",
    "absl": "absl-py",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "git": "GitPython",
    "hydra": "hydra-core",
    "mpl_toolkits": "matplotlib",
    "pkg_resources": "setuptools",
    "pytorch_lightning": "pytorch-lightning",
    "segmentation_models_pytorch": "segmentation-models-pytorch",
    "sentence_transformers": "sentence-transformers",
    "simple_parsing": "simple-parsing",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "torch_geometric": "torch-geometric",
    "yaml": "PyYAML",
    # Where both are the same.
    **{name: name for name in _SAME_NAME.split()},
}
"""Distribution of each module. No other distribution is ever suggested, since anybody can publish a name."""

STARTS_NO_GROUP: Final = frozenset(_NO_GROUP.split())
"""Third-party modules that start no process group by themselves; `transformers` only without its trainers."""

OPTION_READERS: Final = {
    "absl.app.run": "absl.flags",
    "absl.flags": "absl.flags",
    "click.argument": "click",
    "click.command": "click",
    "click.option": "click",
    "configargparse.ArgParser": "ConfigArgParse",
    "configargparse.ArgumentParser": "ConfigArgParse",
    "docopt.docopt": "docopt",
    "fire.Fire": "Fire",
    "gflags.DEFINE_string": "gflags",
    "hydra.main": "Hydra",
    "jsonargparse.ArgumentParser": "jsonargparse",
    "jsonargparse.CLI": "jsonargparse",
    "jsonargparse.auto_cli": "jsonargparse",
    "lightning.pytorch.cli.LightningCLI": "LightningCLI",
    "lightning.LightningCLI": "LightningCLI",
    "omegaconf.OmegaConf.from_cli": "OmegaConf",
    "plac.call": "plac",
    "pyrallis.parse": "pyrallis",
    "pyrallis.wrap": "pyrallis",
    "pytorch_lightning.cli.LightningCLI": "LightningCLI",
    "pytorch_lightning.utilities.cli.LightningCLI": "LightningCLI",
    "simple_parsing.ArgumentParser": "simple-parsing",
    "simple_parsing.parse": "simple-parsing",
    "tap.Tap": "Tap",
    "transformers.HfArgumentParser": "HfArgumentParser",
    "trl.TrlParser": "TrlParser",
    "typer.Argument": "Typer",
    "typer.Option": "Typer",
    "typer.Typer": "Typer",
    "typer.run": "Typer",
    "tyro.cli": "tyro",
    "getopt.getopt": "getopt",
    "optparse.OptionParser": "optparse",
}
"""Modules that parse command lines, other than argparse, with their common names."""

OWN_LAUNCHERS: Final = {
    "accelerate.debug_launcher": "debug_launcher",
    "accelerate.launchers.debug_launcher": "debug_launcher",
    "accelerate.launchers.notebook_launcher": "notebook_launcher",
    "accelerate.notebook_launcher": "notebook_launcher",
    "ray.train.torch.TorchTrainer": "Ray's TorchTrainer",
    "torch.distributed.elastic.multiprocessing.start_processes": "start_processes",
    "torch.distributed.launcher.api.elastic_launch": "elastic_launch",
    "torch.distributed.launcher.elastic_launch": "elastic_launch",
    "torch.distributed.run.main": "torch.distributed.run",
    "torch.distributed.run.run": "torch.distributed.run",
    "torch.multiprocessing.spawn": "mp.spawn",
    "torch.multiprocessing.spawn.spawn": "mp.spawn",
    "torch.multiprocessing.start_processes": "mp.start_processes",
    "torch_xla.distributed.xla_multiprocessing.spawn": "xmp.spawn",
    "torch_xla.launch": "torch_xla.launch",
}
"""Functions that start a script's processes themselves, with their common names; torchrun must not start them again."""
