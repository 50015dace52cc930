"""Names of all annotations, labels and environment variables that this product writes to a cluster's objects.

Annotations
-----------
==========================================  ==================================================================
``jupyterlab-t9kjob/display-name``          the job's name as its user wrote it
``jupyterlab-t9kjob/owner``                 user who submitted the job; anyone with write access can forge it
``jupyterlab-t9kjob/request-id``            id of the submission; a repeated request finds its job by this id
``jupyterlab-t9kjob/rerun-of``              uid of the job that this job repeats
``jupyterlab-t9kjob/stopped``               time and user of a stop: the job is paused, and counts as ended
``jupyterlab-t9kjob/paused``                time and user of a pause from a lab
``jupyterlab-t9kjob/ran``                   the job ran before its last pause (Jobs, JobSets: their status forgets it)
``jupyterlab-t9kjob/reminded``              deadline at which a change made the controller reconcile the job
``jupyterlab-t9kjob/sweep``                 the job's place in its sweep (`core.sweep`)
``jupyterlab-t9kjob/sweep-lease``           lab that starts the next jobs of the sweep, and until when
``jupyterlab-t9kjob/sweep-verdict``         why the rule of the sweep stopped the job (`core.sweep.Verdict`)
``jupyterlab-t9kjob/continues``             the evicted job that the job continues (`core.evictions.model`)
``jupyterlab-t9kjob/continued``             the job that continues the evicted job, or why none does
``jupyterlab-t9kjob/continue-lease``        lab that creates the job that continues the evicted job, and until when
``jupyterlab-t9kjob/config-files``          the job's config files, by path: its ConfigMap is made from them
``jupyterlab-t9kjob/env``                   names of the environment variables that we added, in order
``jupyterlab-t9kjob/spec``                  parts of the spec that the manifest has no field for (see `.remainder`)
==========================================  ==================================================================

Labels
------
============================  ================================================================================
``jupyterlab-t9kjob/engine``  engine of an Indexed Job or a JobSet; other programs make such objects too, and theirs are
                              not listed
============================  ================================================================================

Environment variables of the training container
-----------------------------------------------
=======================  =============================================================================================
``T9KJOB_NAME``          the job's name
``T9KJOB_REQUEST``       id of the submission, which the job's object has as an annotation: names may be used again
``T9KJOB_LOG_DIR``       directory for TensorBoard's event files
``EM_…_PARENT_DIR``      directories of the recorder's runs and artifacts, if the job has a writable volume
``T9KJOB_POD``           the pod's name
``T9KJOB_POD_UID``       the pod's uid, which names the folder of its rank logs
``USER`` ``LOGNAME``     torch reads them, because a bare uid has no entry in the image's ``/etc/passwd``
``HOME``                 the lab's home, if it is on a volume of the job
``TORCHELASTIC_LOG_…``   adds the global rank to the prefix of lines from ``--tee``, since torch 2.2
``PYTHONUNBUFFERED``     sends lines to the pod's log at once; otherwise ``--tee`` gets them in blocks of 8 KiB
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
RAN: Final = PREFIX + "ran"
REMINDED: Final = PREFIX + "reminded"
SWEEP_LEASE: Final = PREFIX + "sweep-lease"
SWEEP_VERDICT: Final = PREFIX + "sweep-verdict"
CONTINUE_LEASE: Final = PREFIX + "continue-lease"
CONFIG_FILES: Final = PREFIX + "config-files"
ENV: Final = PREFIX + "env"
SPEC: Final = PREFIX + "spec"
ENGINE: Final = PREFIX + "engine"

ENV_NAME: Final = "T9KJOB_NAME"
ENV_REQUEST: Final = "T9KJOB_REQUEST"
ENV_LOG_DIR: Final = "T9KJOB_LOG_DIR"
ENV_RUNS: Final = "EM_RUN_PARENT_DIR"
ENV_ARTIFACTS: Final = "EM_ARTIFACT_PARENT_DIR"
ENV_POD: Final = "T9KJOB_POD"
ENV_POD_UID: Final = "T9KJOB_POD_UID"
ENV_UNBUFFERED: Final = "PYTHONUNBUFFERED"
ENV_LINE_PREFIX: Final = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"
LINE_PREFIX: Final = "[rank${rank}.${role_name}${local_rank}]:"
"""Prefix of a rank's lines in torchrun's log: “[rank5.default1]:”. torchrun's default is “[default1]:”.

See `logs.serving.sift`.
"""

KUEUE: Final = "kueue.x-k8s.io"
T9K_SCHEDULER: Final = "scheduler.tensorstack.dev"
"""API groups of the systems that queue jobs."""
KUEUE_QUEUE: Final = f"{KUEUE}/queue-name"
"""Label that assigns a job to a queue of Kueue (Kueue's documentation, Labels and Annotations)."""

CONTAINER: Final = "pytorch"
"""Name of the training container. PyTorchJob requires it, and T9k's examples use it (t9k-facts.md, Launch)."""

SHM: Final = "dshm"
CONFIG: Final = "t9kjob-config"
"""Volume of a job's config files."""
CLONE: Final = "t9kjob-code"
GIT_CREDENTIALS: Final = "t9kjob-git-credentials"
"""Init container that clones a git repository, and its volume."""
SHM_PATH: Final = "/dev/shm"  # noqa: S108 (a volume of the pod)
