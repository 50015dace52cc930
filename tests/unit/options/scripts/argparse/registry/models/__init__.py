from . import resnet
from .registry import MODELS
