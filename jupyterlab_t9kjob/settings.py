"""The settings of the extension, as traits that an administrator sets in Jupyter's configuration.

The server extension has them (`app.T9kJobApp`), and so have programs that use the services without a server
(`client.configuration`).
"""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.paths import jupyter_data_dir
from traitlets import Bool, Dict, Enum, Float, HasTraits, Integer, Unicode, default

from .core.code.git_address import GIT_SYNC_IMAGE
from .traits import JsonList

if TYPE_CHECKING:
    from .jobs.stalls import Patience
    from .presets.configuration import Configuration
    from .snapshots.limits import Limits


class T9kJobSettings(HasTraits):
    """The settings."""

    home = Unicode(
        help="Directory for the records and logs of jobs; by default `t9kjob` in Jupyter's data directory."
    ).tag(config=True)
    grace_seconds = Float(
        10.0, min=0, help="Seconds between SIGTERM and SIGKILL when the processes of a local job are ended."
    ).tag(config=True)
    device_pool = JsonList(
        Unicode(),
        default_value=None,
        allow_none=True,
        help="Accelerators that local jobs may use, by index or UUID; None for all that are found."
        " The server's own CUDA_VISIBLE_DEVICES limits them further.",
    ).tag(config=True)
    keep_finished_days = Float(
        None,
        allow_none=True,
        min=0,
        help="Days for which the record and logs of a local job are kept after its end; None for ever. Files that the"
        " job wrote are never removed, nor are records of another machine in the same home.",
    ).tag(config=True)
    log_bytes_per_job = Integer(
        None,
        allow_none=True,
        min=1_000_000,
        help="Bytes of a job's log that are kept on disk; None for any number. If a log is larger, the middle of its"
        " largest files is removed while the job runs, and the log says so. The file system must be able to make holes"
        " in files, as those of Linux are.",
    ).tag(config=True)
    local_jobs_are_activity = Bool(
        True,
        help="Count the server as active while a local job runs, so that the server is not culled as idle.",
    ).tag(config=True)
    activity_interval = Float(
        30.0, min=0.01, help="Seconds between two updates of the server's last activity while local jobs run."
    ).tag(config=True)
    tensorboard_idle_seconds = Float(
        3600.0, min=1, help="Seconds after which a TensorBoard that no page shows is stopped."
    ).tag(config=True)
    tensorboard_limit = Integer(10, min=1, help="TensorBoards that may run at the same time.").tag(config=True)
    tensorboard_reload_seconds = Float(5.0, min=0.1, help="Seconds between two reads of new data by TensorBoard.").tag(
        config=True
    )
    tensorboard_loader = Enum(
        ("auto", "fast", "slow"),
        "auto",
        help="Reader of event files. fast: TensorBoard's data server, which listens on a TCP port from which every user"
        " of the machine can read. slow: TensorBoard's reader in Python. auto: the fast one in a network namespace of"
        " its own if the system allows that, else the slow one.",
    ).tag(config=True)
    no_progress_seconds = Float(
        300.0,
        min=1,
        help="Seconds without a step after which a running job counts as stuck, if that is also ten times the median of"
        " its last 100 steps.",
    ).tag(config=True)
    no_output_seconds = Float(
        600.0,
        min=1,
        help="Seconds without a line of output and without an event after which a running job counts as stuck, while"
        " its steps are not known.",
    ).tag(config=True)
    history_bytes = Integer(
        None,
        allow_none=True,
        min=1_000_000,
        help="Bytes of the records of all jobs with their logs, samples and stacks; None for any number. Above it, the"
        " jobs that ended first lose their records. Files that jobs wrote are never removed.",
    ).tag(config=True)
    archive_bytes = Integer(
        4_000_000_000,
        min=1_000_000,
        help="Largest size in bytes of the archive of a job that is imported, and of its unpacked content.",
    ).tag(config=True)
    sweep_limit = Integer(24, min=1, max=1000, help="Jobs that a sweep may have.").tag(config=True)
    presets = JsonList(
        help="Presets that every launch form offers: a list of {name, values, args, engines}. The values are given by"
        " JSON pointer into the spec of a job, such as /runtime/image.",
    ).tag(config=True)
    locks = JsonList(
        help="Rules for the fields of all jobs: a list of {field, reason, engines} with one of value, allowed and"
        " maximum. The field is a JSON pointer into the spec of a job, or into its manifest (/manifest/spec/…). The"
        " server refuses jobs that break a rule.",
    ).tag(config=True)
    presets_file = Unicode(
        help="YAML or JSON file with further presets and locks, under the keys presets and locks. It is read again when"
        " it changes. No job can be submitted until it could be read once.",
    ).tag(config=True)
    webhooks = JsonList(
        help="Webhooks that get messages about the ends and delays of the jobs of this server's user: a list of"
        " {service, address, key, keyword, name}; the service is slack, feishu, dingtalk or json. Pages show only"
        " the end of the address.",
    ).tag(config=True)
    webhook_group_seconds = Float(
        30.0, min=0, help="Seconds for which events of jobs are collected into one message of a webhook."
    ).tag(config=True)
    webhook_retry_seconds = JsonList(
        Float(),
        [60.0, 540.0],
        help="Seconds before each further try to send a message that a webhook did not accept.",
    ).tag(config=True)
    snapshot_bytes = Integer(
        200_000_000, min=1_000_000, help="Largest size in bytes of the copy of a job's code that is made at submission."
    ).tag(config=True)
    snapshots_bytes = Integer(
        5_000_000_000,
        min=1_000_000,
        help="Bytes of all copies of code on a volume or on this machine. Above that, the oldest copies that no active"
        " job uses are removed.",
    ).tag(config=True)
    git_protocols = JsonList(
        Unicode(),
        ["https", "ssh"],
        help="Protocols by which jobs can read git repositories and their submodules: https, ssh, http, git, file. With"
        " file, every user can read each repository on the server's disk that the server's account can read.",
    ).tag(config=True)
    git_image = Unicode(
        GIT_SYNC_IMAGE, help="Image of git-sync, version 4, which clones the repository of a job in a cluster."
    ).tag(config=True)
    log_bytes_in_flight = Integer(
        1024 * 1024,
        min=1,
        help="Bytes of log that are sent to a page ahead of what it has shown. A slow page costs no more memory.",
    ).tag(config=True)

    kubernetes = Bool(True, help="Offer the engines of a cluster if there are credentials for one.").tag(config=True)
    kubernetes_context = Unicode(
        None,
        allow_none=True,
        help="Context of the kubeconfig; None for the pod's own service account, or else the current context.",
    ).tag(config=True)
    kubernetes_namespaces = JsonList(
        Unicode(), help="Namespaces whose jobs are listed in addition to the connection's own namespace."
    ).tag(config=True)
    kubernetes_volumes = JsonList(
        Dict(),
        help="Volumes of the cluster that are mounted on this machine, for a lab outside a pod: a list of {claim,"
        " lab_path, mount_path, sub_path, namespace, read_only}. Jobs see the files of lab_path at mount_path.",
    ).tag(config=True)
    kubernetes_owner = Unicode(
        help="Owner noted on jobs in a cluster, to tell a user's own jobs from others. A hint, no proof. By default the"
        " hub's user, the notebook's name, or the user of this process."
    ).tag(config=True)
    kubernetes_debug_image = Unicode(
        help="Image of debug containers, which take the stacks of a job in a cluster if its own container has no Python"
        " or no py-spy, or forbids tracing. The image needs Python 3.8 or newer and `sleep`; if the server has no"
        " py-spy, the image needs that as well. A debug container runs as root with the capability SYS_PTRACE, and the"
        " account needs the permission to patch pods/ephemeralcontainers. Empty for no debug containers."
    ).tag(config=True)
    keep_rank_logs = Bool(
        True,
        help="Let jobs in a cluster write the log of each rank below .t9kjob/logs on their volume. These logs are"
        " complete whether this server runs or not.",
    ).tag(config=True)
    follow_replicas = Integer(
        16,
        min=0,
        help="Own jobs of up to this many replicas have the logs of their pods followed even if no page shows them.",
    ).tag(config=True)
    followed_logs = Integer(
        64,
        min=1,
        help="Logs of containers that are followed at the same time, each on a connection to the cluster. If there are"
        " more, they take turns; no lines are lost by that.",
    ).tag(config=True)
    prometheus = Unicode(
        help="Address of the cluster's Prometheus, from which the use of resources by jobs is read:"
        " http://prometheus-k8s.monitoring.svc:9090. Empty to find its Service in the namespaces t9k-monitoring and"
        " monitoring, if the account may list Services there; off to read the metrics API only."
    ).tag(config=True)
    prometheus_token_file = Unicode(
        help="File with the bearer token for the address in prometheus. It is read again for each query."
    ).tag(config=True)
    prometheus_ca_file = Unicode(
        help="File with the authorities that sign the certificate of the address in prometheus; empty for those that"
        " the system trusts."
    ).tag(config=True)

    @default("home")
    def _default_home(self) -> str:
        return str(Path(jupyter_data_dir()) / "t9kjob")

    @default("kubernetes_owner")
    def _default_owner(self) -> str:
        return default_owner(os.environ)

    # -- for the services, which are imported when they are needed -----------------------------------------------------

    @property
    def home_folder(self) -> Path:
        """The absolute path of `home`: supervisors of jobs run in other folders."""
        return Path(self.home).expanduser().absolute()

    def patience(self) -> Patience:
        """Return the limits after which a job counts as stuck."""
        from .jobs.stalls import Patience

        return Patience(self.no_progress_seconds, self.no_output_seconds)

    def presets_configuration(self) -> Configuration:
        """Return the administrator's presets and locks."""
        from .presets.configuration import Configuration

        path = Path(self.presets_file).expanduser() if self.presets_file else None
        return Configuration(self.presets, self.locks, path)

    def snapshot_limits(self) -> Limits:
        """Return the limits of copies of code."""
        from .snapshots.limits import Limits

        return Limits(
            most_bytes=self.snapshot_bytes,
            store_bytes=self.snapshots_bytes,
            git_protocols=self.git_protocols,
            git_image=self.git_image,
        )


def default_owner(environment: Mapping[str, str]) -> str:
    """Return the user of this lab: the hub's user, or else the notebook's name, or else the user of this process.

    On T9k all labs run as the same user and differ by the notebook's name (t9k-facts.md, Lab pods).
    """
    if user := environment.get("JUPYTERHUB_USER"):
        return user
    if notebook := re.search(r"/(?:name|notebook/[^/]+)/([^/]+)/?$", environment.get("NB_PREFIX", "")):
        return notebook[1]
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # The uid has no entry in the user database.
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else ""
