"""Tables of third-party modules: their distributions, and those that read options or start processes.

No distribution is suggested because its name equals an import: anybody can publish a name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import metadata
from typing import Final

_SAME_NAME: Final = """
accelerate aim aiohttp albumentations anthropic av bitsandbytes boto3 botorch braceexpand captum clearml click
cloudpickle cma colorama colorlog comet_ml configargparse datasets decord deepspeed diffusers dill docopt
easydict einops evaluate fairscale fastai fastparquet ffcv fire fsspec ftfy fvcore gdown gensim gpytorch gym
gymnasium h5py hnswlib huggingface_hub imageio imgaug inflect IPython ipywidgets jax jieba jiwer joblib
jsonargparse jsonlines kaldiio keras kornia lap librosa lightgbm lightning litdata lmdb loguru lpips lz4
matplotlib ml_collections mlflow mmengine monai mpi4py msgpack natsort neptune networkx nevergrad nibabel ninja
nltk noisereduce numba numexpr numpy omegaconf onnx onnxruntime open3d openai optuna orjson packaging pandas
peft pesq phonemizer pillow plotly polars prettytable psutil pyarrow pycocotools pydantic pydicom pydub pymongo
pyrallis pystoi pytest pyworld ray rdkit regex requests resampy rich s3fs sacrebleu sacred sacremoses
safetensors schedulefree scipy seaborn sentencepiece seqeval setuptools shap shapely SimpleITK six soundfile
spacy speechbrain streamlit sympy tabulate tensorboard tensorboardX tensorflow termcolor thop tifffile tiktoken
timm tokenizers toml torch torchaudio torchdata torchinfo torchlibrosa torchmetrics torchsde torchsummary
torchtext torchvision tqdm transformers triton trl typer tyro ujson visdom vllm wandb webdataset xarray xformers
xgboost yacs zarr zstandard
"""
_NO_GROUP: Final = """
torch torchvision torchaudio torchtext torchinfo torchsummary functorch tensorboard tensorboardX numpy scipy pandas
polars pyarrow sklearn skimage matplotlib mpl_toolkits seaborn plotly networkx sympy numba PIL cv2 imageio av decord
librosa soundfile h5py zarr xarray lmdb tifffile nibabel pycocotools shapely albumentations kornia einops timm
segmentation_models_pytorch lpips thop fvcore peft transformers datasets tokenizers sentencepiece safetensors
huggingface_hub evaluate nltk spacy gensim jieba ftfy tiktoken sacrebleu regex wandb mlflow gym gymnasium tqdm yaml
toml dotenv click typer tyro fire absl rich tabulate prettytable colorama termcolor loguru omegaconf hydra yacs
easydict ml_collections jsonargparse simple_parsing configargparse requests six attr pydantic packaging setuptools
pkg_resources psutil joblib dill cloudpickle msgpack orjson fsspec gdown boto3 filelock dateutil bs4 lxml IPython
ipywidgets jax flax optax haiku orbax clu tensorflow keras tensorflow_datasets tensorflow_text tensorflow_probability
numpyro xgboost lightgbm catboost statsmodels optuna hyperopt fasttext faiss openai anthropic auto_gptq awq diffusers
xformers flash_attn bitsandbytes triton torchmetrics torchsde torchdiffeq torch_geometric torch_scatter torch_sparse
torch_cluster ogb rdkit gpytorch botorch e3nn pytorch3d open3d trimesh plyfile pycolmap viser nerfview nvdiffrast
tinycudann torch_ema ema_pytorch torch_optimizer schedulefree pytorch_msssim pytorch_fid cleanfid torch_fidelity
ptflops torchprofile iopath open_clip clip encodec torchcrepe pyworld parselmouth resampy pesq pystoi jiwer phonemizer
unidecode inflect rouge_score bert_score sacremoses pytrec_eval rank_bm25 imgaug medpy SimpleITK pydicom comet_ml
neptune aim clearml sacred visdom dm_env dm_control dmc2gym d4rl mujoco mujoco_py procgen ale_py minigrid pettingzoo
supersuit envpool stable_baselines3 sb3_contrib einops_exts rotary_embedding_torch vector_quantize_pytorch
x_transformers argbind chz cyclopts docopt draccus pyrallis hydra_zen dacite jsonlines ujson tomli tomlkit jinja2
typing_extensions pynvml s3fs gcsfs httpx aiohttp flask fastapi gradio streamlit
argoverse av2 nuscenes waymo_open_dataset kitti pyquaternion transforms3d OpenGL pyrender pyglet moderngl smplx chumpy
human_body_prior jaxtyping beartype typeguard typing_inspect pythainlp kenlm zstandard git github line_profiler
memory_profiler pyinstrument pyrootutils rootutils tensorflowjs onnx onnxruntime onnxsim tensorrt coremltools openvino
efficientnet_pytorch pretrainedmodels resnest geffnet vit_pytorch torchlars madgrad adabelief_pytorch lion_pytorch
prodigyopt pytorch_optimizer dadaptation warmup_scheduler torchio pywt skvideo moviepy ffmpeg
pims OpenEXR imagecodecs rasterio geopandas fiona pyproj osgeo cartopy netCDF4 xesmf pygrib
talib yfinance akshare tushare ccxt backtrader pmdarima prophet tsfresh tslearn
pymatgen ase torchdrug Bio biotite prody anndata scanpy openmm mdtraj openbabel
selfies tdc spektral stellargraph node2vec littleballoffur karateclub pyvis graphviz
pydot lightkurve astropy healpy pyscf psi4 qutip pennylane qiskit cirq music21 pretty_midi mido miditoolkit miditok
muspy note_seq mir_eval museval madmom essentia crepe pydub webrtcvad g2p_en g2pk pypinyin cn2an zhconv opencc konlpy
MeCab fugashi janome sudachipy textblob textstat langdetect langid emoji contractions symspellpy
pyspellchecker Levenshtein editdistance rapidfuzz fuzzywuzzy jellyfish bpemb subword_nmt mosestokenizer bleurt
pycocoevalcap cider moverscore sari apted tree_sitter zss astunparse libcst black autopep8 radon
gymnasium_robotics metaworld robosuite mujoco_menagerie pybullet pybullet_envs habitat_sim ai2thor
isaacgym genesis brax nle minihack crafter craftax smac pysc2 highway_env carla sumo_rl panda_gym
shimmy autorom retro atari_py vizdoom deepmind_lab dm_robotics
wandb_workspaces tensorboard_logger swanlab guild mlxu hyperpyyaml confuse dynaconf gin munch addict
attrdict dotmap box toolz cytoolz funcy more_itertools sortedcontainers bidict frozendict pyrsistent blinker pluggy
schema voluptuous cerberus marshmallow jsonschema jsonpickle simplejson demjson3 ruamel xmltodict html5lib pdfplumber
PyPDF2 pypdf fitz docx openpyxl xlrd xlsxwriter tables pyreadr feather fastparquet duckdb sqlalchemy pymysql psycopg2
redis pymongo elasticsearch kafka pika celery zmq websocket websockets grpc flatbuffers snappy lz4 blosc blosc2
xxhash mmh3 bitarray faker lorem mimesis networkit igraph leidenalg community infomap umap hdbscan pynndescent annoy
hnswlib nmslib pacmap phate openTSNE trimap ot geomloss pykeops cvxpy cvxopt pulp ortools gurobipy mip casadi
pyomo highspy scs osqp qpth cvxpylayers torchopt higher torchmeta foolbox torchattacks autoattack
robustbench advertorch captum shap lime alibi interpret eli5 dice_ml torchcam pytorch_grad_cam zennit innvestigate
laplace netcal uncertainty_toolbox edward2 pymc pystan arviz emcee dynesty nestle getdist corner
torchquad torchinterp1d torchcde torchdyn torchsparse MinkowskiEngine spconv pointnet2_ops knn_cuda chamferdist
emd kaolin point_cloud_utils pymeshlab igl meshio pyvista vtk mayavi vispy potpourri3d gsplat
diff_gaussian_rasterization simple_knn nerfacc pypose lietorch evo gtsam pyceres kornia_moons lightglue hloc pydegensac
mediapipe face_alignment facenet_pytorch insightface retinaface dlib openpose alphapose supervision
norfair filterpy motmetrics trackeval lap cython_bbox lvis crowdposetools xtcocotools
pytesseract easyocr paddleocr doctr craft_text_detector pyclipper rapidocr
tkinter PyQt5 PySide6 pygame pynput pyautogui keyboard mss screeninfo
"""

DISTRIBUTIONS: Final = {
    # Where the distribution has another name than the module.
    "Bio": "biopython",
    "Box2D": "box2d-py",
    "Crypto": "pycryptodome",
    "MeCab": "mecab-python3",
    "MySQLdb": "mysqlclient",
    "OpenGL": "PyOpenGL",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "absl": "absl-py",
    "ale_py": "ale-py",
    "attr": "attrs",
    "auto_gptq": "auto-gptq",
    "bs4": "beautifulsoup4",
    "bson": "pymongo",
    "cairosvg": "CairoSVG",
    "cpuinfo": "py-cpuinfo",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dm_control": "dm-control",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "einops_exts": "einops-exts",
    "ema_pytorch": "ema-pytorch",
    "faiss": "faiss-cpu",
    "ffmpeg": "ffmpeg-python",
    "fitz": "PyMuPDF",
    "flash_attn": "flash-attn",
    "git": "GitPython",
    "github": "PyGithub",
    "google.protobuf": "protobuf",
    "grpc": "grpcio",
    "hydra": "hydra-core",
    "hyperpyyaml": "HyperPyYAML",
    "imageio_ffmpeg": "imageio-ffmpeg",
    "imblearn": "imbalanced-learn",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "kafka": "kafka-python",
    "lightning_fabric": "lightning-fabric",
    "lightning_utilities": "lightning-utilities",
    "llama_cpp": "llama-cpp-python",
    "magic": "python-magic",
    "markdown": "Markdown",
    "mpl_toolkits": "matplotlib",
    "mujoco_py": "mujoco-py",
    "multipart": "python-multipart",
    "open_clip": "open_clip_torch",
    "opentelemetry": "opentelemetry-api",
    "parselmouth": "praat-parselmouth",
    "past": "future",
    "pkg_resources": "setuptools",
    "pl_bolts": "lightning-bolts",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pyaudio": "PyAudio",
    "pynvml": "nvidia-ml-py",
    "pythonjsonlogger": "python-json-logger",
    "pytorch_grad_cam": "grad-cam",
    "pytorch_lightning": "pytorch-lightning",
    "pytorch_metric_learning": "pytorch-metric-learning",
    "pytorch_msssim": "pytorch-msssim",
    "pywt": "PyWavelets",
    "rotary_embedding_torch": "rotary-embedding-torch",
    "segmentation_models_pytorch": "segmentation-models-pytorch",
    "sentence_transformers": "sentence-transformers",
    "serial": "pyserial",
    "simple_parsing": "simple-parsing",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "skopt": "scikit-optimize",
    "skvideo": "scikit-video",
    "slugify": "python-slugify",
    "socketio": "python-socketio",
    "speech_recognition": "SpeechRecognition",
    "stable_baselines3": "stable-baselines3",
    "tensorflow_datasets": "tensorflow-datasets",
    "tensorflow_hub": "tensorflow-hub",
    "tensorflow_probability": "tensorflow-probability",
    "torch_cluster": "torch-cluster",
    "torch_ema": "torch-ema",
    "torch_fidelity": "torch-fidelity",
    "torch_geometric": "torch-geometric",
    "torch_optimizer": "torch-optimizer",
    "torch_scatter": "torch-scatter",
    "torch_sparse": "torch-sparse",
    "umap": "umap-learn",
    "unidecode": "Unidecode",
    "vector_quantize_pytorch": "vector-quantize-pytorch",
    "websocket": "websocket-client",
    "x_transformers": "x-transformers",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
    # Where both are the same.
    **{name: name for name in _SAME_NAME.split()},
}
"""Distribution of each well-known module."""

STARTS_NO_GROUP: Final = frozenset(_NO_GROUP.split())
"""Third-party modules that start no process group by themselves; `transformers` only without its trainers."""

MAY_DISTRIBUTE: Final = frozenset(
    (
        *("accelerate", "deepspeed", "lightning", "lightning_fabric", "pytorch_lightning", "horovod", "composer"),
        *("ignite", "ray", "fastai", "colossalai", "megatron", "fairscale", "torch_xla", "apex", "byteps", "mpi4py"),
        *("bagua", "dlrover", "torchx", "mmengine", "mmcv", "detectron2", "fairseq", "dora", "flashy", "speechbrain"),
        *("ultralytics", "super_gradients", "monai", "trl", "sentence_transformers", "setfit", "simpletransformers"),
        *("anomalib", "catalyst", "classy_vision", "vissl", "solo", "pl_bolts", "flash", "nemo", "espnet2", "s3prl"),
        *("TTS", "trainer", "torchtune", "torchtitan", "torchrec", "bmtrain", "levanter", "verl", "openrlhf", "trlx"),
        *("llamafactory", "axolotl", "xtuner", "swift", "modelscope", "paddle", "oneflow", "determined", "gluonts"),
        *("darts", "neuralforecast", "pytorch_forecasting", "scvi", "schnetpack", "torchgeo", "nnunetv2", "pcdet"),
        *("mmdet", "mmseg", "mmcls", "mmpretrain", "mmaction", "mmpose", "mmocr", "mmdet3d", "habitat_baselines"),
    )
)
"""Modules that may start a process group although the script has a plain training loop."""

LIBRARIES: Final = MAY_DISTRIBUTE | STARTS_NO_GROUP | DISTRIBUTIONS.keys()
"""Top-level modules of all libraries of these tables."""

OPTION_READERS: Final = {
    "absl.app.run": "absl.flags",
    "absl.flags": "absl.flags",
    "argbind.bind": "argbind",
    "argbind.parse_args": "argbind",
    "chz.entrypoint": "chz",
    "chz.nested_entrypoint": "chz",
    "click.argument": "click",
    "click.command": "click",
    "click.option": "click",
    "configargparse.ArgParser": "ConfigArgParse",
    "configargparse.ArgumentParser": "ConfigArgParse",
    "cyclopts.App": "Cyclopts",
    "cyclopts.run": "Cyclopts",
    "defopt.run": "defopt",
    "docopt.docopt": "docopt",
    "draccus.parse": "draccus",
    "draccus.wrap": "draccus",
    "fastcore.script.call_parse": "fastcore",
    "fire.Fire": "Fire",
    "gflags.DEFINE_string": "gflags",
    "hydra.main": "Hydra",
    "jsonargparse.ArgumentParser": "jsonargparse",
    "jsonargparse.CLI": "jsonargparse",
    "jsonargparse.auto_cli": "jsonargparse",
    "lightning.pytorch.cli.LightningCLI": "LightningCLI",
    "lightning.LightningCLI": "LightningCLI",
    "omegaconf.OmegaConf.from_cli": "OmegaConf",
    "mlxu.define_flags_with_default": "mlxu",
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


def distributions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the known distributions of top-level modules: from the table, or from this environment (blocking)."""
    found = {name: DISTRIBUTIONS[name] for name in modules if name in DISTRIBUTIONS}
    others = [name for name in modules if name not in found]
    installed = _installed() if others else {}
    return found | {name: installed[name] for name in others if name in installed}


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    """Return the distribution of each module that exactly one distribution of this environment has."""
    found: dict[str, str] = {}
    for module, names in metadata.packages_distributions().items():
        if len(set(names)) == 1 and _from_index(names[0]):
            found[module] = names[0]
    return found


def _from_index(name: str) -> bool:
    """Return True if a distribution was installed by its name, not from a folder, file or repository (PEP 610)."""
    try:
        return metadata.distribution(name).read_text("direct_url.json") is None
    except (metadata.PackageNotFoundError, OSError):
        return False
