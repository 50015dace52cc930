"""Hooks of Schemathesis in `test_any_request`: operations that take the form of a job share the requests about it.

Ten operations take the same form, as `spec`, and the server reads it with the same model. Schemathesis would send 1,300
requests about the form to each of them. Here each such request goes to one of the ten; all of them together get
every one. Requests about anything else go to every operation.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import schemathesis

SEED = int(os.environ.get("T9KJOB_TEST_SEED", "1"))
DOCUMENT = Path(__file__).parents[3] / "jupyterlab_t9kjob" / "openapi" / "openapi.json"


def _with_a_form() -> Iterator[str]:
    """Name the operations whose body has a job's form."""
    document = json.loads(DOCUMENT.read_text("utf-8"))
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}) if isinstance(operation, dict) else {}
            for each in content.values():
                body = document["components"]["schemas"][each["schema"]["$ref"].rpartition("/")[2]]
                if "JobSpecInput" in json.dumps(body["properties"].get("spec", {})):
                    yield f"{method.upper()} {path}"


SHARED_BY = sorted(_with_a_form())
ABOUT_THE_FORM = ("spec -> ", "Object with valid 'spec' value: ")


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Keep a case unless it is about a job's form and another operation's share."""
    operation = case.operation.label
    data: Any = case.meta.phase.data if case.meta is not None and case.meta.phase.name.value == "coverage" else None
    if data is None or operation not in SHARED_BY or not data.description.startswith(ABOUT_THE_FORM):
        return True
    key = zlib.crc32(f"{data.scenario} {data.description} {data.location}".encode())
    return SHARED_BY[(key + SEED) % len(SHARED_BY)] == operation
