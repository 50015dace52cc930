"""The recorder in an image with an old Python and without JupyterLab, PyYAML and T9k's SDK."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.em_distribution import files

# Parts of the standard library that Python 3.8 lacks.
NEWER = re.compile(
    r"\.(removeprefix|removesuffix|is_relative_to|with_stem|readlink|bit_count|pairwise|hardlink_to|walk_up)\("
    r"|functools\.cache\b|strict=|itertools\.(pairwise|batched)|usedforsecurity|asyncio\.to_thread|zoneinfo|tomllib"
    r"|ExceptionGroup|datetime\.UTC|from datetime import UTC"
)
# Signatures of t9k.em 0.6 (t9k-facts.md, Recorder: functions).
SIGNATURES = {
    "create_run": "config_path=None, name='default', hparams=None, labels=None, description='', auto_upload=False, "
    "folder='default', make_folder=False, conflict_strategy='new'",
    "load_run": "path, auto_upload=False, folder='default', make_folder=False, conflict_strategy='new'",
    "create_artifact": "name, labels=None, description=''",
    "load_artifact": "path",
    "upload": "path, folder='default', make_folder=False, conflict_strategy='new'",
    "login": "ais_host=None, api_key=None, timeout=None",
    "logout": "",
    "Run.log": "self, type, metrics, step, epoch=None",
    "Run.mark_input": "self, resource",
    "Run.mark_output": "self, resource",
    "Run.finish": "self",
    "Run.upload": "self, folder='default', make_folder=False, conflict_strategy='new'",
    "Run.to_dict": "self",
    "Run.parse_from_dict": "self, data",
    "Artifact.add_file": "self, file_path, obj_path=None",
    "Artifact.add_dir": "self, dir_path, obj_path=None",
    "Artifact.add_reference": "self, uri, obj_path=None",
    "Artifact.upload": "self, folder='default', make_folder=False, conflict_strategy='new'",
}


def test_the_signatures_are_those_of_t9k_em() -> None:
    for name, expected in SIGNATURES.items():
        owner, _, method = name.rpartition(".")
        function = getattr(getattr(em, owner) if owner else em, method)
        shown = [
            parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is not parameter.KEYWORD_ONLY
        ]
        assert ", ".join(shown) == expected, name
    public = ("name", "labels", "description", "start_timestamp", "end_timestamp", "status", "alternative_name")
    for name in (*public, "associations", "asso", "metrics", "platform", "git", "remote", "local"):
        assert isinstance(inspect.getattr_static(em.Run, name), property), name


def test_the_code_keeps_to_python_3_8_and_the_standard_library() -> None:
    """ruff checks the syntax too (`per-file-target-version`)."""
    allowed = {*sys.stdlib_module_names, "yaml", "jupyterlab_t9kjob"}
    for path, content in files().items():
        text = content.decode()
        tree = ast.parse(text, path, feature_version=(3, 8))
        assert NEWER.search(text) is None, path
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert {name.name.partition(".")[0] for name in node.names} <= allowed, path
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                assert node.module.partition(".")[0] in allowed, path
                own = node.module.startswith("jupyterlab_t9kjob")
                assert not own or node.module.startswith("jupyterlab_t9kjob.em"), path
            elif isinstance(node, ast.ImportFrom) and node.module and path.count("/") == node.level:
                assert node.module == "secret_values", path
        # Annotations are texts, so their newer syntax is never evaluated.
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)] or "annotations" in text, path


def test_a_folder_on_the_path_is_enough(tmp_path: Path) -> None:
    for path, content in files().items():
        (tmp_path / "lib" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / path).write_bytes(content)
    script = """
import sys
from t9k import em
from t9k.em.keras import EMFitCallback
from t9k.em.lightning import EMCallback
import jupyterlab_t9kjob.em as own
assert em.create_run is own.create_run and em.Run is own.Run and "yaml" not in sys.modules
with em.create_run(name="a", hparams={"lr": 0.1}) as run:
    run.log("train", {"loss": 1}, step=1)
    artifact = em.create_artifact("b")
    artifact.add_file(__file__)
    run.mark_output(artifact)
"""
    (tmp_path / "train.py").write_text(script)
    # -S: no site-packages, so neither PyYAML nor anything of JupyterLab.
    subprocess.run(
        [sys.executable, "-S", "train.py"], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "lib")}, check=True
    )
    [run] = (tmp_path / ".em/runs").iterdir()
    assert "status: Complete" in (run / "metadata.yaml").read_text()

    installed = tmp_path / "site" / "t9k" / "em"
    installed.mkdir(parents=True)
    (installed.parent / "__init__.py").touch()
    (installed / "__init__.py").write_text("real = True")
    done = subprocess.run(
        [sys.executable, "-S", "-c", "from t9k import em; print(em.real)"],
        env={"PYTHONPATH": f"{tmp_path / 'lib'}:{tmp_path / 'site'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True\n"  # T9k's own SDK takes precedence
