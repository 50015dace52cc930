"""Lists that are parsed while they arrive: any division into chunks gives the result of `json`."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.engines.kubernetes.client.list_parser import ListReader, NoList

LARGEST = 10_000
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
ITEMS = st.lists(st.fixed_dictionaries({"metadata": st.dictionaries(st.text(), VALUES, max_size=2), "spec": VALUES}))


def read(data: bytes, cuts: list[int]) -> tuple[list[dict[str, Any]], str]:
    reader, found, begin = ListReader(LARGEST), [], 0
    for end in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        found += reader.feed(data[begin:end])
        begin = end
    found += reader.end()
    return found, reader.version


@settings(deadline=None)
@given(
    items=ITEMS,
    order=st.permutations(["kind", "items", "metadata", "number"]),
    layout=st.sampled_from([{"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}]),
    cuts=st.lists(st.integers(min_value=0)),
)
def test_any_pieces_make_the_list(
    items: list[dict[str, Any]], order: list[str], layout: dict[str, Any], cuts: list[int]
) -> None:
    values = {"kind": "PodList", "items": items, "metadata": {"resourceVersion": "12"}, "number": 17}
    text = json.dumps({key: values[key] for key in order}, **layout) + "\n"
    assert read(text.encode(), cuts) == (items, "12")


def test_an_object_is_given_as_soon_as_it_is_whole() -> None:
    reader = ListReader(LARGEST)
    first = json.dumps({"items": [{"metadata": {"name": "a"}}]}).encode()
    assert list(reader.feed(first[:-4])) == []
    assert list(reader.feed(first[-4:-2] + b" " * 100 + b",")) == [{"metadata": {"name": "a"}}]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"items": []}',
        b'{"items": [], "metadata": null}',
        b'{"items": 3, "metadata": {}}',
        b'{"items": {}, "metadata": {}}',
        b'{"items": [3], "metadata": {}}',
        b'{"items": [{"spec": {}}], "metadata": {}}',
        b'{"items": [{"metadata": {}},], "metadata": {}}',
        b'{"items": [{"metadata": {}}], "metadata": {}',
        b'{"items": [{"metadata": {}}], "metadata": {}} {"more": 1}',
        b'{"items": [{"metadata": {"name": "\xff"}}], "metadata": {}}',
        b'{"items": [{"metadata": {}, "deep": ' + b"[" * 100_000,
        b'{"items": [{"metadata": {}, "long": ' + b"9" * 5000 + b"}]}",
        b'{"items": [{"metadata": {"name": "' + b"a" * 3 * LARGEST,
    ],
)
@pytest.mark.parametrize("piece", [7, 1 << 20])
def test_what_is_no_list(data: bytes, piece: int) -> None:
    cuts = list(range(0, len(data), piece))
    with pytest.raises(NoList):
        read(data, cuts)


@pytest.mark.parametrize("items", [b'"items": null, ', b""])
def test_an_empty_list_may_be_none(items: bytes) -> None:
    assert read(b"{" + items + b'"metadata": {"resourceVersion": "3"}}', []) == ([], "3")
