"""Reads the settings of the extension from Jupyter's configuration files, as a Jupyter server does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jupyter_core.paths import jupyter_config_path
from traitlets import TraitError
from traitlets.config import Config, LoggingConfigurable
from traitlets.config.loader import ConfigFileNotFound, JSONFileConfigLoader, PyFileConfigLoader

from ..core.errors import FieldError
from ..core.translation import Text, _
from ..settings import T9kJobSettings

FILES: Final = ("jupyterlab_t9kjob_config", "jupyter_config", "jupyter_server_config")
"""Names of the configuration files that a server with the extension reads; the last one wins."""
LOADERS: Final = ((".py", PyFileConfigLoader), (".json", JSONFileConfigLoader))


class T9kJobApp(T9kJobSettings, LoggingConfigurable):
    """The settings of a program without a server, under the name by which administrators set those of the server.

    It is no traitlets `Application`: that one exits at a wrong value, and replaces the log handlers of the program.
    """


def read_settings(values: Mapping[str, Any] | None = None) -> T9kJobApp:
    """Return the settings (blocking: files are read).

    Parameters
    ----------
    values
        Settings by name that replace those of the files.

    Raises
    ------
    FieldError
        If a file can't be read, or has a value that its setting does not allow.
    """
    config = _read_files()
    try:
        settings = T9kJobApp(config=config)
    except (TraitError, ValueError, TypeError) as error:
        raise FieldError(
            _("A value in Jupyter's configuration can't be used."),
            code="BadConfiguration",
            hint=_("Correct the file. `jupyter --paths` lists the folders with configuration."),
            verbatim=str(error),
        ) from error
    for key, value in (values or {}).items():
        try:
            setattr(settings, key, value)
        except TraitError as error:
            raise FieldError(Text.verbatim(str(error)), code="BadConfiguration") from error
    return settings


def _read_files() -> Config:
    config = Config()
    # Folders of the system first: a user's own file wins, as for a server.
    folders = list(reversed(jupyter_config_path()))
    for name in FILES:
        for folder in folders:
            for suffix, loader in LOADERS:
                try:
                    config.merge(loader(f"{name}{suffix}", path=folder).load_config())
                except ConfigFileNotFound:
                    continue
                # A file in Python can raise anything. Without it, the administrator's locks would be missing.
                except (Exception, SystemExit) as error:
                    raise FieldError(
                        _("Jupyter's configuration {file} can't be read.", file=str(Path(folder) / f"{name}{suffix}")),
                        code="BadConfiguration",
                        hint=_("Correct the file. `jupyter --paths` lists the folders with configuration."),
                        verbatim=f"{type(error).__name__}: {error}",
                    ) from error
    return config
