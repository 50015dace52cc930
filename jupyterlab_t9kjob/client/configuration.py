"""Reads the settings of the extension from Jupyter's configuration files, as a Jupyter server does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jupyter_core.paths import jupyter_config_path
from traitlets import TraitError
from traitlets.config import Application

from ..core.errors import FieldError
from ..core.translation import Text, _
from ..settings import T9kJobSettings

FILES: Final = ("jupyter_config", "jupyter_server_config", "jupyterlab_t9kjob_config")
"""Names of the configuration files that a server with the extension reads; the last one wins."""


class T9kJobApp(T9kJobSettings, Application):
    """The settings of a program without a server, under the name by which administrators set those of the server."""

    name = "t9kjob"


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
    app = T9kJobApp()
    for name in FILES:
        try:
            # Folders of the system first: a user's own file wins, as for a server.
            app.load_config_file(name, path=list(jupyter_config_path()))
        except (TraitError, OSError, SyntaxError, ValueError, NameError, AttributeError, ImportError) as error:
            raise FieldError(
                _("Jupyter's configuration {name} can't be used.", name=name),
                code="BadConfiguration",
                hint=_("Correct the file. `jupyter --paths` lists the folders with configuration."),
                verbatim=str(error),
            ) from error
    for key, value in (values or {}).items():
        try:
            setattr(app, key, value)
        except TraitError as error:
            raise FieldError(Text.verbatim(str(error)), code="BadConfiguration") from error
    return app
