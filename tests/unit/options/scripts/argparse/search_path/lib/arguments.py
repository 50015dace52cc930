import argparse


def parse_arguments(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--cfg", required=True, help="experiment configure file name")
    ap.add_argument("--freq", type=int, default=100)
    return ap.parse_args(argv)
