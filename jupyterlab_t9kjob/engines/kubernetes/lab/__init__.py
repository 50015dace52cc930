"""The pod in which JupyterLab runs: its volumes, image and identity."""
