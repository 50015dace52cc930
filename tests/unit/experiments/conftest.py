"""Fixtures of the tests of experiments."""

from __future__ import annotations

from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import LargeFileManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ContentsRoot:
    folder = tmp_path / "root"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return ContentsRoot(LargeFileManager(root_dir=str(folder)))
