import argparse

DEFAULT_BATCH = 32


def get_args():
    parser = argparse.ArgumentParser("speech")
    parser.add_argument("--batch-size", type=int, default=DEFAULT_BATCH, help="utterances per step")
    parser.add_argument("--sample-rate", type=int, default=16_000, help="in Hz")
    parser.add_argument("--feature", choices=("mfcc", "fbank"), default="fbank")
    return parser.parse_args()
