"""Files that are hard to read, through ``launch/prefill``: a clear answer each, never an error of the server."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Api

PARSER = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--größe', default='ä')\np.parse_args()\n"
LARGE = b"import argparse\n" + b"# a comment of this line\n" * (50 * 1024 * 1024 // 25)


def _package(root: Path, modules: int) -> str:
    (root / "pack").mkdir()
    for number in range(modules):
        (root / "pack" / f"m{number}.py").write_text(f"from . import m{(number + 1) % modules}\n")
    (root / "pack" / "__init__.py").write_text("\n".join(f"from . import m{number}" for number in range(modules)))
    return "import pack\n" + PARSER


async def test_files_that_are_hard_to_read(api: Api, jp_root_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("import argparse\np = argparse.ArgumentParser()\np.add_argument('--secret')\n")
    (jp_root_dir / "outside.py").symlink_to(tmp_path / "secret.py")
    (jp_root_dir / "a.py").write_text("import b\n")
    (jp_root_dir / "b.py").write_text("import a\n" + PARSER, "utf-8")
    files: dict[str, tuple[bytes, bool | None]] = {
        # Name: contents, and True if the option is read, False if it is not, None if both are right.
        "junk.py": (bytes(range(256)) * 64, False),
        "bom.py": (PARSER.encode("utf-8-sig"), True),
        "latin.py": (b"# -*- coding: latin-1 -*-\n" + PARSER.encode("latin-1"), True),
        "undeclared.py": (PARSER.encode("latin-1"), None),
        "utf16.py": (PARSER.encode("utf-16"), None),
        "large.py": (LARGE, False),
        "nested.py": (b"x = " + b"[" * 20_000 + b"]" * 20_000 + b"\n", False),
        "sums.py": (b"x = " + b"1 + " * 100_000 + b"1\n", False),
        "cycle.py": (b"import a\n" + PARSER.encode(), True),
        "many.py": (_package(jp_root_dir, 5_000).encode(), True),
    }
    for name, (data, expected) in files.items():
        (jp_root_dir / name).write_bytes(data)
        answer = await api("POST", "launch", "prefill", body={"path": name})
        assert answer.status < 500, (name, answer.json)
        text = str(answer.json)
        assert answer.status == 200 or answer.json["message"], name
        assert expected is None or ("--größe" in text) == expected, (name, text[:500])
    answer = await api("POST", "launch", "prefill", body={"path": "outside.py"})
    assert answer.status < 500
