"""Reading of declarations: library calls, types, signatures, dataclass fields, docstrings and tables of options.

The readers of `families` use these modules. Nothing is imported or run.
"""
