import argparse


class TrainParser(argparse.ArgumentParser):
    def __init__(self, **kwargs):
        super().__init__(description="Detector", **kwargs)
        self.add_argument("--config-file", default="", metavar="FILE", help="path to config file")
        self.add_argument("--num-gpus", type=int, default=1, help="number of gpus *per machine*")
        self.add_argument("--eval-only", action="store_true", help="perform evaluation only")

    def parse(self):
        return self.parse_args()


if __name__ == "__main__":
    print(TrainParser().parse())
