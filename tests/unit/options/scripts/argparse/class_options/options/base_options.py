import argparse


class BaseOptions:
    def __init__(self):
        self.initialized = False

    def initialize(self, parser):
        parser.add_argument("--dataroot", required=True, help="path to images")
        parser.add_argument("--name", type=str, default="experiment", help="name of the experiment")
        parser.add_argument("--gpu_ids", type=str, default="0", help="gpu ids: e.g. 0 0,1,2")
        self.initialized = True
        return parser

    def gather_options(self):
        if not self.initialized:
            parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
            parser = self.initialize(parser)
        self.parser = parser
        return parser.parse_args()

    def parse(self):
        opt = self.gather_options()
        opt.isTrain = self.isTrain
        return opt
