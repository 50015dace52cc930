"""Uploads to a folder and to T9k's AIStore server."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.em.load import read_mapping
from jupyterlab_t9kjob.em.server import client as client_module
from tests.unit.em import aistore as fake


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith(("EM_", "T9K", "RANK"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    yield
    em.logout()


@pytest.fixture
def store() -> Iterator[fake.AIStore]:
    with fake.aistore() as store:
        yield store


def names(folder: str | Path) -> list[str]:
    return [entry.name for entry in Path(folder).iterdir()]


def recorded(name: str = "mnist") -> em.Run:
    with em.create_run(name=name, hparams={"lr": 1}, labels=["l"], description="d") as run:
        run.log("train", {"loss": 1}, step=1)
        Path("model.pt").write_bytes(b"weights" * 1000)
        model = em.create_artifact("model")
        model.add_file("model.pt", "a b/模型.pt")
        data = em.create_artifact("data")
        data.add_reference("s3://bucket/data")
        run.mark_output(model)
        run.mark_input(data)
    return run


def test_without_a_server_a_folder_of_the_workspace_gets_a_copy() -> None:
    run = recorded()
    with pytest.warns(UserWarning, match="No AIStore server is known"):
        em.login()
    with pytest.raises(ValueError, match="make_folder"):
        run.upload(folder="team/examples")
    run.upload(folder="team/examples", make_folder=True)
    run.upload(folder="team/examples")  # the same run again: its copy is replaced
    top = Path(".em/uploads/team/examples")
    assert names(top / "runs") == [run.alternative_name]
    assert len(names(top / "artifacts")) == 2
    copy = top / "runs" / run.alternative_name
    assert (copy / "metrics/train.yaml").read_bytes() == Path(run.local, "metrics/train.yaml").read_bytes()
    assert read_mapping(copy / "metadata.yaml") == run.to_dict()
    other = recorded()
    with pytest.raises(ValueError, match="has another mnist"):
        em.upload(other.local, "team/examples", conflict_strategy="error")
    em.upload(other.local, "team/examples", conflict_strategy="skip")
    assert names(top / "runs") == [run.alternative_name]
    em.upload(other.local, "team/examples", conflict_strategy="replace")
    assert names(top / "runs") == [other.alternative_name]
    em.upload(".em/runs")
    assert sorted(names(".em/uploads/default/runs")) == sorted([run.alternative_name, other.alternative_name])
    with pytest.raises(ValueError, match="conflict_strategy is one of"):
        em.upload(".em/runs", conflict_strategy="x")
    with pytest.raises(ValueError, match="neither runs nor artifacts"):
        em.upload(".")


def configure(monkeypatch: pytest.MonkeyPatch, url: str, how: str) -> None:
    if how == "secret file":
        Path("key").write_text(fake.KEY + "\n")
        monkeypatch.setenv("EM_API_KEY_FILE", "key")
        monkeypatch.setenv("EM_AIS_HOST", url)
    elif how == "variable":
        monkeypatch.setenv("EM_API_KEY", fake.KEY)
        monkeypatch.setenv("EM_AIS_HOST", url + "/")
    else:
        host, _, prefix = url.partition("/t9k/")
        context = {"name": "c", "server": host, "prefixes": {"aistore": "/t9k/" + prefix}, "auth": {"apikey": fake.KEY}}
        Path("config.yaml").write_text(yaml.safe_dump({"current-context": "c", "contexts": [context]}))
        monkeypatch.setenv("T9K_CONFIG", "config.yaml")


@pytest.mark.parametrize("how", ["secret file", "variable", "T9k's configuration"])
def test_a_run_on_the_server(
    store: fake.AIStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    caplog.set_level(logging.DEBUG)
    configure(monkeypatch, store.url, how)
    run = recorded()
    em.login()
    with pytest.raises(ValueError, match="has no folder /alice/em/examples"):
        run.upload("em/examples")
    run.upload("em/examples", make_folder=True)
    assert [path for path, node in store.nodes.items() if node["type"] == "Folder"] == [
        "/alice/em",
        "/alice/em/examples",
    ]
    node = store.nodes["/alice/em/examples/mnist"]
    assert (node["labels"], node["description"], node["type"], node["storageType"]) == (["l"], "d", "Run", 2)
    assert json.loads(node["extra"]) == {"alternativeName": run.alternative_name}
    for name in ("hyperparameters.yaml", "metrics/train.yaml", "git.yaml"):
        assert store.objects[f"/alice/em/examples/mnist/{name}"] == Path(run.local, name).read_bytes()
    assert store.objects["/alice/em/examples/model/a b/模型.pt"] == b"weights" * 1000
    ids = {name: store.nodes[f"/alice/em/examples/{name}"]["id"] for name in ("mnist", "model", "data")}
    assert store.links == [{"from": ids["data"], "to": ids["mnist"]}, {"from": ids["mnist"], "to": ids["model"]}]
    entry = read_mapping(Path(run.local, "metadata.yaml"))["remote"][0]
    assert (entry["action"], entry["host"], entry["path"], entry["id"]) == (
        *("upload", store.url, "/alice/em/examples/mnist"),
        ids["mnist"],
    )
    nodes, objects = len(store.nodes), len(store.objects)
    em.upload(run.local, "em/examples")  # again: nothing new
    assert (len(store.nodes), len(store.objects), len(store.links)) == (nodes, objects, 2)
    second = recorded()
    em.upload(second.local, "em/examples", conflict_strategy="skip")
    assert len(store.nodes) == nodes
    with pytest.raises(ValueError, match="has another mnist"):
        em.upload(second.local, "em/examples", conflict_strategy="error")
    store.refuse("POST /apis/v1/objects", after=2)
    with pytest.raises(RuntimeError, match="507"):
        em.upload(second.local, "em/examples", conflict_strategy="replace")
    assert store.nodes["/alice/em/examples/mnist"]["id"] == ids["mnist"], "the old run stays until the new is complete"
    assert store.objects["/alice/em/examples/mnist/metrics/train.yaml"]
    store.refuse("POST /apis/v1/objects", after=len(list(Path(second.local).rglob("*.*"))) + 2)
    with pytest.raises(RuntimeError, match="507"):
        em.upload(second.local, "em/examples", conflict_strategy="replace")
    whole = f"/alice/em/examples/{second.alternative_name}"
    assert store.objects[f"{whole}/metrics/train.yaml"] == Path(second.local, "metrics/train.yaml").read_bytes()
    em.upload(second.local, "em/examples", conflict_strategy="replace")
    assert json.loads(store.nodes["/alice/em/examples/mnist"]["extra"])["alternativeName"] == second.alternative_name
    assert whole not in store.nodes and not any(path.startswith(whole) for path in store.objects)
    em.upload(run.local, "em/examples", conflict_strategy="replace")
    second.upload("em/examples")
    assert f"/alice/em/examples/{second.alternative_name}" in store.nodes

    monkeypatch.setenv("EM_RUN_PARENT_DIR", "downloads")
    loaded = em.load_run("/alice/em/examples/mnist")
    assert (loaded.alternative_name, dict(loaded.hparams)) == (run.alternative_name, {"lr": 1})
    assert [entry["action"] for entry in loaded.remote][-1] == "download"
    loaded.finish()
    with pytest.raises(FileNotFoundError, match="here or on the AIStore server"):
        em.load_artifact("/alice/none")
    written = b"".join(file.read_bytes() for folder in (".em", "downloads") for file in Path(folder).rglob("*.*"))
    assert fake.KEY.encode() not in written
    assert fake.KEY not in caplog.text


def test_a_large_file_goes_in_pieces(store: fake.AIStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    configure(monkeypatch, store.url, "variable")
    monkeypatch.setattr(client_module, "SINGLE_BYTES", 1 << 20)
    content = os.urandom(10 * (1 << 20) + 5)
    Path("model.pt").write_bytes(content)
    artifact = em.create_artifact("model")
    artifact.add_file("model.pt")
    em.login()
    artifact.upload()
    assert store.objects["/alice/default/model/model.pt"] == content
    assert [len(part) >> 20 for part in store.parts["up/1"].values()] == [3, 3, 3, 1]


@pytest.mark.parametrize("single", [1 << 30, 1 << 20])
def test_a_file_that_is_written_during_its_upload(
    store: fake.AIStore, monkeypatch: pytest.MonkeyPatch, single: int
) -> None:
    """The beginning of a growing log is uploaded; a file that becomes shorter is an error, without a timeout."""
    configure(monkeypatch, store.url, "variable")
    monkeypatch.setattr(client_module, "SINGLE_BYTES", single)
    Path("train.log").write_bytes(b"a" * (4 << 20))
    artifact = em.create_artifact("logs")
    artifact.add_file("train.log")
    [file] = Path(artifact.local).rglob("train.log")
    sizes = [5 << 20, 1 << 20]
    send = client_module.Client._form

    def written(self: client_module.Client, method: str, path: str, query: dict[str, str], *rest: Any) -> Any:
        if query["path"].endswith("train.log") and query.get("partNumber", "1") == "1":
            os.truncate(file, sizes.pop(0))
        return send(self, method, path, query, *rest)

    monkeypatch.setattr(client_module.Client, "_form", written)
    em.login()
    artifact.upload()
    assert len(store.objects["/alice/default/logs/train.log"]) == 4 << 20
    with pytest.raises(RuntimeError, match="became shorter"):
        artifact.upload()


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"EM_AIS_HOST": "https://example.invalid"}, "needs an API key"),
        ({"EM_AIS_HOST": "https://example.invalid", "EM_API_KEY": "secret-word"}, "is no UUID"),
        ({"EM_AIS_HOST": "ftp://x", "EM_API_KEY": "k"}, "address of the AIStore server is malformed"),
        ({"T9K_CONFIG": "broken.yaml"}, "can't be read"),
    ],
)
def test_wrong_settings(environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("broken.yaml").write_text("auth: {apikey: secret-word")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=message) as refused:
        em.login()
    assert "secret-word" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_an_error_never_names_the_key(store: fake.AIStore) -> None:
    wrong = "1b4e28ba-2fa1-11d2-883f-0016d3cca428"
    with pytest.warns(UserWarning, match="passed as an argument"), pytest.raises(RuntimeError) as refused:
        em.login(store.url, wrong)
    assert "400 api key … not found" in str(refused.value)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="can't be reached") as refused:
        em.login("http://127.0.0.1:1", wrong)
    assert refused.value.__suppress_context__
    for host in ("http://host:port", "http://127.0.0.1:1/a\x7f"):  # InvalidURL quotes parts of the address.
        with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="can't be reached") as refused:
            em.login(host, wrong)
        assert wrong not in str(refused.value)
    assert wrong not in str(refused.value)
