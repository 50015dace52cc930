"""Any body gives a model, or an error with a sentence and a pointer to the field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.errors import JobError
from jupyterlab_t9kjob.core.texts.validation import parse
from jupyterlab_t9kjob.handlers.messages import CreateJob
from jupyterlab_t9kjob.launch.model import PrefillRequest

GOOD = {
    "spec": {
        "name": "train-1",
        "entrypoint": {"kind": "script", "value": "/w/train.py"},
        "args": ["--lr", "0.1"],
        "env": [{"name": "A", "value": "b"}],
        "replica_specs": [{"type": "worker", "replicas": 2, "resources": {"device": {"count": 1}}}],
        "torchrun": {"proc_per_node": 2},
        "tensorboard": {"log_dirs": ["/w/runs/train-1"]},
    },
    "request_id": "request-0001",
}
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in `data`."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = replaced(data[path[0]], path[1:], value)
    return copy


@settings(max_examples=500, deadline=None)
@given(place=st.sampled_from(places(GOOD)), value=ODD)
def test_one_odd_value_is_taken_or_named(place: tuple[Any, ...], value: Any):
    try:
        parse(CreateJob, json.dumps(replaced(GOOD, place, value)).encode())
    except JobError as error:
        assert 400 <= error.status < 500
        assert error.message and "pydantic" not in error.message
        pointer = "".join(f"/{part}" for part in place)
        assert error.field is None or error.field.startswith(pointer) or pointer.startswith(error.field)


@settings(max_examples=300, deadline=None)
@given(body=st.binary(max_size=60) | ODD.map(lambda value: json.dumps(value).encode()))
@pytest.mark.parametrize("model", [CreateJob, PrefillRequest])
def test_any_body_is_taken_or_refused(model: Any, body: bytes):
    try:
        parse(model, body)
    except JobError as error:
        assert 400 <= error.status < 500 and error.message
