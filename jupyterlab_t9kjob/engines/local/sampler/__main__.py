"""Samples the resources that one job uses: ``python -I -S …/engines/local/sampler/__main__.py JOB_DIRECTORY``.

The supervisor starts this process and ends it. Reading ``/proc`` or a GPU's driver may hang; in a process of its own
that holds up neither the supervisor nor the end of the job.
"""

import sys
import types
from pathlib import Path


def _find_package() -> None:
    """Make the package importable without running its `__init__`, which needs more than the standard library."""
    root = Path(__file__).resolve().parents[3]
    package = types.ModuleType(root.name)
    package.__path__ = [str(root)]
    sys.modules[root.name] = package


if __name__ == "__main__":
    _find_package()
    from jupyterlab_t9kjob.engines.local.sampler.sampler import main

    main(Path(sys.argv[1]))
