"""A token, a secret, or a variable's value is in no log of ours, and on disk only where the spec is kept."""

from __future__ import annotations

import contextlib
import json
import re
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest
import tornado.websocket
from tornado.httpclient import HTTPClientError

from tests.local.harness import eventually
from tests.local.lab import TOKEN, Lab
from tests.patience import PATIENCE
from tests.server.conftest import ENDED
from tests.server.local.conftest import processes_of

VALUE, ARGUMENT = "value-d41d8cd98f00", "argument-9e107d9d372b"
KEEPERS = {"spec.json", "run.json"}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A server that logs all there is, with a secret in its own environment as well."""
    lab = Lab(tmp_path, options=["--log-level=DEBUG", "--debug"], environment={"OF_THE_SERVER": VALUE}, grace_seconds=1)
    lab.start()
    yield lab
    lab.kill()


def ask_with_token_in_the_address(lab: Lab, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://{lab.url}/t9kjob/{path}?token={TOKEN}", timeout=PATIENCE) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


def refusal(lab: Lab, body: bytes) -> bytes:
    """Send what is not taken; returns what is said to it."""
    request = urllib.request.Request(f"http://{lab.url}/t9kjob/jobs", body, {"Authorization": f"token {TOKEN}"})
    with pytest.raises(HTTPError) as caught:
        urllib.request.urlopen(request, timeout=PATIENCE)
    return caught.value.read()


async def test_no_secret_is_told(lab: Lab, tmp_path: Path):
    env = [{"name": "SECRET", "value": VALUE}]
    program = tmp_path / "program"  # there at submission, gone at the start
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    jobs = {
        "well": ("print(1)", {}),
        "fails": ("import os\nassert False, 'no luck'", {}),
        "killed": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", {}),
        "ranks": ("raise SystemExit(3)", {"torchrun": {"proc_per_node": 2}}),
        "again": (
            "raise SystemExit(1)",
            {"replica_specs": [{"restart_policy": "OnFailure", "env": env}], "run_policy": {"backoff_limit": 1}},
        ),
        "no-start": ("", {"entrypoint": {"kind": "command", "value": str(program)}, "paused": True}),
        "stopped": ("import time\ntime.sleep(600)", {}),
    }
    idents = []
    for name, (script, changes) in jobs.items():
        spec = {**lab.spec(script, name, env=env, args=[ARGUMENT]), **changes}
        answer = lab.submit(spec, f"request-{name}")
        assert answer.status == 201, answer.body
        idents.append(answer.json["id"])
    program.unlink()
    lab.ask("POST", "jobs", idents[list(jobs).index("no-start")], "resume")
    lab.ask("POST", "jobs", idents[-1], "stop")
    for ident in idents:
        lab.until(ident, lambda job: job["phase"] in ENDED)
    answers = [part for ident in idents for part in told_of(lab, ident)]

    # what is refused does not come back in the words that refuse it
    spec = lab.spec("print(1)", "bad", args=[ARGUMENT])
    bad = [
        {**spec, "env": [{"name": "A=" + VALUE[:5], "value": VALUE}]},
        {**spec, "env": [{"name": "A", "value": VALUE, "secret": {"name": VALUE, "key": VALUE}}]},
        {**spec, "env": [{"name": "A", "value": VALUE + "\0"}]},
        {**spec, "env": [{"name": "A", "value": VALUE * 20_000}]},
        {**spec, "env": [{"name": "A", "value": {"x": VALUE}}]},
        {**spec, "env": [{"name": "T9KJOB_UID", "value": VALUE}]},
        {**spec, "env": VALUE},
        {**spec, "env": {VALUE: VALUE}},
        {**spec, "working_dir": "/gone", "env": env},
        {**spec, "torchrun": VALUE},
    ]
    for wrong in bad:
        answer = lab.submit(wrong, "request-bad")
        assert 400 <= answer.status < 500, wrong
        answers.append(answer.body)
    for body in (
        json.dumps({"spec": spec, "request_id": "x", "password": VALUE}),
        f'{{"token": "{VALUE}"',
        f'"{VALUE}"',
    ):
        answers.append(refusal(lab, body.encode()))
    # the token in the address, at what works, what does not, and at sockets
    for path in ("jobs", "nothing", "jobs/local::a:b", "jobs/%ff", "stream"):
        ask_with_token_in_the_address(lab, path)
    for path, token in (
        (f"jobs/{idents[0]}/logs", TOKEN),
        ("stream", TOKEN),
        ("stream", "wrong-" + TOKEN),
        ("jobs", TOKEN),
    ):
        with contextlib.suppress(HTTPClientError, tornado.websocket.WebSocketError):
            url = f"ws://{lab.url}/t9kjob/{path}?token={token}"
            connection = await tornado.websocket.websocket_connect(url)
            await connection.write_message(json.dumps({"type": VALUE}))
            answers.append((await connection.read_message() or "").encode())
            connection.close()
    lab.kill()
    await eventually(lambda: not processes_of(lab.jobs))  # their supervisors write, and remove, to the end

    for answer in answers:
        assert VALUE.encode() not in answer and TOKEN.encode() not in answer, answer
    log = lab.log
    assert "GET /t9kjob/jobs?token=[secret]" in log and " 422 POST /t9kjob/jobs" in log  # it does log all there is
    # the server was started with the token among its options, and says no more of that than its name
    for secret in (TOKEN, VALUE, ARGUMENT):
        lines = [line for line in log.splitlines() if secret in line]
        assert lines == [], secret
    kept = set()
    for path in lab.jobs.rglob("*"):
        if path.is_file() and VALUE.encode() in path.read_bytes():
            kept.add(path.name)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept == KEEPERS
    assert not re.search(TOKEN.encode(), b"".join(p.read_bytes() for p in lab.jobs.rglob("*") if p.is_file()))


def told_of(lab: Lab, ident: str) -> Iterator[bytes]:
    """Yield what the API tells of a job, but for the spec itself."""
    job = lab.ask("GET", "jobs", ident).json
    assert VALUE in json.dumps(job.pop("spec"))
    yield json.dumps(job).encode()
    for part in ("replicas", "events", "logs"):
        yield lab.ask("GET", "jobs", ident, part).body
    for stream in lab.ask("GET", "jobs", ident, "logs").json["streams"]:
        yield lab.ask("GET", "jobs", ident, "logs", stream["id"]).body
