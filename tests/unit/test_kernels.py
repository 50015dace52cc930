"""Kernels as places where a job can run."""

import os
import stat
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.launch.kernels import kernels as module
from jupyterlab_t9kjob.launch.kernels.interpreters import resolve
from jupyterlab_t9kjob.launch.kernels.kernels import Kernels, install_command

RUN = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]


def spec(*argv: str, language: str = "python", **more: Any) -> dict[str, Any]:
    return {"argv": list(argv), "display_name": "Mine", "language": language, **more}


class Specs:
    """A kernel spec manager with what a test puts into it."""

    def __init__(self, **specs: dict[str, Any]) -> None:
        self.specs = {name: {"resource_dir": "/nowhere", "spec": content} for name, content in specs.items()}

    def get_all_specs(self) -> dict[str, Any]:
        return self.specs


class AsyncSpecs(Specs):
    async def get_all_specs(self) -> dict[str, Any]:  # type: ignore[override]
        return self.specs


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python without torch."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    return str(tmp_path / "bare" / "bin" / "python")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_argv_is_understood_as_jupyter_understands_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = script(tmp_path / "bin" / "python3.9", "#!/bin/sh\n")
    monkeypatch.setenv("WHERE", str(tmp_path))
    (tmp_path / "link").symlink_to(own.parent)
    for argv, python in {
        ("python", *RUN): sys.executable,
        ("python3", *RUN): sys.executable,
        (sys.executable, "-Xfrozen_modules=off", *RUN): sys.executable,
        ("{resource_dir}/bin/python3.9", *RUN): str(own),
        (f"{tmp_path}/link/python3.9", *RUN): f"{tmp_path}/link/python3.9",
        ("python3.9", *RUN): str(own),
        ("python", "-m", "nb_conda_kernels.runner", "/conda", str(tmp_path), "python", *RUN): str(
            tmp_path / "bin/python"
        ),
        ("conda", "run", "-p", str(tmp_path), "python", *RUN): str(tmp_path / "bin/python"),
    }.items():
        script(tmp_path / "bin" / "python", "#!/bin/sh\n")
        found = resolve(spec(*argv, env={"PATH": "${WHERE}/bin"}), str(tmp_path))
        assert (found.python, found.reason) == (python, None), argv
        assert found.env == {"PATH": f"{tmp_path}/bin"}


def test_conda_run_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "condabin" / "conda", "#!/bin/sh\n")
    python = script(tmp_path / "envs" / "torch" / "bin" / "python", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "condabin"))
    assert resolve(spec("conda", "run", "-n", "torch", "python", *RUN), "/").python == str(python)
    for name in ("gone", "../torch"):
        assert "conda" in (resolve(spec("conda", "run", "-n", name, "python", *RUN), "/").reason or "")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (spec("R", language="R"), "language is R"),
        (spec("python", *RUN, language=""), "not known"),
        (spec(), "no command"),
        (spec("ssh", "host", "python", *RUN), "“ssh”"),
        (spec("docker", "run", "x"), "“docker”"),
        (spec("/usr/bin/env", "python", *RUN), "“env”"),
        (spec("python", "-m", "some.wrapper", "-f", "x"), "“python”"),
        (spec("python", "/a/launcher.py"), "“python”"),
        (spec("/gone/bin/python", *RUN), "/gone/bin/python does not exist"),
        (spec("python3.99", *RUN), "python3.99 does not exist"),
        (spec("python", *RUN, metadata={"kernel_provisioner": {"provisioner_name": "yarn"}}), "“yarn”"),
    ],
)
def test_why_a_kernel_can_not_run_a_job(content: dict[str, Any], says: str) -> None:
    found = resolve(content, "/")
    assert found.python is None
    assert says in (found.reason or "")


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [Specs, AsyncSpecs])
async def test_all_kernels_with_what_is_in_them(bare: str, kind: type[Specs]) -> None:
    kernels = Kernels(
        kind(
            bare=spec(bare, *RUN),
            ir=spec("R", language="R"),
            python3={**spec("python", *RUN), "display_name": "Python 3"},
        ),
        default="python3",
    )
    first, second, third = await kernels.all()
    assert (first.name, first.enabled, first.python) == ("python3", True, sys.executable)
    assert first.torch is not None
    assert first.torch.version == _torch_version()
    assert first.python_version == ".".join(map(str, sys.version_info[:3]))
    assert (second.name, second.enabled, second.torch and second.torch.version) == ("bare", True, None)
    assert second.torch is not None
    assert (third.name, third.enabled, third.torch) == ("ir", False, None)


