"""Settings of the command line and of the Python client from Jupyter's configuration files."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from jupyterlab_t9kjob import Client
from jupyterlab_t9kjob.client.configuration import read_settings
from jupyterlab_t9kjob.core.errors import FieldError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    return tmp_path


def test_the_files_of_a_server_are_read_and_log_handlers_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "jupyterlab_t9kjob_config.py").write_text("c.T9kJobApp.sweep_limit = 3\nc.T9kJobApp.grace_seconds = 3\n")
    (folder / "jupyter_server_config.py").write_text("c.T9kJobApp.sweep_limit = 4\nc.T9kJobApp.locks.append({})\n")
    (folder / "jupyter_server_config.json").write_text('{"T9kJobApp": {"git_image": "mine"}, "ServerApp": {"port": 1}}')
    handler = logging.StreamHandler()
    monkeypatch.setattr(handler, "close", lambda: pytest.fail("the program's handler was closed"))
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    settings = read_settings({"kubernetes_context": "c"})
    assert logging.getLogger().handlers == [handler]
    assert (settings.sweep_limit, settings.grace_seconds, settings.git_image) == (4, 3, "mine")
    assert (settings.kubernetes_context, settings.locks) == ("c", [{}])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("jupyter_server_config.py", "c.T9kJobApp.locks = [\n", "SyntaxError"),
        ("jupyter_config.json", "{", "JSONDecodeError"),
        ("jupyter_server_config.py", "raise SystemExit(3)\n", "SystemExit"),
        ("jupyter_server_config.py", "c.T9kJobApp.sweep_limit = 'many'\n", "sweep_limit"),
    ],
)
@pytest.mark.timeout(120)
def test_a_wrong_file_is_an_error_in_words(folder: Path, name: str, text: str, said: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(FieldError) as refusal:
        Client(home=folder / "home")
    assert refusal.value.verbatim is not None and said in refusal.value.verbatim and refusal.value.hint is not None
