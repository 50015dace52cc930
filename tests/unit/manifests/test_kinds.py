"""The manifest kinds of installed distributions."""

from __future__ import annotations

import logging
from importlib.metadata import EntryPoint, entry_points

import pytest

from jupyterlab_t9kjob.core.manifests import registry


def test_another_distribution_takes_no_name_of_ours(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ours = list(entry_points(group=registry.GROUP))
    theirs = [EntryPoint(name, "builtins:dict", registry.GROUP) for name in ("a-dict", *registry.KINDS)]
    monkeypatch.setattr(registry, "entry_points", lambda group: [*theirs, *ours])
    with caplog.at_level(logging.WARNING):
        found = registry.Kinds()
        assert dict(found) == dict(registry.KINDS)
    assert "a-dict" in caplog.text and "is no Format" in caplog.text
    assert "of an unknown distribution is ignored: jupyterlab_t9kjob has one too" in caplog.text
