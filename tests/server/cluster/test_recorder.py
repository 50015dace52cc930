"""The recorder in the form of a script that imports it, and on the job's volume."""

from __future__ import annotations

from jupyterlab_t9kjob.em_distribution import files
from tests.server.cluster.conftest import Place

SCRIPT = "import torch.distributed as dist\nfrom t9k import em\ndist.init_process_group()\nem.create_run()\n"


def python_path(spec: dict) -> str | None:
    return next((variable["value"] for variable in spec["env"] if variable["name"] == "PYTHONPATH"), None)


async def test_it_is_offered_and_written_to_the_volume(cluster: Place) -> None:
    cluster.write("work/train.py", SCRIPT)
    form = await cluster.form()
    folder = form["recorder"]["folder"]
    assert form["recorder"]["module"] == "t9k.em"
    assert folder.startswith("/t9k/mnt/.t9kjob/em/t9kjob-em-")
    assert python_path(form["spec"]) == folder
    here = cluster.root / "work" / folder.removeprefix("/t9k/mnt/")
    spec = form["spec"] | {"runtime": {"image": "torch"}}
    checks = await cluster.checks(spec, path="work/train.py")
    assert "ModulesMissing" not in checks
    assert not here.exists()  # neither form nor preview writes
    own = spec | {"env": []}
    assert (await cluster.create(spec=own, request_id="request-own1")).status == 201
    assert not here.exists()
    again = await cluster.form(spec=own)
    assert python_path(again["spec"]) is None  # a repeated job keeps the user's choice
    assert again["recorder"]["folder"] == folder

    spec["name"] = "train-9"
    assert (await cluster.create(spec=spec, request_id="request-with1")).status == 201
    written = {str(file.relative_to(here)): file.read_bytes() for file in here.rglob("*") if file.is_file()}
    assert written == files()
    assert [entry.name for entry in here.parent.iterdir()] == [here.name]
    env = [{"name": "PYTHONPATH", "value": "/mine:/x/t9kjob-em-000000000000", "secret": None}]
    old = await cluster.form(spec=spec | {"env": env})
    assert python_path(old["spec"]) == f"/mine:{folder}"  # that of an older version is replaced
    local = await cluster.form(engine="local", spec=old["spec"], crossed_from="t9k")
    assert python_path(local["spec"]).startswith("/mine:")
    assert python_path(local["spec"]).endswith(f"/em/{here.name}")


async def test_it_is_not_offered_without_a_volume_that_the_lab_writes_to(cluster: Place) -> None:
    cluster.write("work/train.py", SCRIPT)
    form = await cluster.form()
    mounts = [{**mount, "read_only": True} for mount in form["spec"]["mounts"]]
    again = await cluster.form(spec=form["spec"] | {"mounts": mounts})
    assert (again["recorder"], python_path(again["spec"])) == (None, None)
    cluster.write("work/train.py", "import torch.distributed as dist\ndist.init_process_group()\n")
    assert (await cluster.form())["recorder"] is None


async def test_a_folder_that_cannot_be_written_is_said_at_the_variables(cluster: Place) -> None:
    cluster.write("work/train.py", SCRIPT)
    form = await cluster.form()
    cluster.write("work/.t9kjob/em", "a file")
    spec = form["spec"] | {"runtime": {"image": "torch"}}
    answer = await cluster.create(spec=spec)
    assert (answer.status, answer.json["field"]) == (422, "/spec/env"), answer.json
    assert "recorder" in answer.json["message"]


async def test_on_this_machine_only_if_the_kernel_lacks_it(cluster: Place) -> None:
    cluster.write("work/train.py", SCRIPT)
    form = await cluster.form(engine="local")
    folder = form["recorder"]["folder"]
    assert python_path(form["spec"]) == folder
    assert "ModulesMissing" not in await cluster.checks(form["spec"], engine="local", path="work/train.py")
    cluster.write("work/train.py", SCRIPT.replace("t9k", "jupyterlab_t9kjob"))
    assert (await cluster.form(engine="local"))["recorder"] is None  # the tests' Python has it
