"""Options of scripts, read from syntax trees by a small abstract interpreter: nothing is imported or run.

`Program` has the script and its modules, `interpreter` follows the script's statements, `argparse_calls` models
argparse, and `families` has a reader for each of the other libraries. `reader.read_options` joins their results.
"""
