"""Values of a sweep's fields, their combinations, and the specs of the jobs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.core.sweep import ANNOTATION, SweepMember, member_of, with_member
from jupyterlab_t9kjob.launch.sweeps.combinations import drawn, grid, number_of_combinations
from jupyterlab_t9kjob.launch.sweeps.expansion import jobs_of
from jupyterlab_t9kjob.launch.sweeps.fields import field_of, set_fields, with_unknown
from jupyterlab_t9kjob.launch.sweeps.hints import hints
from jupyterlab_t9kjob.launch.sweeps.model import ExpandSweep, Sweep
from jupyterlab_t9kjob.launch.sweeps.row_file import read_rows
from jupyterlab_t9kjob.launch.sweeps.values import Interval, parse_values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.1, 0.01", ["0.1", "0.01"]),
        (" adam ,sgd, ", ["adam", "sgd"]),
        ('"a,b", c', ["a,b", "c"]),
        ("'1..3', x", ["1..3", "x"]),
        ('"", x', ["", "x"]),
        ("8..64 step 8", ["8", "16", "24", "32", "40", "48", "56", "64"]),
        ("0..0.3 step 0.1", ["0", "0.1", "0.2", "0.3"]),
        ("1..4", ["1", "2", "3", "4"]),
        ("-2..0", ["-2", "-1", "0"]),
        ("1e-4..1e-2 log 5", ["0.0001", "0.000316228", "0.001", "0.00316228", "0.01"]),
        ("0..1 lin 5", ["0", "0.25", "0.5", "0.75", "1"]),
        ("1..3, 10", ["1", "2", "3", "10"]),
        ("100000..10000000 log 3", ["100000", "1000000", "10000000"]),
        ("1234567..1234569 lin 3", ["1234567", "1234568", "1234569"]),
        ("0.12345678..1234567 lin 3", ["0.12345678", "617284", "1234567"]),
        ("2e6..4e6 log 3", ["2000000", "2828430", "4000000"]),
        ("../data, a..b", ["../data", "a..b"]),
        ("1,", ["1"]),
    ],
)
def test_values(text: str, values: list[str]) -> None:
    assert parse_values(text, "/f") == values


def test_ranges_of_whole_numbers_are_rounded() -> None:
    assert parse_values("1..100 log 5", "/f", whole=True) == ["1", "3", "10", "32", "100"]
    assert parse_values("0..1 lin 5", "/f", whole=True) == ["0", "0.25", "0.5", "0.75", "1"]
    interval = parse_values("1..1000 log", "/f", whole=True)
    assert isinstance(interval, Interval) and interval.draw(random.Random(1)).isdecimal()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no value"),
        ("1,,2", "missing between two commas"),
        ('"a, b', "quotes"),
        ('1, "a', "quotes"),
        ("1, 'a', 'b", "quotes"),
        ("1," + " " * 19_000 + "'a", "quotes"),
        ("0..0.3", "which values"),
        ("0.1, 1..9 log", "how many"),
        ("5..1", "smaller number"),
        ("0..1 log 3", "above 0"),
        ("1..9 step 0", "greater than 0"),
        ("1..9 lin 1", "at least 2"),
        ("1..9 lin 2.5", "at least 2"),
        ("1..1e9 step 1", "at most 10000"),
        ("1..9 log 99999999", "at most 10000"),
        ("1..1e400 step 1", "too large"),
        ("1e-300..1 step 1e-300", "too large or too small"),
        ("x," * 4000 + "1..9999", "at most 10000"),
    ],
)
def test_values_that_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(FieldError, match=words) as raised:
        parse_values(text, "/sweep/fields/0/values")
    assert raised.value.field == "/sweep/fields/0/values"


def test_a_grid_changes_the_last_field_fastest_and_combines_rows_with_all_values() -> None:
    values: dict[str, Any] = {"--lr": ["1", "2"], "--bs": ["3", "4"]}
    assert [tuple(row.values()) for row in grid(values, [])] == [("1", "3"), ("1", "4"), ("2", "3"), ("2", "4")]
    rows = [{"--seed": "0"}, {"--seed": "1"}]
    assert number_of_combinations(values, rows) == len(grid(values, rows)) == 8
    assert grid({}, rows) == rows
    with pytest.raises(FieldError, match="how many"):
        grid({"--lr": Interval(0.0, 1.0, logarithmic=False)}, [])


def test_a_random_sweep_is_the_same_for_the_same_seed_and_repeats_nothing() -> None:
    values: dict[str, Any] = {"--lr": parse_values("1e-4..1e-1 log", "/f"), "--bs": ["8", "16"]}
    first = drawn(values, [], 20, seed=7)
    assert first == drawn(values, [], 20, seed=7) != drawn(values, [], 20, seed=8)
    assert len({tuple(row.values()) for row in first}) == 20
    assert all(1e-4 <= float(row["--lr"]) <= 1e-1 for row in first)
    few: dict[str, Any] = {"--a": ["1", "2"], "--b": ["1", "2"]}
    assert len(drawn(few, [], 100, seed=0)) == 4
    assert len(drawn(few, [], 3, seed=0)) == 3


@pytest.mark.parametrize(
    ("args", "option", "value", "expected"),
    [
        (["--lr", "1", "-v"], "--lr", "2", ["--lr", "2", "-v"]),
        (["--lr=1"], "--lr", "2", ["--lr=2"]),
        ([], "--lr", "2", ["--lr", "2"]),
        (["--lr", "1"], "--lr", "-2", ["--lr=-2"]),
        (["lr=1", "x=2"], "lr=", "3", ["lr=3", "x=2"]),
        ([], "model.lr=", "3", ["model.lr=3"]),
        (["--lr-min", "1"], "--lr", "2", ["--lr-min", "1", "--lr", "2"]),
        (["--a", "1", "--", "--lr"], "--lr", "2", ["--a", "1", "--lr", "2", "--", "--lr"]),
    ],
)
def test_options(args: list[str], option: str, value: str, expected: list[str]) -> None:
    assert with_unknown(args, option, value) == expected


def spec_of(**fields: Any) -> JobSpec:
    defaults: dict[str, Any] = {
        "name": "eurosat-lr",
        "entrypoint": Entrypoint(value="/w/train.py"),
        "args": ["--lr", "1", "--log_dir", "/w/runs/eurosat-lr"],
        "env": [{"name": "SEED", "value": "1"}],
        "working_dir": "/w",
        "tensorboard": {"log_dirs": ["/w/runs/eurosat-lr"]},
    }
    return JobSpec.model_validate(defaults | fields)


def test_fields_of_the_spec() -> None:
    assert set_fields(spec_of(), {"/env/0/value": "5"}).env[0].value == "5"
    assert set_fields(spec_of(), {"/args/1": "9"}).args[1] == "9"
    for pointer in ("/name", "/env/7/value", "/env/0", "/annotations/x", "/args/-1", "/args/99999999", "/env/0/nope"):
        with pytest.raises(FieldError, match="no field"):
            set_fields(spec_of(), {pointer: "5"})
    with pytest.raises(FieldError, match="does not allow"):
        set_fields(spec_of(), {"/run_policy/backoff_limit": "many"})


def test_jobs_have_names_directories_and_values_of_their_own() -> None:
    rows = [{"--lr": "0.1"}, {"--lr": "0.2"}, {"--lr": "0.3"}]
    jobs = jobs_of(spec_of(), Sweep(at_a_time=1, left_out=[1]), rows)
    assert [(job.name, job.left_out, job.starts_first) for job in jobs] == [
        ("eurosat-lr-1", True, False),
        ("eurosat-lr-2", False, True),
        ("eurosat-lr-3", False, False),
    ]
    assert jobs[1].spec.args == ["--lr", "0.2", "--log_dir", "/w/runs/eurosat-lr-2"]
    assert jobs[1].spec.tensorboard.log_dirs == ["/w/runs/eurosat-lr-2"]
    long = jobs_of(spec_of(name="a" * 40), Sweep(), rows)
    assert long[2].name == "a" * 38 + "-3"


def of_no_script(column: str) -> str:
    return field_of(column, (), ())


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "lr,batch_size\n0.1,32\n0.2,64\n",
            [{"--lr": "0.1", "--batch_size": "32"}, {"--lr": "0.2", "--batch_size": "64"}],
        ),
        ("\ufefflr=\n1\n\n", [{"lr=": "1"}]),
        ('{"lr": 0.1, "amp": true, "x": null}\n\n{"lr": 2}\n', [{"--lr": "0.1", "--amp": "True"}, {"--lr": "2"}]),
        ("lr\tname\n0.1\ta,b\n", [{"--lr": "0.1", "--name": "a,b"}]),
        ('[{"lr": 1},\n {"lr": "2"}]', [{"--lr": "1"}, {"--lr": "2"}]),
        ('/env/0/value,--name\n"a,b",c\n', [{"/env/0/value": "a,b", "--name": "c"}]),
    ],
)
def test_files_of_rows(tmp_path: Path, text: str, rows: list[dict[str, str]]) -> None:
    path = tmp_path / "rows"
    path.write_text(text, encoding="utf-8")
    assert read_rows(path, of_no_script) == rows


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no rows"),
        (b"lr\n", "no rows"),
        (b"lr,lr\n1,2\n", "each column once"),
        (b"import time\ntime.sleep(1)\n", "each column once"),
        (b"lr\n1,2\n", "Row 2"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'lr\n"x', "not CSV"),
        (b'{"lr": [1]}\n', "lr in row 1"),
        (b"{\n", "Row 1"),
        (b"lr\n\n1\n1,2\n", "Row 4 of rows.csv has 2 cells"),
        (b"lr,--lr\n1,2\n", "each column once"),
        (b'lr,bs\n1,2\n1,"2\n3"\n', "--bs in row 4"),
        (b'[{"lr": 1}, {"lr": {}}]', "lr in row 2"),
        (b"[1]", "Row 1 of rows.csv is not an object"),
        (b"[1", "is not JSON"),
        (b"x" * 1024 * 1024 + b"x", "larger than 1 MB"),
        (b"lr\n" + b"1\n" * 10_001, "10001 rows"),
        (b"{" * 100_000, "not JSON"),
    ],
)
def test_files_that_are_no_rows(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    with pytest.raises(FieldError, match=words):
        read_rows(path, of_no_script)


def test_a_missing_file_or_a_folder_is_no_file_of_rows(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(FieldError, match="can't be read"):
            read_rows(path, of_no_script)


def test_the_membership_is_an_annotation() -> None:
    member = SweepMember(id="ab1", name="x", number=2, at_a_time=3, values={"--lr": "1"})
    spec = with_member(spec_of(annotations={"a": "b"}), member)
    assert member_of(spec.annotations) == member and spec.annotations["a"] == "b"
    assert with_member(spec, None).annotations == {"a": "b"}
    assert member_of({ANNOTATION: "{}"}) is None and member_of({ANNOTATION: '{"id": "../x"}'}) is None


@pytest.mark.parametrize(
    ("sweep", "args", "codes"),
    [
        ({"fields": [{"field": "--lr", "values": "1, 2"}]}, ["--lr", "1"], []),
        ({"fields": [{"field": "--lr", "values": "1, 2"}]}, ["--lr", "1", "--lr=3"], ["OptionTwice"]),
        ({"fields": [{"field": "--lr", "values": "1, 2"}, {"field": "--bs", "values": "8"}]}, [], ["OneValue"]),
        ({"fields": [{"field": "--lr", "values": "1, 2"}], "method": "random", "count": 5}, [], ["FewCombinations"]),
        ({"fields": [{"field": "--lr", "values": "1, 2"}], "method": "random", "count": 2}, [], []),
        ({"fields": [{"field": "--lr", "values": "1, 2"}], "rule": {"metric": "loss"}}, [], ["IdleRule"]),
        ({"fields": [{"field": "--lr", "values": "1..4"}], "rule": {"metric": "loss"}}, [], []),
    ],
)
def test_hints(sweep: dict[str, Any], args: list[str], codes: list[str]) -> None:
    request = ExpandSweep(spec=spec_of(args=args), sweep=Sweep.model_validate(sweep))
    values = {field.field: parse_values(field.values, "") for field in request.sweep.fields}
    jobs = jobs_of(request.spec, request.sweep, drawn(values, [], 9, 0))
    assert [check.code for check in hints(request, jobs)] == codes
