import sys

from transformers import HfArgumentParser

from arguments import RunArguments


def main():
    parser = HfArgumentParser(RunArguments, description="Distillation")
    if len(sys.argv) == 2 and sys.argv[1].endswith(".json"):
        (args,) = parser.parse_json_file(json_file=sys.argv[1])
    else:
        (args,) = parser.parse_args_into_dataclasses()
    print(args)


if __name__ == "__main__":
    main()
