"""Texts with a cluster's words are short."""

from __future__ import annotations

import pytest

from jupyterlab_t9kjob.core.translation import _
from jupyterlab_t9kjob.engines.kubernetes.client.errors import Unreachable
from jupyterlab_t9kjob.engines.kubernetes.objects.text import cleaned
from jupyterlab_t9kjob.engines.kubernetes.reasons.api_refusals import refused


@pytest.mark.parametrize(
    ("first", "second", "lengths"),
    [(500, 500, (144, 144)), (500, 20, (269, 20)), (150, 500, (144, 144)), (90, 500, (90, 199)), (20, 20, (20, 20))],
)
def test_long_names_and_messages_share_the_room(first: int, second: int, lengths: tuple[int, int]) -> None:
    text = cleaned(_("{first} waits for {second}", first="a" * first, second="b" * second))
    assert tuple(len(str(text.params[name])) for name in ("first", "second")) == lengths
    assert len(text) <= 300


def test_each_name_keeps_its_beginning() -> None:
    text = cleaned(_("{first}, {second}", first="a" * 100, second="b" * 100), 60)
    assert text == f"{'a' * 39}…, {'b' * 39}…"


def test_a_failed_connection_stays_translatable() -> None:
    error = refused(Unreachable(_("The cluster at {host} can't be reached.", host="h")))
    assert getattr(error.message, "message", None) == "The cluster at {host} can't be reached."
