"""Files of artifacts and their previews."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.core.errors import NotFound
from jupyterlab_t9kjob.experiments.artifacts import files as files_module
from jupyterlab_t9kjob.experiments.artifacts import parquet
from jupyterlab_t9kjob.experiments.artifacts.files import checksum, open_file, read_artifact, zipped
from jupyterlab_t9kjob.experiments.artifacts.model import Preview
from jupyterlab_t9kjob.experiments.artifacts.previews import MOST_IMAGE, MOST_TEXT, media_type, read_preview
from jupyterlab_t9kjob.experiments.places import Places


def preview(name: str, content: bytes, size: int | None = None) -> Preview:
    shown = read_preview(io.BytesIO(content), name, len(content) if size is None else size)
    assert shown.model_dump_json()
    return shown


def safetensors(header: object) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artifact with files, a reference and links."""
    lab = tmp_path / "lab"
    lab.mkdir()
    monkeypatch.chdir(lab)
    (tmp_path / "secret.txt").write_text("secret")
    (lab / "notes.md").write_text("# Notes")
    artifact = em.create_artifact("report", labels=["best"], description="Of the test set")
    artifact.add_file("notes.md")
    artifact.add_file("notes.md", "errors/a.md")
    artifact.add_reference("s3://bucket/predictions.parquet")
    found = lab / str(artifact.local)
    (found / "inside.md").symlink_to(lab / "notes.md")
    (found / "outside.txt").symlink_to(tmp_path / "secret.txt")
    (found / "up").symlink_to(tmp_path)
    (found / "gone").symlink_to(tmp_path / "nothing")
    (found / "metadata.md").write_bytes(b"")
    os.mkfifo(found / "pipe")
    (found / os.fsdecode(b"b\xff.txt")).touch()
    return found


def test_an_artifact_lists_its_files_references_and_metadata(folder: Path) -> None:
    facts = read_artifact(folder, Places(folder.parents[2]))
    assert (facts.name, facts.labels, facts.description) == ("report", ["best"], "Of the test set")
    assert len(facts.suffix) == 6 and facts.created_at is not None and facts.problem is None
    assert [(each.path, each.uri) for each in facts.references] == [
        ("predictions.parquet", "s3://bucket/predictions.parquet")
    ]
    files = {file.path: file for file in facts.files}
    readable = {path for path, file in files.items() if file.readable}
    assert readable == {"notes.md", "errors/a.md", "inside.md", "metadata.md"}
    assert {path for path, file in files.items() if file.link} == {"inside.md", "outside.txt", "up", "gone"}
    assert files["outside.txt"].size == 0 and files["notes.md"].kind == "markdown"
    assert "b\ufffd.txt" in files and facts.file_count == len(files) and facts.size == 21


def test_a_zip_file_names_what_it_does_not_have(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = Places(folder.parents[2])
    os.utime(folder / "notes.md", (5e9, 5e9))
    os.utime(folder / "metadata.md", (-5e9, -5e9))
    (folder / "a\nb").symlink_to("/etc/passwd")
    folder = folder.rename(folder.with_name(os.fsdecode(b"r\xff")))
    with zipfile.ZipFile(io.BytesIO(b"".join(zipped(folder, places)))) as archive:
        assert archive.testzip() is None
        members = {info.filename.partition("/")[2]: info for info in archive.infolist()}
        assert set(members) >= {"notes.md", "errors/a.md", "inside.md", "metadata.md", "metadata.yaml"}
        assert (members["notes.md"].date_time[0], members["metadata.md"].date_time[0]) == (2107, 1980)
        [said] = [name for name in archive.namelist() if name.endswith(".left-out.txt")]
        named = archive.read(said).decode().splitlines()[1:]
        assert sorted(named) == ["a\ufffdb", "b\ufffd.txt", "gone", "outside.txt", "pipe", "up"]
    assert not read_artifact(folder, places).more_files
    monkeypatch.setattr(files_module, "MOST_WALKED", 3)
    monkeypatch.setattr(files_module, "MOST_NAMED", 0)
    facts = read_artifact(folder, places)
    assert facts.more_files and facts.file_count == 3
    with zipfile.ZipFile(io.BytesIO(b"".join(zipped(folder, places)))) as archive:
        lines = archive.read(said).decode().splitlines()
    assert lines[0] == "The artifact has more files. The first 3 were sent." and lines[-1].endswith(" more")


@pytest.mark.parametrize(
    "path",
    [
        "outside.txt",
        "up/secret.txt",
        "../../../../secret.txt",
        "/etc/passwd",
        "pipe",
        "errors",
        "",
        ".",
        "a\0b",
        "x" * 5000,
    ],
)
def test_no_path_leads_out_of_an_artifact(folder: Path, path: str) -> None:
    with pytest.raises(NotFound):
        open_file(folder, path, Places(folder.parents[2]))


def test_files_are_opened_and_have_checksums(folder: Path) -> None:
    with open_file(folder, "inside.md", Places(folder.parents[2])) as file:
        work = checksum(file, "inside.md")
        while True:
            try:
                next(work)
            except StopIteration as end:
                found = end.value
                break
    assert (found.md5, found.size) == ("e9ddb1c5a3a4dcf8f56e5c3b4b8e5d9c", 7) or len(found.md5) == 32
    assert len(found.sha256) == 64


@pytest.mark.parametrize("content", [b"", b"\0\0", b"- 1", b"labels: {a: 1}\nname: [1]\n", b"a: [" * 5000])
def test_metadata_that_are_broken_leave_the_files(folder: Path, content: bytes) -> None:
    (folder / "metadata.yaml").write_bytes(content)
    (folder / "references.yaml").write_bytes(b"a: {b: !!python/object:os.system x}\n1: .nan\n")
    facts = read_artifact(folder, Places(folder.parents[2]))
    assert facts.name and "notes.md" in {file.path for file in facts.files}


def test_text_is_cut_and_other_bytes_are_no_text() -> None:
    assert preview("a.log", b"x" * (MOST_TEXT + 1)).truncated
    assert preview("a.unknown", "ä".encode()).text == "ä"
    assert preview("a.txt", b"a\xff" * 9000).kind == "none"
    for name in ("model.pt", "model.pkl", "a.html"):
        shown = preview(name, b"\x80\x04\0cos\nsystem\n(S'touch /tmp/x'\ntR.")
        assert shown.kind == "none" and shown.problem
    assert preview("a.md", b"<script>alert(1)</script>").kind == "markdown"
    assert preview("empty", b"").text == ""


def test_tables_have_a_thousand_rows() -> None:
    table = preview("a.csv", b"class,images\n" + b"Forest,600\n" * 1500)
    assert table.columns == ["class", "images"] and len(table.rows) == 1000 and table.truncated
    assert preview("a.csv", "\ufeffa;b\n1;2;3\n\n".encode()).rows == [["1", "2", "3"]]
    wide = preview("a.tsv", b"\t" * 100_000 + b"\n" + b"1\t" * 100_000)
    assert len(wide.columns) == 200 and len(wide.rows[0]) == 200 and wide.truncated
    lines = preview("a.jsonl", b'{"a": 1, "b": NaN}\n[1, 2]\n{"c": {"d": "e"}}\n')
    assert lines.columns == ["a", "b", "", "c"] and [len(row) for row in lines.rows] == [4, 4, 4]
    for broken in (b"{", b"[" * 100_000, b"1" * 10_000, b"\0"):
        assert preview("a.jsonl", broken).problem
    assert preview("a.csv", b'"' + b"x" * 200_000).problem


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.csv", b"a,b\n1,2\n", "text"),
        ("a.TSV", b"a\tb\n", "text"),
        ("a.jsonl", b"{", "text"),
        ("a.csv", b"a,\0", "none"),
        ("a.md", b"# A", "markdown"),
        ("a.parquet", b"PAR1", "none"),
        ("a.png", b"", "image"),
    ],
)
def test_a_table_in_a_text_file_is_also_text(name: str, content: bytes, kind: str) -> None:
    shown = read_preview(io.BytesIO(content), name, len(content), as_text=True)
    assert (shown.kind, shown.has_text) == (kind, False)
    assert kind != "text" or shown.text == content.decode()


