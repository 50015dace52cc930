import argparse

SPLITS = ("train", "valid", "test")
RATES = {"encoder": 1e-4, "decoder": 1e-3}

parser = argparse.ArgumentParser()
for split in SPLITS:
    parser.add_argument(f"--{split}_path", default=f"data/{split}.json", help="%s set" % split)
for part, rate in RATES.items():
    parser.add_argument("--lr_" + part, type=float, default=rate)
for index in range(2):
    parser.add_argument("--weight%d" % index, type=float, default=1.0 / (index + 1))
args = parser.parse_args()
