"""The server that the browser tests run against: Galata's settings, for tests only."""

from jupyterlab.galata import configure_jupyter_server

c = get_config()  # noqa: F821
configure_jupyter_server(c)
