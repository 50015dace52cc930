from .base_options import BaseOptions


class TrainOptions(BaseOptions):
    def initialize(self, parser):
        parser = BaseOptions.initialize(self, parser)
        parser.add_argument("--niter", type=int, default=100, help="# of iter at starting learning rate")
        parser.add_argument("--lr_policy", default="lambda", choices=["lambda", "step", "plateau"], help="schedule")
        self.isTrain = True
        return parser
