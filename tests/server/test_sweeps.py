"""Sweeps through the REST API, with the real local engine and jobs without torchrun."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Api, Page, ended

HUNDRED = {"field": "--lr", "values": "1..100"}


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "jobs"), "grace_seconds": 10.0, "sweep_limit": 6}
    return jp_server_config


async def form_of(api: Api, root: Path) -> dict[str, Any]:
    """Return a request for a sweep over a command that sleeps."""
    (root / "train.py").write_text("import time\ntime.sleep(600)\n")
    filled = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json
    spec = {**filled["spec"], "name": "lr", "torchrun": None, "entrypoint": {"kind": "command", "value": "sleep"}}
    spec |= {"args": ["600"], "tensorboard": {"log_dirs": []}}
    sweep = {"fields": [{"field": "/args/0", "values": "600, 700, 800"}], "at_a_time": 1}
    return {"spec": spec, "path": "train.py", "sweep": sweep}


async def test_a_sweep_is_expanded_created_stopped_and_deleted(api: Api, jp_root_dir: Path) -> None:
    form = await form_of(api, jp_root_dir)
    form["spec"]["name"] = "train-1"
    preview = (await api("POST", "launch", "sweep", body=form)).json
    assert [job["name"] for job in preview["jobs"]] == ["train-1-1", "train-1-2", "train-1-3"]
    assert preview["summary"] == "3 jobs, 1 at a time" and (preview["total"], preview["limit"]) == (3, 6)
    assert [job["starts_first"] for job in preview["jobs"]] == [True, False, False]
    request = {**form, "request_id": "request-1"}
    answer = await api("POST", "sweeps", body=request)
    assert answer.status == 201 and not answer.json["problems"]
    ids = [job["id"] for job in answer.json["jobs"]]
    values = [job["sweep"]["values"] for job in answer.json["jobs"]]
    assert values == [{"/args/0": each} for each in ("600", "700", "800")]
    again = await api("POST", "sweeps", body=request)
    assert [job["id"] for job in again.json["jobs"]] == ids
    taken = await api("POST", "sweeps", body={**form, "request_id": "request-2"})
    assert (taken.status, taken.json["code"]) == (422, "NameTaken")
    # the next form proposes a name whose sweep would not meet the jobs of this one
    assert (await api("POST", "launch", "prefill", body={"path": "train.py"})).json["spec"]["name"] == "train-2"
    sweep = answer.json["id"]
    stopped = await api("POST", "sweeps", sweep, "stop")
    assert stopped.status == 200 and {job["id"] for job in stopped.json["jobs"]} == set(ids)
    assert (await api("DELETE", "sweeps", sweep)).status == 202
    assert (await api("POST", "sweeps", "nothing", "stop")).status == 404


@pytest.mark.parametrize(
    ("sweep", "code", "words"),
    [
        ({"fields": [HUNDRED, {**HUNDRED, "field": "--bs"}]}, "TooManyJobs", "10000 jobs, at most 6"),
        ({"fields": [{"field": "--lr", "values": "1..1e12"}]}, "TooManyValues", "at most 10000"),
        ({"fields": [], "method": "random", "count": 7}, "TooManyJobs", "7 jobs, at most 6"),
        ({"fields": [{"field": "--lr", "values": "1,,2"}]}, "SweepValues", "missing"),
        ({"fields": [{"field": "/name", "values": "a,b"}]}, "SweepField", "/name"),
        ({"fields": [{"field": "--lr", "values": "1"}], "left_out": [1]}, "NoJobs", "left out"),
        ({"rows_path": "../../etc/passwd"}, None, ""),
        ({"rows_path": "train.py"}, "SweepRows", ""),
    ],
)
async def test_bad_sweeps(api: Api, jp_root_dir: Path, sweep: dict[str, Any], code: str | None, words: str) -> None:
    form = await form_of(api, jp_root_dir)
    preview = (await api("POST", "launch", "sweep", body={**form, "sweep": sweep})).json
    error = preview["checks"][0]
    assert error["level"] == "error" and (code is None or error["code"] == code) and words in error["message"]
    answer = await api("POST", "sweeps", body={**form, "sweep": sweep, "request_id": "request-1"})
    assert answer.status == 422
    assert (await api("GET", "jobs")).json["total"] == 0


ARGPARSE = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("-l", "--lr", type=float, default=0.1)
p.add_argument("--layers", type=int, nargs="+", default=[1, 2])
p.add_argument("--amp", action="store_true")
p.add_argument("--batch-size", type=int, default=8)
p.add_argument("data")
p.parse_args()
"""
NANOGPT = """
learning_rate = 6e-4
exec(open("configurator.py").read())
"""
CONFIGURATOR = """
import sys
from ast import literal_eval
for arg in sys.argv[1:]:
    key, val = arg.split("=")
    globals()[key[2:]] = literal_eval(val)
"""
COMMANDS = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--seed", type=int, default=0)
sub = p.add_subparsers(dest="command")
train = sub.add_parser("train")
train.add_argument("--lr", type=float, default=0.1)
sub.add_parser("eval").add_argument("--lr", type=float, default=0.1)
p.parse_args()
"""


@pytest.mark.parametrize(
    ("text", "args", "rows", "expected"),
    [
        (ARGPARSE, ["-l", "0.1", "d"], "lr\n0.3\n", [["--lr", "0.3", "d"]]),
        (ARGPARSE, ["d", "--layers", "1", "2", "3"], "layers\n64 64\n", [["d", "--layers", "64", "64"]]),
        (
            ARGPARSE,
            ["--amp", "d"],
            "amp,batch_size\nTrue,4\nFalse,2\n",
            [["--amp", "d", "--batch-size", "4"], ["d", "--batch-size", "2"]],
        ),
        (ARGPARSE, ["--lr", "1", "--", "d"], "batch-size\n4\n", [["--lr", "1", "--batch-size", "4", "--", "d"]]),
        (NANOGPT, [], "learning_rate\n0.1\n", [["--learning_rate=0.1"]]),
        (COMMANDS, ["train", "--lr", "1"], "seed,lr\n1,2\n", [["--seed", "1", "train", "--lr", "2"]]),
    ],
)
async def test_rows_become_arguments_as_the_script_takes_them(
    api: Api, jp_root_dir: Path, text: str, args: list[str], rows: str, expected: list[list[str]]
) -> None:
    (jp_root_dir / "train.py").write_text(text)
    (jp_root_dir / "configurator.py").write_text(CONFIGURATOR)
    (jp_root_dir / "rows.csv").write_text(rows)
    filled = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json
    form = {"spec": {**filled["spec"], "args": args}, "path": "train.py", "sweep": {"rows_path": "rows.csv"}}
    preview = (await api("POST", "launch", "sweep", body=form)).json
    assert [job["spec"]["args"] for job in preview["jobs"]] == expected
    assert "UnknownColumn" not in {check["code"] for check in preview["checks"]}


async def test_values_that_an_option_does_not_take(api: Api, jp_root_dir: Path) -> None:
    (jp_root_dir / "train.py").write_text(ARGPARSE)
    (jp_root_dir / "rows.csv").write_text("learning_rate\n0.1\n")
    filled = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json

    async def preview(sweep: dict[str, Any]) -> Any:
        form = {"spec": {**filled["spec"], "args": ["d"]}, "path": "train.py", "sweep": sweep}
        return (await api("POST", "launch", "sweep", body=form)).json

    sizes = await preview({"fields": [{"field": "--batch-size", "values": "1..100 log 5"}]})
    assert [job["values"]["--batch-size"] for job in sizes["jobs"]] == ["1", "3", "10", "32", "100"]
    wrong = await preview({"fields": [{"field": "--batch-size", "values": "1, 2.5"}]})
    (check,) = (check for check in wrong["checks"] if check["code"] == "SweepValues")
    assert (check["level"], check["message"]) == ("warning", "--batch-size takes whole numbers; 2.5 is none.")
    (jp_root_dir / "rows.tsv").write_text("amp\tlr\non\t1\nO2\t2\n")
    flag = await preview({"rows_path": "rows.tsv"})
    assert flag["checks"][0]["message"] == "--amp is on or off; O2 is neither."
    elsewhere = {"spec": {**filled["spec"], "args": ["d"]}, "path": "train.py"}
    elsewhere["spec"]["entrypoint"] = {"kind": "script", "value": "/opt/image/other.py"}
    elsewhere["sweep"] = {"fields": [{"field": "--batch-size", "values": "1, 2.5"}]}
    other = (await api("POST", "launch", "sweep", body=elsewhere)).json
    assert len(other["jobs"]) == 2 and "SweepValues" not in {check["code"] for check in other["checks"]}
    unknown = await preview({"rows_path": "rows.csv"})
    (check,) = (check for check in unknown["checks"] if check["code"] == "UnknownColumn")
    assert check["level"] == "warning" and "--learning_rate" in check["message"]


async def test_what_earlier_jobs_of_the_script_say(
    api: Api, open_page: Callable[..., Awaitable[Page]], jp_root_dir: Path
) -> None:
    program = """
