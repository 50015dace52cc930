"""A Jupyter server that is connected to a cluster, through its API."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.local.lab import Lab

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]


def test_a_server_of_its_own_finds_both_engines(start_lab: Callable[..., Lab]) -> None:
    lab = start_lab()
    lab.until_available("t9k", "kubeflow")
