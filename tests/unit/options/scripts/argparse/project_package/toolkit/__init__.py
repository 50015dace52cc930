"""A package that is installed in place, with the command line of all recipes."""

from .core import parse_arguments
