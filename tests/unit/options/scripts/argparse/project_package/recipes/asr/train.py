import sys

import toolkit

if __name__ == "__main__":
    config, options = toolkit.parse_arguments(sys.argv[1:])
