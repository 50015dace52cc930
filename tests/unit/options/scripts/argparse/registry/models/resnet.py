from .registry import register


@register("resnet")
class ResNet:
    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--depth", type=int, default=50)


@register("vgg")
class VGG:
    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument("--layers", type=int, default=16)
