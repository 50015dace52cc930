"""Several real servers on one home: of one user, on one machine or on two."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from tests.local.harness import carrying
from tests.local.lab import Answer, Lab
from tests.patience import PATIENCE

ENDED = ("Succeeded", "Failed")
SLEEP = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Lab]]:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    started: list[Lab] = []

    def start(**options: Any) -> Lab:
        lab = Lab(tmp_path, grace_seconds=1, **options)
        lab.start()
        started.append(lab)
        return lab

    yield start
    for lab in started:
        for job in lab.listed():
            if "stop" in job["actions"]:
                lab.ask("POST", "jobs", job["id"], "stop")
                lab.until(job["id"], lambda job: job["phase"] in ENDED)
    for lab in started:
        lab.kill()


def at_once(*requests: Callable[[], Answer]) -> list[Answer]:
    """Send requests at the same moment."""
    gate = Barrier(len(requests))

    def send(request: Callable[[], Answer]) -> Answer:
        gate.wait()
        return request()

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(send, requests))


def seen(lab: Lab, ident: str, seconds: float = PATIENCE) -> None:
    """Wait until a server knows what another one has created."""
    end = time.monotonic() + seconds
    while lab.ask("GET", "jobs", ident).status != 200:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_one_name_at_the_same_moment(labs: Callable[..., Lab]) -> None:
    one, two = labs(), labs()
    for number in range(3):
        spec = one.spec("pass", f"job-{number}")
        answers = at_once(
            *(partial(lab.submit, spec, f"request-{number}-{i}") for i, lab in enumerate([one, two, one, two]))
        )
        assert sorted(answer.status for answer in answers) == [201, 409, 409, 409]
        refused = next(answer.json for answer in answers if answer.status == 409)
        assert (refused["field"], refused["code"]) == ("/spec/name", "NameTaken")
        assert len(list(one.jobs.iterdir())) == number + 1


def test_one_request_through_both(labs: Callable[..., Lab]) -> None:
    one, two = labs(), labs()
    for number in range(3):
        spec = one.spec("pass", f"job-{number}")
        answers = at_once(*(partial(lab.submit, spec, f"request-{number}") for lab in (one, two, one, two)))
        assert [answer.status for answer in answers] == [201] * 4
        assert len({answer.json["id"] for answer in answers}) == 1
        assert len(list(one.jobs.iterdir())) == number + 1


def test_what_one_stops_the_other_deletes(labs: Callable[..., Lab]) -> None:
    one, two = labs(), labs()
    for number in range(4):
        remove = number % 2 == 1
        ident = one.submit(one.spec(SLEEP, f"job-{number}"), f"request-{number}").json["id"]
        one.until(ident, lambda job: job["phase"] == "Running")
        seen(two, ident)
        answers = at_once(
            partial(one.ask, "POST", "jobs", ident, "stop"),
            partial(two.ask, "DELETE", "jobs", ident, remove=str(remove).lower()),
            partial(one.ask, "POST", "jobs", ident, "pause"),
        )
        assert answers[1].status == 202
        assert all(answer.status in (200, 404, 409) for answer in (answers[0], answers[2]))
        for lab in (one, two):
            end = time.monotonic() + PATIENCE
            while True:
                answer = lab.ask("GET", "jobs", ident)
                if answer.status == 404 if remove else (answer.json["deleted"] and not answer.json["pending_action"]):
                    break
                assert time.monotonic() < end, answer.body
                time.sleep(0.02)
        assert carrying(ident.rpartition(":")[2]) == []


def test_twenty_at_once_through_both(labs: Callable[..., Lab]) -> None:
    servers = [labs(), labs()]
    specs = [
        servers[0].spec(
            f"import os\nprint({number}, os.environ.get('RANK'))",
            f"job-{number}",
            torchrun={"proc_per_node": 1} if number % 7 == 0 else None,
        )
        for number in range(20)
    ]
    answers = at_once(
        *(partial(servers[number % 2].submit, spec, f"request-{number}") for number, spec in enumerate(specs))
    )
    assert [answer.status for answer in answers] == [201] * 20
    for number, answer in enumerate(answers):
        lab, ident = servers[(number + 1) % 2], answer.json["id"]  # the other one
        seen(lab, ident)
        job = lab.until(ident, lambda job: job["phase"] in ENDED)
        assert job["phase"] == "Succeeded", job["reason"]
        stream, rank = ("rank-0", "0") if number % 7 == 0 else ("container", "None")
        said = lab.ask("GET", "jobs", ident, "logs", f"worker-0.1.{stream}.out").body
        assert said == f"{number} {rank}\n".encode()
    for lab in servers:
        assert len(lab.listed()) == 20


def test_a_home_seen_from_another_machine_is_read_only(labs: Callable[..., Lab]) -> None:
    here, there = labs(), labs(hostname="elsewhere")
    ident = here.submit(here.spec(SLEEP, "job-1"), "request-1").json["id"]
    here.until(ident, lambda job: job["phase"] == "Running")
    seen(there, ident)
    job = there.until(ident, lambda job: job["phase"] == "Running")
    assert job["read_only"].startswith("This job runs on ")
    assert job["actions"] == ["rerun"]
    for answer in (
        there.ask("POST", "jobs", ident, "stop"),
        there.ask("POST", "jobs", ident, "pause"),
        there.ask("POST", "jobs", ident, "remove"),
        there.ask("DELETE", "jobs", ident),
        there.ask("DELETE", "jobs", ident, remove="true"),
    ):
        assert (answer.status, answer.json["code"]) == (409, "ReadOnly"), answer.body
        assert answer.json["message"] == job["read_only"]
    # Its name is taken all the same, and its log can be read.
    assert there.submit(there.spec("pass", "job-1"), "request-2").status == 409
    end = time.monotonic() + PATIENCE
    while there.ask("GET", "jobs", ident, "logs", "worker-0.1.container.out").body != b"up\n":
        assert time.monotonic() < end
        time.sleep(0.02)
    assert here.ask("POST", "jobs", ident, "stop").status == 200
    done = there.until(ident, lambda job: job["phase"] == "Failed")
    assert (done["reason"]["code"], done["read_only"]) == ("Stopped", None)
