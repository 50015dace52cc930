"""Options of classes in a registry that is not known completely: what is missing is told."""

from __future__ import annotations

from pathlib import Path

from jupyterlab_t9kjob.launch.options.model import OptionsRead
from jupyterlab_t9kjob.launch.options.reader import read_options

REGISTRY = """MODELS = {}

def register(name):
    def add(cls):
        MODELS[name] = cls
        return cls
    return add
"""
USE = """parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=MODELS.keys())
for model in MODELS.values():
    model.add_arguments(parser)
parser.parse_args()
"""
NET = """@register("net")
class Net:
    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--depth", type=int)
"""


def read(folder: Path, files: dict[str, str]) -> OptionsRead:
    """Write files and read the options of ``train.py``."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    script = folder / "train.py"
    return read_options(folder, script, script.read_text())


def flags(result: OptionsRead) -> dict[str, list[str]]:
    """Return the choices by flag."""
    return {option.flags[0]: option.choices for option in result.options}


def test_modules_imported_by_names_that_only_a_run_tells(tmp_path: Path) -> None:
    imports = (
        "import importlib, os\ndef load(folder):\n    for file in os.listdir(folder):\n"
        "        importlib.import_module(f'models.{file[:-3]}')\nload(os.path.dirname(__file__))\n"
    )
    files = {
        "models/__init__.py": f"{REGISTRY}{imports}",
        "models/net.py": f"from . import register\n{NET}",
        "train.py": f"import argparse\nfrom models import MODELS\n{USE}",
    }
    result = read(tmp_path, files)
    assert flags(result) == {"--model": []}
    assert [(unread.line, unread.path) for unread in result.unread] == [(6, None)]


def test_modules_imported_by_known_names(tmp_path: Path) -> None:
    files = {
        "models/__init__.py": REGISTRY,
        "models/net.py": f"from . import register\n{NET}",
        "train.py": "import argparse, importlib\nfrom models import MODELS\nfor name in ['net']:\n"
        f"    importlib.import_module(f'models.{{name}}')\n{USE}",
    }
    result = read(tmp_path, files)
    assert flags(result) == {"--model": ["net"], "--depth": []}
    assert not result.unread


def test_a_registry_in_an_object_and_plugins(tmp_path: Path) -> None:
    source = (
        "import argparse, importlib, sys\nclass Registry:\n    def __init__(self):\n        self.held = {}\n"
        "    def register(self, name):\n        def add(cls):\n            self.held[name] = cls\n"
        "            return cls\n        return add\nMODELS = Registry()\nregister = MODELS.register\n"
        f"{NET}importlib.import_module(sys.argv[1])\n{USE.replace('MODELS.', 'MODELS.held.')}"
    )
    result = read(tmp_path, {"train.py": source})
    assert flags(result) == {"--model": []}
    assert len(result.unread) == 1


def test_classes_registered_in_an_import_under_a_condition(tmp_path: Path) -> None:
    files = {
        "registry.py": REGISTRY,
        "net.py": f"from registry import register\n{NET}",
        "train.py": "import argparse\nfrom registry import MODELS\ntry:\n    import net\n"
        f"except ImportError:\n    pass\n{USE}",
    }
    assert flags(read(tmp_path, files)) == {"--model": ["net"], "--depth": []}
