from detectron2.engine import default_argument_parser, launch


def main(args):
    pass


if __name__ == "__main__":
    parser = default_argument_parser()
    parser.add_argument("--my-opt", type=int, default=3)
    args = parser.parse_args()
    launch(main, args.num_gpus, args=(args,))
