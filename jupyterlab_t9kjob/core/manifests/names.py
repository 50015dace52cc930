"""Every name that this product puts on a cluster's objects, in one place.

Annotations
-----------
==========================================  ==================================================================
``jupyterlab-t9kjob/display-name``          the job's name as its user wrote it
``jupyterlab-t9kjob/owner``                 who submitted it: a hint for *mine*, never a proof (t9k.md §5)
``jupyterlab-t9kjob/request-id``            the submission's id: *already exists* with the same id is success
``jupyterlab-t9kjob/rerun-of``              uid of the job that this one repeats
``jupyterlab-t9kjob/stopped``               when and by whom the job was stopped: it is paused, and counts as ended
``jupyterlab-t9kjob/paused``                when and by whom the job was paused from a lab
``jupyterlab-t9kjob/reminded``              the deadline at which the job's controller was made to look at it
``jupyterlab-t9kjob/env``                   names of the environment variables that we added, in order
``jupyterlab-t9kjob/spec``                  what of the spec the manifest can't say (see `.remainder`)
==========================================  ==================================================================

Environment variables of the training container
-----------------------------------------------
=======================  =============================================================================================
``T9KJOB_NAME``          the job's name
``T9KJOB_LOG_DIR``       where it writes TensorBoard's event files
``T9KJOB_POD``           the pod's name
``T9KJOB_POD_UID``       the pod's uid: names the folder of its rank files
``USER`` ``LOGNAME``     torch asks for them, and a bare uid has no entry in the image's ``/etc/passwd``
``HOME``                 the lab's, where that is on a volume of the job
``TORCHELASTIC_LOG_…``   torchrun names the global rank beside the local one in ``--tee``'s prefix, from torch 2.2 on
``PYTHONUNBUFFERED``     the pod's log gets lines at once: torchrun's ``--tee`` would pass on 8 KiB at a time
=======================  =============================================================================================
"""

from __future__ import annotations

from typing import Final

PREFIX: Final = "jupyterlab-t9kjob/"
DISPLAY_NAME: Final = PREFIX + "display-name"
OWNER: Final = PREFIX + "owner"
REQUEST_ID: Final = PREFIX + "request-id"
RERUN_OF: Final = PREFIX + "rerun-of"
STOPPED: Final = PREFIX + "stopped"
PAUSED: Final = PREFIX + "paused"
REMINDED: Final = PREFIX + "reminded"
ENV: Final = PREFIX + "env"
SPEC: Final = PREFIX + "spec"

ENV_NAME: Final = "T9KJOB_NAME"
ENV_LOG_DIR: Final = "T9KJOB_LOG_DIR"
ENV_POD: Final = "T9KJOB_POD"
ENV_POD_UID: Final = "T9KJOB_POD_UID"
ENV_UNBUFFERED: Final = "PYTHONUNBUFFERED"
ENV_LINE_PREFIX: Final = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"
LINE_PREFIX: Final = "[rank${rank}.${role_name}${local_rank}]:"
"""Prefix of a rank's lines in torchrun's log: “[rank5.default1]:”; torchrun's own is “[default1]:”.

See `logs.serving.sift`.
"""

KUEUE: Final = "kueue.x-k8s.io"
T9K_SCHEDULER: Final = "scheduler.tensorstack.dev"
"""API groups of what queues jobs."""
KUEUE_QUEUE: Final = f"{KUEUE}/queue-name"
"""Label that hands a job to a queue of Kueue (kube-engines.md §2.1)."""

CONTAINER: Final = "pytorch"
"""The training container: PyTorchJob insists on it, the T9k examples use it (t9k.md §1.4)."""

SHM: Final = "dshm"
SHM_PATH: Final = "/dev/shm"  # noqa: S108 (a volume of the pod)
