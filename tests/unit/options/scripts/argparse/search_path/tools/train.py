import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from lib.arguments import parse_arguments

if __name__ == "__main__":
    print(parse_arguments())
