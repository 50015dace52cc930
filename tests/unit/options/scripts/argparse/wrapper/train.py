#!/usr/bin/env python
from tool.train import cli_main

if __name__ == "__main__":
    cli_main()
