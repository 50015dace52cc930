"""The API's models are built when they are first used, which several threads may do at the same moment."""

import subprocess
import sys
from typing import Final

THREADS: Final = 16
USED: Final = f"""
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

sys.setswitchinterval(1e-6)

from jupyterlab_t9kjob.core.base_model import Model
from jupyterlab_t9kjob.core.job import Job, JobSummary
from jupyterlab_t9kjob.core.spec import JobSpec

spec = {{"name": "train", "entrypoint": {{"kind": "command", "value": "true"}}}}
row = {{"id": "local::train:uid", "engine": "local", "namespace": "", "name": "train", "uid": "uid", "phase": "Running",
       "created_at": 1.0, "replicas": 1, "mine": True}}
uses = [
    lambda: JobSpec.model_validate(spec).model_dump_json(),
    lambda: Job.model_validate({{**row, "spec": spec, "command": ["true"]}}).model_dump_json(),
    lambda: JobSummary.model_validate(row).model_dump_json(),
    lambda: JobSummary.model_json_schema(),
]
together = Barrier({THREADS})


def use(number):
    together.wait()
    return str(uses[number % len(uses)]())


with ThreadPoolExecutor({THREADS}) as threads:
    found = list(threads.map(use, range({THREADS})))
assert all(len(set(found[kind :: len(uses)])) == 1 for kind in range(len(uses))), found
print(len(found))
"""


def test_the_first_use_of_models_by_many_threads_at_once() -> None:
    for _attempt in range(3):
        done = subprocess.run([sys.executable, "-c", USED], capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == (f"{THREADS}\n", 0), done.stderr
