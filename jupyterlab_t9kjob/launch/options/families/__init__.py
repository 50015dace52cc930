"""Readers of options, one module for each library.

To add a library, write a module with a function ``read(program) -> OptionsRead | None`` and a `Family` with the
library's words, and add it to `FAMILIES`. The function gets a `Program` and has two ways to look at it:

`Program.run`
    The script as the interpreter followed it, from its first statement on: all calls of library functions and classes
    whose last name is one of the family's words, with evaluated arguments (`LibraryCall`), in order. An argument
    is a constant, or a value of `values.py`: a `FunctionValue` or `ClassValue` has the syntax tree and the module.
    Functions and classes with decorators of libraries have these in `decorators`, and are in `Run.decorated`.
`Program.resolve`, `Program.evaluate`, `Module.tree`
    The definition of a name, followed through imports and re-exports; the value of an expression of a module.

Options that exist but can't be read are returned in `OptionsRead.unread`, with the line. No option is ever guessed.
"""

from __future__ import annotations

from ..model import Family
from . import (
    absl,
    click,
    configurator,
    deepspeed,
    fire,
    huggingface,
    hydra,
    jsonargparse,
    lightning,
    omegaconf,
    simple_parsing,
    sys_argv,
    typer,
    tyro,
)

FAMILIES: tuple[Family, ...] = (
    huggingface.FAMILY,
    fire.FAMILY,
    hydra.FAMILY,
    omegaconf.FAMILY,
    omegaconf.RECIPES,
    lightning.FAMILY,
    jsonargparse.FAMILY,
    absl.FAMILY,
    click.FAMILY,
    typer.FAMILY,
    tyro.FAMILY,
    simple_parsing.FAMILY,
    deepspeed.FAMILY,
    configurator.FAMILY,
    sys_argv.FAMILY,
)
