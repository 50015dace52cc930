"""The JupyterHub that a lab is tested behind; its folder and ports come from the environment.

As root, each user's server runs as a Unix user of its own, whom the system need not know. Without root all are the
same Unix user.
"""

import os
import shlex

from jupyterhub.spawner import SimpleLocalProcessSpawner

STATE = os.environ["T9KJOB_HUB_STATE"]
PORT = int(os.environ["T9KJOB_HUB_PORT"])
UIDS = {"alice": 20001, "bob": 20002}


class Spawner(SimpleLocalProcessSpawner):
    """Starts servers in homes of their own, as users of their own where it may."""

    home_dir_template = f"{STATE}/{{username}}"

    @property
    def cmd(self):
        """Return the command, as the user's own where root can become that user."""
        server = [f"{os.environ['T9KJOB_UI_ENV']}/bin/jupyterhub-singleuser"]
        if os.geteuid():
            return server
        uid = UIDS[self.user.name]
        # The Python of a developer may lie in a home that others can't enter.
        read = "+dac_read_search"
        keep = [f"--inh-caps={read}", f"--ambient-caps={read}"]
        return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *keep, *server]

    def user_env(self, env):
        """Return the environment of a user who has logged in."""
        home = self.home_dir
        return {
            **super().user_env(env),
            "XDG_RUNTIME_DIR": f"{home}/run",
            "JUPYTER_PATH": os.environ["JUPYTER_PATH"],
        }


c = get_config()  # noqa: F821
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT}"
c.JupyterHub.hub_port = PORT + 1
c.JupyterHub.db_url = f"sqlite:///{STATE}/hub.sqlite"
c.JupyterHub.cookie_secret_file = f"{STATE}/cookie_secret"
c.JupyterHub.log_level = "WARN"
c.JupyterHub.spawner_class = Spawner
c.JupyterHub.allow_named_servers = True
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORT + 2}"
c.ConfigurableHTTPProxy.command = shlex.split(os.environ["T9KJOB_HUB_PROXY"])
c.ConfigurableHTTPProxy.pid_file = f"{STATE}/proxy.pid"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "secret"
c.Authenticator.allowed_users = set(UIDS)
c.Spawner.notebook_dir = "~"
c.Spawner.http_timeout = c.Spawner.start_timeout = 300  # a busy machine is slow
c.Spawner.default_url = "/lab"
c.Spawner.args = [
    "--ServerApp.log_level=WARN",
    "--LabApp.expose_app_in_browser=True",
    # In a network of its own, as the fast one has, the capability above is lost.
    "--T9kJobApp.tensorboard_loader=slow",
]
# The test stops and starts servers as the hub's administrator does.
c.JupyterHub.services = [{"name": "test", "api_token": os.environ["T9KJOB_HUB_TOKEN"]}]
c.JupyterHub.load_roles = [
    {"name": "test", "scopes": ["admin:users", "admin:servers", "list:users"], "services": ["test"]}
]
