"""Runs one job: ``python -I -S …/engines/local/supervisor/__main__.py JOB_DIRECTORY``.

Two processes run for each job: the supervisor, and its parent, the guardian, which sleeps until the supervisor ends.
If the supervisor is killed, the guardian adopts the job's processes, ends them and records the end of the job, without
a server.
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
    from jupyterlab_t9kjob.engines.local.supervisor.guardian import main

    main(Path(sys.argv[1]))
