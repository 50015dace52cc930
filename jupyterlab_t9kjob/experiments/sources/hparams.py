"""Hyperparameters of TensorBoard's HParams plug-in."""

from __future__ import annotations

import struct
from typing import Any, Final

from ...tensorboard.event_records import fields, messages

START_INFO, END_INFO = b"_hparams_/session_start_info", b"_hparams_/session_end_info"
"""Tags of the begin and the end of a session."""
_LONGEST_TAG: Final = 500
_DOUBLE = struct.Struct("<d")

# Numbers of fields of the messages SummaryMetadata and HParamsPluginData.
_PLUGIN_DATA, _PLUGIN_CONTENT, _SESSION_START = 1, 2, 3


def parameters_of(metadata: int | bytes | None) -> dict[str, Any]:
    """Return the hyperparameters that the HParams plug-in noted at the start of a session."""
    found: dict[str, Any] = {}
    if not isinstance(metadata, bytes):
        return found
    for plugin in messages(metadata, _PLUGIN_DATA):
        for content in messages(plugin, _PLUGIN_CONTENT):
            for start in messages(content, _SESSION_START):
                for entry in messages(start, 1):  # A map: each entry has a key and a google.protobuf.Value.
                    parts = dict(fields(entry))
                    key, value = parts.get(1), parts.get(2)
                    if isinstance(key, bytes) and isinstance(value, bytes):
                        found[decoded(key)] = _protobuf_value(value)
    return found


def _protobuf_value(value: bytes) -> Any:
    for number, content in fields(value):
        if number == 2 and isinstance(content, bytes):
            return _DOUBLE.unpack(content)[0]
        if number == 3 and isinstance(content, bytes):
            return content.decode(errors="replace")
        if number == 4:
            return bool(content)
    return None


def decoded(tag: bytes) -> str:
    """Return the words of a tag."""
    return tag.decode(errors="replace")[:_LONGEST_TAG]