@pytest.mark.asyncio
async def test_a_gateways_kernels_are_not_local() -> None:
    specs = Specs()
    specs.specs = {"far": {"name": "far", "spec": spec("python", *RUN), "resources": {}}}
    kernel = await Kernels(specs, default="far").get(None)
    assert not kernel.enabled
    assert "gateway" in (kernel.reason or "")


@pytest.mark.asyncio
async def test_refusals_name_the_field_and_the_way_out(bare: str) -> None:
    kernels = Kernels(Specs(bare=spec(bare, *RUN), far=spec("ssh", "x"), ok=spec("python", *RUN, env={"A": "b"})), "ok")
    kernel, env = await kernels.usable(None)
    assert (kernel.python, env) == (sys.executable, {"A": "b"})
    for name, reason, hint in [
        ("bare", "TorchMissing", f"{bare} -m pip install torch"),
        ("far", "KernelNotLocal", "another kernel"),
        ("gone", "KernelGone", "another kernel"),
    ]:
        with pytest.raises(FieldError) as caught:
            await kernels.usable(name)
        assert (caught.value.field, caught.value.code) == ("/spec/runtime/kernel", reason)
        assert hint in (caught.value.hint or "")


@pytest.mark.asyncio
async def test_missing_modules_are_found_without_importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "here" / "trap.py"
    script(trap, f"open({str(tmp_path / 'imported')!r}, 'w')")
    monkeypatch.chdir(trap.parent)
    kernels = Kernels(Specs(ok=spec("python", *RUN, env={"PYTHONPATH": str(trap.parent)})), "ok")
    modules = ["torch", "trap", "no_such_module", "json", "not a name", "no_such_module"]
    assert await kernels.missing("ok", modules) == ["no_such_module"]
    assert not (tmp_path / "imported").exists()
    # what merely lies in the folder that the server runs in is not installed
    assert await Kernels(Specs(ok=spec("python", *RUN)), "ok").missing("ok", ["trap"]) == ["trap"]


@pytest.mark.asyncio
async def test_a_kernel_is_looked_at_once_until_something_is_installed(bare: str, tmp_path: Path) -> None:
    counted = script(tmp_path / "count" / "python", f'#!/bin/sh\necho x >> {tmp_path}/calls\nexec {bare} "$@"\n')
    kernels = Kernels(Specs(k=spec(str(counted), *RUN)), "k")
    calls = tmp_path / "calls"
    for _ in range(3):
        kernel = await kernels.get("k")
        assert await kernels.missing("k", ["numpy"]) == ["numpy"]
    assert kernel.torch is not None
    assert kernel.torch.version is None
    assert calls.read_text().count("x") == 2  # once for the kernel, once for numpy
    packages = next((tmp_path / "bare").glob("lib/python*/site-packages"))
    (packages / "torch").mkdir()
    (packages / "torch" / "__init__.py").write_text("raise SystemExit('imported')")
    (packages / "torch" / "version.py").write_text("__version__ = '9.9.1+cu130'\ncuda: str = '13.0'\n")
    kernel = await kernels.get("k")
    assert kernel.torch is not None
    assert kernel.torch.version == "9.9.1+cu130"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\nexit 3\n",
        "#!/bin/sh\necho nonsense\n",
        "#!/bin/sh\necho '{}'\n",
        "#!/bin/sh\nexec sleep 600\n",
        "not a program",
    ],
)
async def test_a_python_that_does_not_answer_is_not_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PROBE_SECONDS", 0.5)
    kernels = Kernels(Specs(k=spec(str(script(tmp_path / "python", text)), *RUN)), "k")
    kernel, _ = await kernels.usable("k")
    assert kernel.torch is None
    assert await kernels.missing("k", ["numpy"]) == []


def test_the_install_command_can_be_pasted(bare: str) -> None:
    kernel = module.Kernel(
        name="k", display_name="k", python="/my env/bin/python", enabled=True, reason=None, torch=None
    )
    assert install_command(kernel, "torch") == "'/my env/bin/python' -m pip install torch"


def _torch_version() -> str:
    command = "import importlib.metadata as m; print(m.version('torch'))"
    return subprocess.check_output([sys.executable, "-c", command], text=True, env=os.environ).strip()
