"""Arguments and variables reach the script byte for byte, and the shown command does the same when it is pasted."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from tests.local.lab import free_port
from tests.patience import PATIENCE
from tests.server.conftest import ended
from tests.server.local.conftest import Place, listing

SHOW = """
import json, os, sys
with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "seen.json"), "w") as file:
    json.dump([sys.argv[1:], os.environ.get("ODD"), os.environ.get("EMPTY"), os.getcwd()], file)
"""
ODD = (
    *(
        "--",
        "-",
        "",
        " ",
        "--lr",
        "-1",
        "-x y",
        "--name=a b",
        "--nnodes=7",
        "-h",
        "--",
        "'",
        '"',
        "a'b\"c",
        "\\",
        "\\n",
    ),
    *("a\nb", "\n", "\t", "$(touch pwned)", "`touch pwned`", "$HOME", "$$", "${local_rank}", "$local_rank", "$", "%s"),
    *(
        "*",
        "?",
        "[a]",
        "~",
        "!",
        "!!",
        "#",
        "&",
        ";",
        "|",
        ">out",
        "{a,b}",
        "世界",
        "🚀",
        "\x1b[31m",
        "\x7f",
        "@file",
        "x" * 1000,
    ),
)
VALUE = "a\nb 'c' \"d\" $(touch pwned) $HOME `x` 世界"


@pytest.mark.parametrize(("script", "torchrun"), [("-odd'$$(x) $local_rank b.py", True), ("-odd'$$(x) b.py", False)])
async def test_a_script(place: Place, open_page: Any, script: str, torchrun: bool):
    (place.root / script).write_text(SHOW)
    env = [{"name": "ODD", "value": VALUE}, {"name": "EMPTY", "value": ""}]
    spec = await place.form(script, args=list(ODD), env=env)
    if not torchrun:
        spec["torchrun"] = None
    await agrees(place, open_page, spec)


@pytest.mark.parametrize("kind", ["module", "command"])
@pytest.mark.parametrize("torchrun", [True, False], ids=["torchrun", "python"])
async def test_modules_and_commands(place: Place, open_page: Any, kind: str, torchrun: bool):
    (place.root / "odd_module.py").write_text(SHOW)
    program = place.root / "odd$$program"
    program.write_text(f'#!/bin/sh\nexec python3 "{place.root}/odd_module.py" "$@"\n')
    program.chmod(0o755)
    value = "odd_module" if kind == "module" else str(program)
    spec = await place.form(args=list(ODD), env=[{"name": "ODD", "value": VALUE}, {"name": "EMPTY", "value": ""}])
    spec |= {"entrypoint": {"kind": kind, "value": value}, "working_dir": str(place.root)}
    if not torchrun:
        spec["torchrun"] = None
    await agrees(place, open_page, spec)


async def test_several_replicas(place: Place, open_page: Any):
    """The command is shown once; it is pasted once for each replica."""
    (place.root / "train.py").write_text(SHOW.replace('"seen.json"', '"seen-" + os.environ["RANK"] + ".json"'))
    spec = await place.form(args=list(ODD), env=[], replica_specs=[{"replicas": 2}])
    preview = (await place.api("POST", "launch", "preview", body={"spec": spec})).json
    assert preview["command"].startswith("# once for each of the 2 replicas\n")
    environment = {**os.environ, "PORT": str(free_port())}
    shells = [await asyncio.create_subprocess_exec("bash", "-c", preview["command"], env=environment) for _ in range(2)]
    assert [await asyncio.wait_for(shell.wait(), PATIENCE) for shell in shells] == [0, 0]
    for rank in range(2):
        assert json.loads((place.root / f"seen-{rank}.json").read_text())[0] == list(ODD)


async def agrees(place: Place, open_page: Any, spec: dict[str, Any]) -> None:
    """Run the job, then what the preview shows, through bash: both see what was asked for."""
    seen = place.root / "seen.json"
    expected = [list(ODD), VALUE, "", str(place.root)]
    preview = (await place.api("POST", "launch", "preview", body={"spec": spec})).json
    assert [check for check in preview["checks"] if check["level"] == "error"] == []
    job = await place.submit(spec)
    job = await ended(await open_page("stream"), job["id"])
    assert job["phase"] == "Succeeded", job["reason"]
    assert json.loads(seen.read_text()) == expected
    seen.unlink()
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", preview["command"]), cwd="/", env={**os.environ, **preview["environment"]}
    )
    assert await asyncio.wait_for(shell.wait(), PATIENCE) == 0
    assert json.loads(seen.read_text()) == expected
    assert not any("pwned" in name for name in listing(place.root))
