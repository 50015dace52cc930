"""Real servers that are killed at random moments of a job's life, and what the next one shows.

``T9KJOB_KILLS`` sets how many kills each test has, ``T9KJOB_SEED`` repeats a run.
"""

from __future__ import annotations

import io
import json
import os
import random
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.local.harness import carrying
from tests.local.lab import Answer, Gone, Lab
from tests.patience import PATIENCE

KILLS = int(os.environ.get("T9KJOB_KILLS", "2"))
RIGHT_WITHIN = PATIENCE
"""Seconds from a server's first answer until it shows the right state; generous, what it took is printed."""
ENDED = ("Succeeded", "Failed")

pytestmark = pytest.mark.timeout(900 + 60 * KILLS)

COUNTER = """
import os, pathlib, signal, time
going = True
def end(*_):
    global going
    going = False
signal.signal(signal.SIGTERM, end)
rank = os.environ.get("RANK", "0")
number = 0
while going:
    print(number)
    number += 1
    time.sleep(0.001)
place = pathlib.Path("last") / rank
place.mkdir(parents=True, exist_ok=True)
(place / str(len(list(place.iterdir())) + 1)).write_text(str(number))
"""
"""Counts until it is asked to end, then says how far it got: one file for each attempt of each rank."""


@pytest.fixture
def chance(capsys: pytest.CaptureFixture[str]) -> random.Random:
    seed = int(os.environ.get("T9KJOB_SEED") or time.time_ns() % 10**6)
    print(f"T9KJOB_SEED={seed}")
    return random.Random(seed)


class Mortal:
    """A server that is killed again and again, and how long each new one took to show the right state."""

    def __init__(self, lab: Lab, chance: random.Random) -> None:
        self.lab = lab
        self.chance = chance
        self.kills = 0
        self.slowest = 0.0
        self.unanswered = 0

    def killed_during(self, within: float, request: Callable[[], Answer]) -> Answer | None:
        """Send a request and kill the server up to `within` seconds later; return the answer if there was one."""
        answers: list[Answer] = []

        def send() -> None:
            try:
                answers.append(request())
            except Gone:
                self.unanswered += 1

        sending = threading.Thread(target=send)
        sending.start()
        time.sleep(self.chance.uniform(0, within))
        self.again()
        sending.join()
        return answers[0] if answers else None

    def again(self) -> None:
        """Kill the server and start another one, which soon shows each job as its directory tells."""
        self.lab.kill()
        self.kills += 1
        self.lab.start()
        answered = time.monotonic()
        while self._shown() != self._on_disk():
            assert time.monotonic() - answered < RIGHT_WITHIN, (self._shown(), self._on_disk())
        self.slowest = max(self.slowest, time.monotonic() - answered)

    def _shown(self) -> dict[str, str]:
        return {job["uid"]: job["phase"] for job in self.lab.listed(deleted="true")}

    def _on_disk(self) -> dict[str, str]:
        """Read the states, and see that there is nothing but jobs."""
        found = {}
        for path in self.lab.jobs.iterdir():
            if path.name.startswith(".gone-"):
                continue  # on its way out
            try:
                found[path.name] = json.loads((path / "record.json").read_bytes())["outcome"]["phase"]
            except FileNotFoundError:
                continue  # removed while we look
        return found

    def report(self) -> None:
        print(
            f"{self.kills} kills, {self.unanswered} requests without an answer; "
            f"the right state was shown {self.slowest:.3f} s after the first answer at the latest"
        )


@pytest.fixture
def mortal(tmp_path: Path, chance: random.Random, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mortal]:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    mortal = Mortal(Lab(tmp_path), chance)
    mortal.lab.start()
    yield mortal
    for job in mortal.lab.listed():
        if "stop" in job["actions"]:
            mortal.lab.ask("POST", "jobs", job["id"], "stop")
            mortal.lab.until(job["id"], ended)
    mortal.lab.kill()
    mortal.report()


def ended(job: dict[str, Any]) -> bool:
    return job["phase"] in ENDED and job["pending_action"] is None


def numbers(count: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(count))


def logs(lab: Lab, ident: str) -> dict[str, bytes]:
    """Download every stream that the counter writes to; the rank files hold the same bytes."""
    found = {}
    for stream in lab.ask("GET", "jobs", ident, "logs").json["streams"]:
        if stream["source"] != "launcher" and stream["output"] != "stderr":
            found[stream["id"]] = lab.ask("GET", "jobs", ident, "logs", stream["id"], download="true").body
    return found


def assert_whole(lab: Lab, job: dict[str, Any], ranks: int) -> int:
    """Hold every log of an ended job against what its script says that it wrote; return how many lines that were."""
    downloaded = logs(lab, job["id"])
    archive = zipfile.ZipFile(io.BytesIO(lab.ask("GET", "jobs", job["id"], "log-archive").body))
    on_disk = {path.read_bytes() for path in Path(job["log_location"]).rglob("*.log")}
    attempts = len(downloaded) // ranks
    lines = 0
    for rank in range(ranks):
        for attempt in range(1, attempts + 1):
            source = f"rank-{rank}" if job["spec"]["torchrun"] else "container"
            stream = f"worker-0.{attempt}.{source}.out"
            said = lab.root / "last" / str(rank) / str(attempt)
            expected = numbers(int(said.read_text()))
            assert downloaded[stream] == expected, stream
            assert archive.read(f"{job['name']}/{stream}.log") == expected
            assert expected in on_disk
            lines += expected.count(b"\n")
    return lines


