"""The extension's life: lazily started, cheap to load, active while jobs run, stopped in bounded time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jupyter_server._tz import utcnow
from tornado.httpclient import HTTPClientError

from jupyterlab_t9kjob import app as app_module
from jupyterlab_t9kjob.app import T9kJobApp
from tests.patience import PATIENCE
from tests.server.conftest import Api, eventually
from tests.server.fakes import FakeEngine


async def test_nothing_starts_before_it_is_needed(fakes: SimpleNamespace, app: T9kJobApp, api: Api):
    assert app._services is None
    first, second = await asyncio.gather(api("GET", "engines"), api("GET", "jobs"))
    assert first.status == second.status == 200
    assert await app.services() is await app.services()


async def test_the_servers_hook_starts_it_later(
    fakes: SimpleNamespace, app: T9kJobApp, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
):
    await app._start_jupyter_server_extension(jp_serverapp)
    assert app._services is None and app._later is not None
    app._later.cancel()
    monkeypatch.setattr(app_module, "START_SECONDS", 0)
    await app._start_jupyter_server_extension(jp_serverapp)
    await app._later
    assert app._services is not None


async def test_a_start_that_fails_is_an_answer_and_is_tried_again(
    fakes: SimpleNamespace, app: T9kJobApp, api: Api, monkeypatch: pytest.MonkeyPatch
):
    works, fakes.tensorboards.start = fakes.tensorboards.start, fail
    monkeypatch.setattr(app_module, "START_SECONDS", 0)
    await app._start_jupyter_server_extension(app.serverapp)
    assert app._later is not None
    await app._later
    answer = await api("GET", "jobs", "local::a:b", "replicas", contract=False)
    assert (answer.status, answer.json["code"]) == (503, "Unavailable")
    assert "No space left" in answer.json["verbatim"] and app.home in answer.json["hint"]
    fakes.tensorboards.start = works
    assert (await api("GET", "engines")).status == 200


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "refused"), TimeoutError("late"), OSError(28, "full")])
async def test_an_engine_that_can_not_start_stops_no_other(
    fakes: SimpleNamespace, api: Api, app: T9kJobApp, error: OSError, caplog: pytest.LogCaptureFixture
):
    stops: list[str] = []

    async def start() -> None:
        raise error

    async def stop() -> None:
        stops.append("bad")
        raise RuntimeError("not even that")

    def announce(_changed: object) -> None:
        raise RuntimeError("no listeners")

    bad = FakeEngine(fakes.engine.home)
    bad.name, bad.start, bad.stop, bad.listen_info = "bad", start, stop, announce  # type: ignore[misc, attr-defined]
    bad.capacity_source = announce  # type: ignore[attr-defined]
    make = app._make_services

    def both() -> Any:
        services = make()
        services.jobs.engines._engines["bad"] = bad
        services.jobs.engines.listen_info(lambda: None)
        services.jobs.engines.capacity_source()
        return services

    app._make_services = both  # type: ignore[method-assign]
    engines = (await api("GET", "engines")).json["engines"]
    assert [(engine["name"], engine["available"]) for engine in engines] == [("local", True), ("bad", False)]
    assert type(error).__name__ in engines[1]["reason"] and stops == ["bad"]
    assert "The engine bad could not be stopped." in caplog.text


async def test_an_engine_says_who_it_is_once(fakes: SimpleNamespace, api: Api):
    told = await fakes.engine.info()

    async def info() -> Any:
        return told.model_copy(update={"name": "another", "label": "Another"})

    fakes.engine.info = info
    engine = (await api("GET", "engines")).json["engines"][0]
    assert (engine["name"], engine["label"]) == ("local", str(fakes.engine.label))


async def test_a_limit_on_threads_is_an_answer(
    fakes: SimpleNamespace, api: Api, open_page: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    job = fakes.engine.put()
    page = await open_page("jobs", job.id, "logs")
    await page.until(type="streams")
    with monkeypatch.context() as crowded:
        crowded.setattr(fakes.engine, "manifest", no_thread)
        crowded.setattr(asyncio, "create_subprocess_exec", no_thread)
        answer = await api("GET", "jobs", job.id, "manifest")
        await page.send(type="search", request=1, pattern="x")
        assert "ulimit -u" in (await page.until(type="error", request=1))["hint"]
    assert (answer.status, answer.json["code"]) == (503, "NoThread")
    assert answer.json["message"] == "This machine does not allow the server to start more threads."
    assert "ulimit -u" in answer.json["hint"]
    assert "Uncaught" not in caplog.text
    assert (await api("GET", "jobs", job.id, "manifest")).status == 200


async def no_thread(*_arguments: Any, **_options: Any) -> None:
    """Answer as Python does where the system lets no thread begin."""
    raise RuntimeError("can't start new thread")


async def fail() -> None:
    raise OSError(28, "No space left on device")


async def test_running_jobs_are_activity(engine: FakeEngine, app: T9kJobApp, jp_web_app: Any):
    app.activity_interval = 0.01
    job = engine.put(phase="Pending")
    await app.services()
    assert app.current_activity() == 1
    for _ in range(2):  # it advances
        before = utcnow()
        await eventually(lambda before=before: jp_web_app.last_activity() > before)
    engine.change(job.uid, phase="Paused")
    assert not app.current_activity()
    engine.change(job.uid, phase="Running")
    assert app.current_activity() == 1
    app.local_jobs_are_activity = False
    assert not app.current_activity()
    app.local_jobs_are_activity = True
    engine.change(job.uid, phase="Succeeded")
    assert not app.current_activity()


async def test_looking_is_no_activity_and_doing_is(engine: FakeEngine, api: Api, open_page, jp_web_app: Any):
    job = engine.put(phase="Paused")
    long_ago = utcnow() - timedelta(hours=5)
    jp_web_app.settings["started"] = jp_web_app.settings["api_last_activity"] = long_ago
    jp_web_app.settings["kernel_manager"].last_kernel_activity = long_ago
    await api("GET", "jobs")
    await api("GET", "jobs", job.id, "logs")
    await api("GET", "nothing")
    stream, logs = await open_page("stream"), await open_page("jobs", job.id, "logs")
    await stream.send(type="subscribe")
    await stream.receive()
    await logs.receive()
    assert jp_web_app.last_activity() == long_ago
    await api("POST", "jobs", job.id, "stop")
    assert jp_web_app.last_activity() > long_ago


async def test_stop_ends_everything_in_bounded_time(fakes: SimpleNamespace, app: T9kJobApp, open_page, monkeypatch):
    job = fakes.engine.put()
    fakes.engine.stream(job, "s").write(b"x\n")
    stream, logs = await open_page("stream"), await open_page("jobs", job.id, "logs")
    await stream.send(type="subscribe", details=[job.id])
    await logs.send(type="follow", cursor={})
    await logs.until(type="append")
    await app.stop_extension()
    for page in (stream, logs):
        while await page.receive() is not None:
            pass
    assert not [task for task in asyncio.all_tasks() if "jupyterlab_t9kjob" in str(task.get_coro())]
    assert not fakes.engine.listeners

    app.stopping = False
    await app.services()
    monkeypatch.setattr(app_module, "STOP_SECONDS", 0.1)
    monkeypatch.setattr(fakes.engine, "stop", lambda: asyncio.sleep(600))
    began = time.monotonic()
    await app.stop_extension()
    assert time.monotonic() - began < 300


async def test_a_page_that_comes_back_starts_nothing(fakes: SimpleNamespace, app: T9kJobApp, open_page, api: Api):
    job = fakes.engine.put()
    await app.services()
    stopping = asyncio.create_task(app.stop_extension())
    while not stopping.done():
        answer = await api("GET", "jobs")
        assert (answer.status, answer.json["code"]) == (503, "Stopping")
    for parts in (("stream",), ("jobs", job.id, "logs")):
        with pytest.raises(HTTPClientError) as caught:
            await open_page(*parts)
        assert caught.value.code == 503
    assert app._services is None and not fakes.engine.listeners and not app.sockets


def test_loading_imports_nothing_heavy():
    """Imports at the server's start; the hook imports the rest after the address was printed."""
    code = """
import json, sys
import jupyter_server.serverapp
before = set(sys.modules)
import jupyterlab_t9kjob
jupyterlab_t9kjob._jupyter_server_extension_points()
from jupyterlab_t9kjob.handlers.routes import handlers
handlers()
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    heavy = {"pydantic", "torch", "tensorboard", "numpy", "yaml", "psutil", "kubernetes", "nbformat"}
    assert not {name.split(".")[0] for name in loaded} & heavy
    assert "jupyterlab_t9kjob.services" not in loaded


VOLUME = {"claim": "data", "lab_path": "/home/me/data", "mount_path": "/data", "read_only": True}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([f"--T9kJobApp.kubernetes_volumes={json.dumps([VOLUME])}"], [VOLUME]),
        ([f"--T9kJobApp.kubernetes_volumes={[VOLUME]}"], [VOLUME]),
        ([f"--T9kJobApp.kubernetes_volumes={json.dumps(VOLUME)}"], [VOLUME]),
        ([f"--T9kJobApp.kubernetes_volumes={json.dumps(VOLUME)}"] * 2, [VOLUME, VOLUME]),
        (["--T9kJobApp.kubernetes_namespaces=demo"], ["demo"]),
        (["--T9kJobApp.kubernetes_namespaces=demo", "--T9kJobApp.kubernetes_namespaces=team-b"], ["demo", "team-b"]),
        (['--T9kJobApp.kubernetes_namespaces=["demo", "team-b"]'], ["demo", "team-b"]),
        (['--T9kJobApp.device_pool=["0", "GPU-7"]'], ["0", "GPU-7"]),
        (["--T9kJobApp.device_pool=None"], None),
    ],
)
def test_lists_on_the_command_line(arguments: list[str], expected: object, jp_configurable_serverapp):
    """The documentation of the traits writes a list as JSON."""
    server = jp_configurable_serverapp(argv=["--ServerApp.jpserver_extensions={'jupyterlab_t9kjob': True}", *arguments])
    (app,) = server.extension_manager.extension_apps["jupyterlab_t9kjob"]
    name = arguments[0].removeprefix("--T9kJobApp.").partition("=")[0]
    assert getattr(app, name) == expected


@pytest.mark.parametrize(
    "argument", ['--T9kJobApp.kubernetes_volumes=[{"claim": "data"}, 7]', "--T9kJobApp.grace_seconds=soon"]
)
def test_a_bad_trait_stops_the_server(argument: str, tmp_path: Path):
    """With the default of every trait, `kubernetes=False` beside it would be ignored."""
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--port=0"]
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(tmp_path)}
    arguments = [
        "--ServerApp.jpserver_extensions={'jupyterlab_t9kjob': True}",
        "--T9kJobApp.kubernetes=False",
        argument,
    ]
    done = subprocess.run(
        [*command, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    name = argument.removeprefix("--T9kJobApp.").partition("=")[0]
    assert done.returncode == 1, done.stderr
    assert f"The '{name}' trait" in done.stderr
