"""The use of resources over HTTP."""

from __future__ import annotations

import asyncio

from tests.server.local.conftest import Place
from tests.server.local.test_snapshots import ended


async def test_resources_and_markers_of_a_job(place: Place) -> None:
    script = """import os, time
print('WARNING: slow')
print('saved checkpoint 1.pt', flush=True)
while not os.path.exists('go'):
    time.sleep(0.1)
raise ValueError('x')
"""
    (place.root / "train.py").write_text(script)
    job = await place.submit(await place.form())
    for query in ({"by": "rank"}, {"points": 0}, {"from": "nan"}, {"to": "-1"}, {"from": "x"}):
        assert (await place.api("GET", "jobs", job["id"], "resources", **query)).status == 400, query
    assert (await place.api("GET", "jobs", "local::no:1", "resources")).status == 404
    version = ""
    while not version:  # the first sample
        version = (await place.api("GET", "jobs", job["id"], "resources")).json["version"]
        await asyncio.sleep(0.1)
    view = (await place.api("GET", "jobs", job["id"], "resources", version=version, by="unit")).json
    assert view["version"] != version
    (place.root / "go").touch()
    await ended(place, job["id"])
    view = (await place.api("GET", "jobs", job["id"], "resources", by="sum", points=10)).json
    rows = {row["metric"]: row for row in view["rows"]}
    assert rows["cpu"]["unit"] == "cores" and len(rows["cpu"]["curves"]) == 1
    assert len(view["times"]) == len(rows["cpu"]["curves"][0]["mean"]) <= 10
    empty = (await place.api("GET", "jobs", job["id"], "resources", **{"from": 1, "to": 2})).json
    assert empty["first"] == view["first"] and empty["unavailable"] is None
    markers = (await place.api("GET", "jobs", job["id"], "log-markers")).json
    assert {marker["kind"] for marker in markers["markers"]} == {"warning", "checkpoint", "error"}
    assert all(view["first"] - 30 < marker["time"] for marker in markers["markers"])
