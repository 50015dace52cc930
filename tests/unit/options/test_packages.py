"""Options in submodules that a package imports itself, by ``from . import name``."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.launch.options.reader import read_options

PARSER = "import argparse\ndef make():\n    p = argparse.ArgumentParser()\n    p.add_argument('--lr')\n    return p\n"
PACKAGE = "from . import options\ndef parser(name):\n    return options.make()\n"


@pytest.mark.parametrize(
    ("package", "submodule", "script", "flags"),
    [
        (PACKAGE, PARSER, "import pkg\npkg.parser('train').parse_args()\n", ["--lr"]),
        (
            "from . import _C, options\ndef scale(size):\n    return _C.scale(size)\n",
            PARSER,
            "import argparse, pkg\nparser = argparse.ArgumentParser()\nsize = pkg.scale(3)\n"
            "parser.add_argument('--size', default=size)\nparser.parse_args()\n",
            ["--size"],
        ),
        ("from . import options\n", PARSER, "from pkg import options\noptions.make().parse_args()\n", ["--lr"]),
        (
            "from . import options\n",
            "def run(lr=0.1, steps=3):\n    pass\n",
            "import fire, pkg\nfire.Fire(pkg.options.run)\n",
            ["--lr", "--steps"],
        ),
    ],
    ids=["function", "missing module", "submodule", "static"],
)
def test_a_package_that_imports_its_submodules(
    tmp_path: Path, package: str, submodule: str, script: str, flags: list[str]
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text(package)
    (tmp_path / "pkg" / "options.py").write_text(submodule)
    (tmp_path / "train.py").write_text(script)
    result = read_options(tmp_path, tmp_path / "train.py", script)
    assert [option.flags[0] for option in result.options] == flags
    assert result.unread == []