def test_tensors_are_read_from_the_header_only() -> None:
    weight = {"dtype": "F32", "shape": [10, 4], "data_offsets": [0, 160]}
    shown = preview("m.safetensors", safetensors({"__metadata__": {"format": "pt"}, "head.weight": weight}), 10_000)
    assert [(each.name, each.shape, each.size) for each in shown.tensors] == [("head.weight", [10, 4], 160)]
    assert (shown.tensor_count, shown.parameter_count, shown.facts) == (1, 40, {"format": "pt"})
    huge = {**weight, "shape": [2**53] * 64}
    assert preview("m.safetensors", safetensors({"a": huge}), 10_000).parameter_count == 2**53
    for broken in (
        b"",
        b"\xff" * 8,
        safetensors(b"{"),
        safetensors(b"[" * 100_000),
        safetensors([1]),
        safetensors({"a": 1}),
        safetensors({"a": {**weight, "shape": [-1]}}),
        safetensors({"a": {**weight, "shape": [True]}}),
        (40_000_000).to_bytes(8, "little"),
    ):
        assert preview("m.safetensors", broken).kind == "none"
    assert preview("m.safetensors", (40_000_000).to_bytes(8, "little"), 10**9).problem


def test_images_are_shown_up_to_a_size() -> None:
    assert preview("a.PNG", b"", MOST_IMAGE).kind == "image"
    assert preview("a.png", b"", MOST_IMAGE + 1).kind == "none"
    assert media_type("a.SVG") == "image/svg+xml" and media_type("a.html") == "application/octet-stream"


def test_an_artifact_that_goes_while_it_is_read_has_no_files(folder: Path) -> None:
    shutil.rmtree(folder)
    assert read_artifact(folder, Places(folder.parents[2])).files == []


def test_parquet_is_read_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow itself is not among the packages of the tests; tried with 25.0 by hand."""
    program = tmp_path / "program.py"
    monkeypatch.setattr(parquet, "_PROGRAM", program)

    def preview() -> Preview:
        with (tmp_path / "a.parquet").open("rb") as file:
            return read_preview(file, "a.parquet", 4)

    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(parquet, "find_spec", lambda name: None)
    assert "pyarrow" in str(preview().problem)
    monkeypatch.setattr(parquet, "find_spec", lambda name: name)
    answer = {"columns": ["a", "b"], "rows": [[1, float("nan")], [None, "x"]], "truncated": True}
    content = json.dumps(json.dumps(answer))
    program.write_text(f"import sys; assert sys.stdin.buffer.read() == b'PAR1'; print({content})")
    table = preview()
    assert (table.kind, table.columns, table.truncated) == ("table", ["a", "b"], True)
    assert table.model_dump()["rows"] == [[1, "nan"], [None, "x"]]
    for broken in ("import os; os.kill(os.getpid(), 9)", "print('{')", 'print(\'{"problem": "no magic bytes"}\')'):
        program.write_text(broken)
        assert preview().kind == "none"
    assert "no magic bytes" in str(preview().problem)