import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-1)
parser.add_argument("--out")
parser.add_argument("-w", "--workers", type=int, default=2)
parser.add_argument("--tag", default="1.0")
parser.parse_args()
for epoch in (1, 2):
    print(f"Epoch {epoch}/2 lr=0.1 loss=1.5 val_loss=0.1 val_acc=0.9{epoch}11")
time.sleep(1)
"""
    (jp_root_dir / "train.py").write_text(program)
    spec = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json["spec"] | {"torchrun": None}

    def named(name: str) -> dict[str, Any]:
        log_dirs = [str(jp_root_dir / "runs" / name)]
        return {
            **spec,
            "name": name,
            "args": ["--lr", "0.1", "--out", f"runs/{name}"],
            "tensorboard": {"log_dirs": log_dirs},
        }

    page = await open_page("stream")
    earlier = named("digits")
    earlier["args"] = [*earlier["args"][2:], *earlier["args"][:2]]  # the order of options means nothing
    job = (await api("POST", "jobs", body={"spec": earlier, "request_id": "request-1"})).json
    assert (await ended(page, job["id"]))["phase"] == "Succeeded"

    async def hints(
        values: str, left_out: Sequence[int] = (), field: str = "--lr", more: Any = None, **changes: Any
    ) -> dict[str, str]:
        fields = [{"field": field, "values": values}]
        sweep = {"fields": fields, "at_a_time": 1, "left_out": left_out, **(more or {})}
        form = {"spec": {**named("more"), **changes}, "path": "train.py", "sweep": sweep}
        preview = await api("POST", "launch", "sweep", body=form)
        fixes.update({check["code"]: check["fix"] for check in preview.json["checks"]})
        return {check["code"]: check["message"] for check in preview.json["checks"] if check["level"] == "hint"}

    fixes: dict[str, Any] = {}
    found = await hints("0.2, 0.1")
    assert fixes["TriedBefore"] == {"label": "Leave the job out", "changes": {"/sweep/left_out": [2]}}
    assert "TriedBefore" in await hints("0.2, 0.1, 0.3", left_out=[3])
    assert fixes["TriedBefore"]["changes"] == {"/sweep/left_out": [2, 3]}
    assert "TriedBefore" in await hints("0.2, 0.1", left_out=[1])
    assert fixes["TriedBefore"] is None  # no job would be left
    # the earlier job had these arguments, but no such variable
    environment = [{"name": "SIZE", "value": "0"}]
    assert "TriedBefore" not in await hints("1, 2", field="/env/0/value", env=environment)
    tried = "more-2 has the arguments of digits, which succeeded. digits last reported "
    assert found["TriedBefore"] == f"{tried}val_acc 0.9211 and val_loss 0.1."
    by_default = await hints("4, 2", field="--workers")
    assert by_default["TriedBefore"].startswith(
        "With the defaults that the script has now, more-2 has the values of digits, which succeeded."
    )
    assert "TriedBefore" not in await hints("4, 3", field="--workers")
    # only numbers are compared by their value, and an option that is given twice by its words
    assert "TriedBefore" in await hints("v1, 1.0", field="--tag")
    assert "TriedBefore" not in await hints("v1, 1.00", field="--tag")
    twice = ["--lr", "0.1", "-w", "8", "--workers", "2", "--out", "runs/more"]
    assert "TriedBefore" not in await hints("v1, 1.0", field="--tag", args=twice)
    rule = {"rule": {"metric": "Loss"}}
    assert (await hints("0.2, 0.1", more=rule))["TriedBefore"] == f"{tried}loss 1.5 and val_acc 0.9211."
    assert re.fullmatch(
        r"digits took \d+ s; if each of the 2 jobs takes as long, the sweep takes about \d+ s\.", found["SweepTime"]
    )
    assert set(await hints("0.2, 0.3", more={"at_a_time": 2})) == {"SweepTime"}
    # a job of another size tells nothing about the time
    assert set(await hints("0.2, 0.1", replica_specs=[{"replicas": 2}])) == {"TriedBefore"}
    # the record of a deleted job is as good
    await api("DELETE", "jobs", job["id"])
    await page.until(type="delta", removed_jobs=[job["id"]])
    assert "TriedBefore" in await hints("0.1, 0.2")
