"""Run PyTorch DDP scripts and notebooks as distributed jobs from JupyterLab."""

from importlib.metadata import version

__version__ = version("jupyterlab_t9kjob")


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "jupyterlab_t9kjob"}]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    from .app import T9kJobApp  # the core can be used without Jupyter

    return [{"module": "jupyterlab_t9kjob.app", "app": T9kJobApp}]