@pytest.mark.parametrize("ranks", [1, 2])
def test_one_job_outlives_many_servers(mortal: Mortal, ranks: int) -> None:
    """With one rank torchrun is off, with two it is on."""
    lab, chance = mortal.lab, mortal.chance
    spec = lab.spec(COUNTER, "counter", torchrun=None if ranks == 1 else {"proc_per_node": ranks})
    first = mortal.killed_during(0.3, lambda: lab.submit(spec, "the-only-request"))
    assert len(lab.listed()) in ((1,) if first is not None else (0, 1))
    again = lab.submit(spec, "the-only-request")
    assert again.status == 201, again.body
    ident = again.json["id"]
    assert [job["id"] for job in lab.listed()] == [ident]
    assert first is None or first.json["id"] == ident
    lab.until(ident, lambda job: job["phase"] == "Running")

    counting = lab.root / "last"
    for _ in range(KILLS):
        if chance.random() < 0.3:
            # An answered request was carried out; one without an answer may have been.
            for action, reached in (("pause", "Paused"), ("resume", "Running")):
                if action == "pause":
                    _all_count(lab, ident, ranks)  # else there would be an attempt that did not get to count
                answer = mortal.killed_during(0.2, lambda action=action: lab.ask("POST", "jobs", ident, action))
                if answer is None and lab.ask("GET", "jobs", ident).json["pending_action"] is None:
                    lab.ask("POST", "jobs", ident, action)
                lab.until(ident, lambda job, reached=reached: job["phase"] == reached)
        else:
            time.sleep(chance.uniform(0, 0.5))
            mortal.again()
            assert lab.ask("GET", "jobs", ident).json["phase"] == "Running"
        for stream, data in logs(lab, ident).items():
            seen = numbers(data.count(b"\n") + 1)
            assert seen.startswith(data), stream

    _all_count(lab, ident, ranks)
    answer = mortal.killed_during(0.2, lambda: lab.ask("POST", "jobs", ident, "stop"))
    if answer is None:
        lab.ask("POST", "jobs", ident, "stop")
    job = lab.until(ident, ended)
    assert (job["phase"], job["reason"]["code"], job["ended_by"]) == ("Failed", "Stopped", "user")
    assert carrying(job["uid"]) == []
    print(f"{assert_whole(lab, job, ranks)} lines in {len(list((counting / '0').iterdir()))} attempts of {ranks} ranks")

    mortal.killed_during(0.1, lambda: lab.ask("DELETE", "jobs", ident, remove="true"))
    end = time.monotonic() + PATIENCE
    while lab.ask("DELETE", "jobs", ident, remove="true").status != 404:
        assert time.monotonic() < end
        time.sleep(0.05)
    _nothing_left(lab)


def test_requests_that_are_cut_short(mortal: Mortal) -> None:
    """A create leaves one job or none; a stop, a delete and a removal that were answered are finished."""
    lab, chance = mortal.lab, mortal.chance
    deaf = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(600)\n"
    for number in range(KILLS):
        spec = lab.spec(deaf, f"job-{number}")
        answer = mortal.killed_during(0.3, lambda spec=spec: lab.submit(spec, f"request-{spec['name']}"))
        made = lab.listed()
        assert len(made) in ((1,) if answer is not None else (0, 1))
        assert len(list(lab.jobs.iterdir())) == len(made)
        again = lab.submit(spec, f"request-{spec['name']}")
        assert again.status == 201 and [again.json["id"]] == [job["id"] for job in lab.listed()]
        assert not made or made[0]["id"] == again.json["id"]
        ident = again.json["id"]
        # Every other one is ended before it has got to run.
        if chance.random() < 0.5:
            lab.until(ident, lambda job: job["phase"] == "Running")
        wish = chance.choice(["stop", "delete", "remove"])
        method, parts, query = {
            "stop": ("POST", (ident, "stop"), {}),
            "delete": ("DELETE", (ident,), {}),
            "remove": ("DELETE", (ident,), {"remove": "true"}),
        }[wish]

        def ask(method: str = method, parts: Any = parts, query: Any = query) -> Answer:
            return lab.ask(method, "jobs", *parts, **query)

        answer = mortal.killed_during(0.15, ask)
        if answer is None:
            # It may have been written down or not; asking again is right in both cases.
            assert ask().status in (200, 202, 404, 409)
        end = time.monotonic() + PATIENCE
        while not _done(lab, ident, wish):
            assert time.monotonic() < end, lab.ask("GET", "jobs", ident).body
            time.sleep(0.05)
        assert carrying(ident.rpartition(":")[2]) == []
        if wish != "remove":
            assert lab.ask("POST", "jobs", ident, "remove").status == 204
        _nothing_left(lab)


def _done(lab: Lab, ident: str, wish: str) -> bool:
    answer = lab.ask("GET", "jobs", ident)
    if answer.status == 404:
        return wish == "remove"
    job = answer.json
    return wish != "remove" and ended(job) and job["deleted"] == (wish == "delete")


def _all_count(lab: Lab, ident: str, ranks: int) -> None:
    """Wait until every rank of the newest attempt has begun to count."""
    end = time.monotonic() + PATIENCE
    while True:
        newest = lab.ask("GET", "jobs", ident).json["attempt"]
        counting = [stream for stream, data in logs(lab, ident).items() if f".{newest}." in stream and data]
        if len(counting) == ranks:
            return
        assert time.monotonic() < end, counting
        time.sleep(0.05)


def _nothing_left(lab: Lab) -> None:
    """See that neither home nor the locks have anything of a job that is gone."""
    assert list(lab.jobs.iterdir()) == []
    locks = [path.name for path in (lab.home.parent / "runtime" / "t9kjob").iterdir()]
    assert [name for name in locks if not name.startswith("create-")] == []
