from base import Model


class Net(Model):
    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--width", type=int, default=8)
