import argparse

common = argparse.ArgumentParser(add_help=False)
common.add_argument("--seed", type=int, default=0)
common.add_argument("--device", default="cuda", help="where tensors live")


def get_args_parser():
    parser = argparse.ArgumentParser("pretraining", parents=[common])
    parser.add_argument("--mask_ratio", default=0.75, type=float, help="Masking ratio (percentage of removed patches).")
    parser.add_argument("--norm_pix_loss", action="store_true")
    parser.set_defaults(norm_pix_loss=False)
    return parser


if __name__ == "__main__":
    final = argparse.ArgumentParser(parents=[get_args_parser()], add_help=False)
    print(final.parse_args())
