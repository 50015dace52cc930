"""Run PyTorch DDP scripts and notebooks as distributed jobs from JupyterLab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client.client import Client as Client

    __version__: str


def __getattr__(name: str) -> Any:
    """Import what a program asks for: the core can be used without Jupyter, and the command line starts quickly."""
    if name == "Client":
        from .client.client import Client

        return Client
    if name == "__version__":
        from importlib.metadata import version

        return version("jupyterlab_t9kjob")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyterlab_t9kjob"}]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    from .app import T9kJobApp

    return [{"module": "jupyterlab_t9kjob.app", "app": T9kJobApp}]
