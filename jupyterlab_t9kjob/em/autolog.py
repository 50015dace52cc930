"""`autolog`: a run without any call in the training code."""

from __future__ import annotations

import argparse
import builtins
import functools
import importlib.abc
import importlib.util
import json
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, NoReturn, Sequence

from ..secret_values import without_secrets
from .api import create_run
from .run import Run

_WRITERS = ("torch.utils.tensorboard.writer", "tensorboardX.writer")
_KINDS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validate", "validation"), "val"),
    **dict.fromkeys(("test", "testing", "eval", "evaluate", "evaluation"), "test"),
}

_run: Run | None = None


def autolog(name: str | None = None, **arguments: Any) -> Run:
    """Create a run that records the script's argparse options and what it writes with `SummaryWriter`.

    Call it before the script parses its options. A second call returns the same run.

    Parameters
    ----------
    name
        Name of the run; by default the script's.
    arguments
        As in `create_run`.
    """
    global _run
    if _run is not None and _run.status == "Running":
        return _run
    first = _run is None
    _run = create_run(name=name or _script_name(), **arguments)
    _run.completes_at_exit = True
    if first:
        _wrap(argparse.ArgumentParser, "parse_known_args", _options)
        for module in _WRITERS:
            if module in sys.modules:
                _wrap_writer(sys.modules[module])
        sys.meta_path.insert(0, _Finder())
        _wrap_exit()
    return _run


def place_of(tag: str) -> tuple[str, str]:
    """Return the type and the name of the metric for a TensorBoard tag: `train`, `loss` for both of its orders.

    A tag that names no type is of type `train`: each type is a file, and there may be a tag for each layer.

    Parameters
    ----------
    tag
        `train/loss`, `Loss/train`, `loss`, `optimizer/lr/0` …
    """
    parts = [part for part in tag.split("/") if part]
    if len(parts) > 1:
        if parts[0].lower() in _KINDS:
            return _KINDS[parts[0].lower()], "/".join(parts[1:])
        if parts[-1].lower() in _KINDS:
            return _KINDS[parts[-1].lower()], "/".join(parts[:-1])
    return "train", tag


def _script_name() -> str:
    path = Path(str(getattr(sys.modules.get("__main__"), "__file__", None) or "default"))
    name = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in path.stem)
    return name.strip("_")[:40].strip("_") or "default"


def _wrap(owner: Any, name: str, record: Callable[..., None]) -> None:
    """Make a method call `record` with its result and arguments."""
    method = getattr(owner, name)

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        if _run is not None and _run.recording and _run.status == "Running":
            record(_run, result, *args, **kwargs)
        return result

    setattr(owner, name, wrapped)


def _options(run: Run, result: Any, _parser: Any, *_args: Any, **_kwargs: Any) -> None:
    found = {}
    for key, value in vars(result[0]).items():
        try:
            json.dumps(value)
            found[key] = value
        except (TypeError, ValueError):
            if not callable(value):  # a subcommand's function is no hyperparameter
                found[key] = str(value)
    run.hparams.update(without_secrets(found))


def _scalar(
    run: Run, _result: Any, _writer: Any, tag: str, scalar_value: Any, global_step: Any = None, *_args: Any, **_kw: Any
) -> None:
    kind, metric = place_of(str(tag))
    try:
        run.log(kind, {metric: scalar_value}, _step(global_step))
    except (TypeError, ValueError):  # SummaryWriter takes more than numbers, and has written it.
        return


def _scalars(
    run: Run,
    _result: Any,
    _writer: Any,
    main_tag: str,
    tag_scalar_dict: Any,
    global_step: Any = None,
    *_args: Any,
    **_kw: Any,
) -> None:
    for tag, value in tag_scalar_dict.items():
        _scalar(run, None, None, f"{main_tag}/{tag}", value, global_step)


def _hparams(run: Run, _result: Any, _writer: Any, hparam_dict: Any, *_args: Any, **_kw: Any) -> None:
    _options(run, (argparse.Namespace(**{str(key): value for key, value in hparam_dict.items()}),), None)


def _step(step: Any) -> int:
    return 0 if step is None else int(step)


def _wrap_exit() -> None:
    """Make `sys.exit`, `exit` and `quit` with an error code end the run as Error.

    An exception that nobody catches is seen at the exit. `raise SystemExit(…)` is not: Python tells nobody its code.
    """
    leave = sys.exit

    @functools.wraps(leave)
    def wrapped(status: Any = None, /) -> NoReturn:
        _note_exit(status)
        leave(status)

    sys.exit = wrapped
    names = vars(sys.modules["__main__"])
    names.update({name: wrapped for name, value in names.items() if value is leave})  # `from sys import exit`
    quitter: Any = type(getattr(builtins, "exit", None))
    if quitter.__module__ == "_sitebuiltins":
        quit_with = quitter.__call__

        def call(self: Any, code: Any = None) -> None:
            _note_exit(code)
            quit_with(self, code)

        quitter.__call__ = call


def _note_exit(status: Any) -> None:
    if _run is not None and status not in (None, 0):
        _run.completes_at_exit = False


def _wrap_writer(module: ModuleType) -> None:
    writer = getattr(module, "SummaryWriter", None)
    if writer is not None:
        _wrap(writer, "add_scalar", _scalar)
        _wrap(writer, "add_scalars", _scalars)
        _wrap(writer, "add_hparams", _hparams)


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps `SummaryWriter` when its module is imported: importing TensorBoard here would cost a second."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _WRITERS:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            run_module = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run_module(module)
                _wrap_writer(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
