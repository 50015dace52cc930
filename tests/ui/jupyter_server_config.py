"""The server that the browser tests run against: Galata's settings, for tests only."""

import json
import os

from jupyterlab.galata import configure_jupyter_server

c = get_config()  # noqa: F821
configure_jupyter_server(c)
# A page that is loaded would have the server run yarn and node, to tell whether the lab should be built anew.
c.ServerApp.tornado_settings = {"page_config_data": {"buildAvailable": False, "buildCheck": False}}
c.T9kJobApp.git_protocols = ["https", "ssh", "file"]  # Repositories of the tests lie on this machine.
c.T9kJobApp.webhook_group_seconds = 0.2
c.T9kJobApp.update(json.loads(os.environ.get("T9KJOB_UI_TRAITS", "{}")))
