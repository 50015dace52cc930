"""Schemathesis over the OpenAPI file: whatever is asked is answered, soon, as the contract says, and never with 5xx."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.lab import TOKEN, Lab
from tests.server.contract import document
from tests.server.local.request_document import share_form

EXAMPLES = int(os.environ.get("T9KJOB_TEST_REQUESTS", "4"))
"""Requests of each kind to each operation."""
SEED = int(os.environ.get("T9KJOB_TEST_SEED", "1"))
SECONDS = 120
"""How long an answer may take: a page of this machine's, busy with other tests, must not fail here."""

# Says what is asked of a kernel's Python; as what runs a job it ends at once, so that every job that a request happens
# to describe rightly is a real one, and a short one.
PYTHON = """#!/bin/sh
[ "$1" = -c ] && echo '{"python": "3.11.0", "torch": "2.3.0", "devices": 0, "found": [], "folders": []}'
exit 0
"""


CONFIGURATION = f"""
seed = {SEED}
request-timeout = {SECONDS}
continue-on-failure = true

[auth.openapi.token]
api_key = "token {TOKEN}"

[generation]
max-examples = {EXAMPLES}
no-shrink = true
database = "none"

# The methods that an operation lacks are another test's (test_access.py).
[phases.coverage]
unexpected-methods = []

# The contract has no examples and no links: requests would be made for nothing.
[phases.examples]
enabled = false

[phases.stateful]
enabled = false

# A request that fits the schema may still fail: the script does not exist, the name is taken, the body is too large.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 404, 409, 413, 422]

[checks.negative_data_rejection]
expected-statuses = [400, 403, 404, 405, 409, 413, 422]

# It wants 401 to a request without a token; every Jupyter server answers 403.
[checks.missing_required_header]
enabled = false

# They are WebSockets: a plain request is refused.
[[operations]]
include-name = ["GET /t9kjob/stream", "GET /t9kjob/jobs/{{id}}/terminal"]
checks.positive_data_acceptance.enabled = false
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(PYTHON)
    python.chmod(0o755)
    kernel = tmp_path / "data" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "language": "python", "display_name": "Python"}))
    lab = Lab(
        tmp_path,
        # a command that a request names is not found
        environment={"JUPYTER_PATH": str(tmp_path / "data"), "PATH": str(python.parent)},
        tensorboard_limit=1,
        grace_seconds=1,
        kubernetes=False,  # there is no cluster here, so a request for its engines could only be answered with 503
    )
    lab.start()
    yield lab
    lab.kill()


@pytest.mark.timeout(900 + 200 * EXAMPLES)
async def test_any_request(lab: Lab, tmp_path: Path):
    (lab.root / "train.py").write_text("print(1)")
    job = lab.submit(lab.spec("print(1)", "one"), "request-0001")
    assert job.status == 201, job.body
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    (tmp_path / "openapi.json").write_text(json.dumps(share_form(document(), SEED)))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", f"http://{lab.url}"),
        "--no-color",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=tmp_path,
    )
    output, _ = await process.communicate()
    words = output.decode()
    assert process.returncode == 0, words[-20_000:]
    print(words[max(words.find("WARNINGS"), 0) :])
    assert int(re.search(r"(\d+) generated", words)[1]) > 20 * EXAMPLES
    assert lab.ask("GET", "engines").status == 200
    assert "Uncaught exception" not in lab.log and "Traceback" not in lab.log
