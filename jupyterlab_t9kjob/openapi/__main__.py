"""``python -m jupyterlab_t9kjob.openapi`` writes the contract."""

from .build import main

main()
