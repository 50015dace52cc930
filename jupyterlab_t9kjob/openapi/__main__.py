"""``python -m jupyterlab_t9kjob.openapi``: write `openapi.json`."""

from .build import main

main()
