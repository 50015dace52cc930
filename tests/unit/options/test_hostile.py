"""Scripts that are meant to break the readers of options: nothing hangs, raises or is invented."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from jupyterlab_t9kjob.launch.options.reader import read_options

NESTED = "[" * 80 + "1" + "]" * 80

PARSER = "import argparse\np = argparse.ArgumentParser()\n"
MAX_CPU_SECONDS = 5
"""Far more than any of the scripts needs, and far less than one that is followed without a limit."""

SCRIPTS = {
    "names in a circle": "import fire\nA = B\nB = A\nfire.Fire(A)\n",
    "bases in a circle": (
        "import tyro\nfrom dataclasses import dataclass\n@dataclass\nclass A(B):\n    x: int = 1\n"
        "@dataclass\nclass B(A):\n    y: int = 1\ntyro.cli(A)\n"
    ),
    "a field of its own class": (
        "import tyro\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    a: 'A'\n    b: 'A'\ntyro.cli(A)\n"
    ),
    "an endless alias": "import tyro\nT = T | None\ndef f(x: T): ...\ntyro.cli(f)\n",
    "large powers": "import fire\ndef f(a=9**9**9, b='x' * 10**12, c=[0] * 10**12, d=1 << 10**9): ...\nfire.Fire(f)\n",
    "a nested default": f"import fire\ndef f(a={NESTED}): ...\nfire.Fire(f)\n",
    "an annotation with an error": "import typer\ndef f(a: 'int[' = 1, b: '(' * 10**6 = 2): ...\ntyper.run(f)\n",
    "surrogates": (
        "import click\n@click.command()\n@click.option('--\\ud800', help='\\ud800')\n"
        "@click.option('--a', default='\\ud800')\ndef f(): ...\nf()\n"
    ),
    "a division": "from absl import flags\n"
    "flags.DEFINE_integer('n', 1 // 0, 'x')\nflags.DEFINE_float('', 1e999, None)\n",
    "paths out of the root": "import hydra\n@hydra.main('../../../etc', 'passwd')\ndef f(c): ...\nf()\n",
    "a configurator out of the root": "a = 1\nexec(open('../../../../etc/passwd').read())\n",
    "a list that doubles": f"{PARSER}d = [1]\nfor _ in range(60): d = [d, d]\n"
    "p.add_argument('--z', default=d)\np.add_argument('--y', choices=d)\np.parse_args()\n",
    "tuples that double": f"{PARSER}d = e = (1,)\nfor _ in range(60): d = (d, d); e = (e, e)\n"
    "if p.x:\n    f = d\nelse:\n    f = e\n"
    "p.add_argument('--z', default=d, help=f'{d}')\np.add_argument('--y', default=str(f), choices=e)\n"
    "p.parse_args()\n",
    "a sum of tuples": f"{PARSER}d = (1,)\nfor _ in range(60): d = d + d\n"
    "p.add_argument('--z', default=d)\np.parse_args()\n",
    "a list in itself": f"{PARSER}d = []\nd.append(d)\np.add_argument('--z', default=d)\n"
    "p.add_argument('--y', choices=d)\np.parse_args()\n",
    "a deep list": f"{PARSER}d = []\nfor _ in range(1000): d = [d]\np.add_argument('--z', default=d)\n"
    "p.add_argument('--y', choices=d)\np.parse_args()\n",
    "names that double": "import fire\nd0 = [1]\n"
    + "".join(f"d{n + 1} = [d{n}, d{n}]\n" for n in range(30))
    + "def f(a=d30): ...\nfire.Fire(f)\n",
    "enums that double": "import fire, enum\nclass E0(enum.Enum):\n    a = 1\n    b = 2\n"
    + "".join(f"class E{n + 1}(enum.Enum):\n    a = E{n}.a\n    b = E{n}.b\n" for n in range(30))
    + "def f(a=E30.a): ...\nfire.Fire(f)\n",
    "a NUL in a path": "a = 1\nexec(open('a\\0b').read())\n"
    "import hydra\n@hydra.main('\\0', '\\0')\ndef f(c): ...\nf()\n",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_bad_scripts(name: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPTS[name], "utf-8")
    begun = time.thread_time()
    read = read_options(tmp_path, script, SCRIPTS[name])
    assert time.thread_time() - begun < MAX_CPU_SECONDS
    for option in read.options:
        option.model_dump_json().encode()


def test_options_with_nested_values_are_kept(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    source = SCRIPTS["a list in itself"]
    script.write_text(source)
    read = read_options(tmp_path, script, source)
    found = {option.flags[0]: (option.default, option.default_expression) for option in read.options}
    assert found == {"--z": (None, "d"), "--y": (None, None)}
    assert not read.unread


@pytest.mark.parametrize(
    "text",
    [
        "a: [\n",
        "\0",
        "- 1\n- 2\n",
        "a: &a\n  b: *a\n",
        "defaults:\n  - config\n",
        "defaults: {a: b}\nx: 1\n",
        "a: " + "[" * 500,
        "? [1, 2]\n: 3\n",
        "a: 2001-99-99\nb: !!python/object:os.system x\nc: 0x\n",
        "\n".join(f"k{n}: {n}" for n in range(20_000)),
        "a: !!int ''\nb: !!bool foo\nc: !!timestamp foo\n",
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)),
        "a0: &a0 {}\n"
        + "".join(f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(10))}}}\n" for n in range(1, 12)),
    ],
)
def test_bad_configurations(text: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    source = "import hydra\n@hydra.main(config_path='conf', config_name='config')\ndef main(cfg): ...\nmain()\n"
    script.write_text(source)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/config.yaml").write_text(text)
    read = read_options(tmp_path, script, source)
    for option in read.options:
        option.model_dump_json().encode()
