"""Copy distributions with all that they need from one environment to another place: a tenth of pip's CPU time.

    python .make/copied.py SITE PREFIX REQUIREMENT… [--without NAME…]

SITE is the `site-packages` to copy from. In PREFIX are then `site-packages` at the same place below it, and `bin`,
`share` and `etc`; the scripts are for PREFIX/bin/python. Files are hard links where that is possible: nobody changes
them, pip replaces them.
"""

import argparse
import os
import shutil
from importlib.metadata import Distribution, distributions
from importlib.util import cache_from_source
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(site: Path, requirements: list[str]) -> dict[str, Distribution]:
    """Return the installed distributions of the requirements, and of all that these need, by name.

    Parameters
    ----------
    site
        The environment's ``site-packages``.
    requirements
        Requirements with extras and markers, as a distribution's metadata has them.
    """
    there = {canonicalize_name(found.metadata["Name"]): found for found in distributions(path=[str(site)])}
    wanted: dict[str, set[str]] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        found = there.get(name)
        extras = {"", *requirement.extras}
        if found is None or extras <= wanted.get(name, set()):
            continue
        wanted.setdefault(name, set()).update(extras)
        for needed in map(Requirement, found.requires or []):
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return {name: there[name] for name in wanted}


def copy(found: Distribution, site: Path, prefix: Path) -> None:
    """Copy the files of a distribution, and the byte code that is there.

    Parameters
    ----------
    found
        The distribution.
    site
        ``site-packages`` of its environment.
    prefix
        Root of the environment that gets the copy.
    """
    # …/lib/python3.11/site-packages: what lies beside it begins with ../../../
    old_prefix = site.parents[2]
    old, new = (str(place / "bin" / "python").encode() for place in (old_prefix, prefix))
    for file in found.files or []:
        source = Path(os.path.normpath(site / file))
        if not source.exists() or old_prefix not in source.parents:
            continue
        sources = [source]
        if source.suffix == ".py" and (compiled := Path(cache_from_source(str(source)))).exists():
            sources.append(compiled)
        for each in sources:
            target = prefix / each.relative_to(old_prefix)
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.parent == prefix / "bin":
                script = each.read_bytes().replace(old, new, 1)
                first = script.partition(b"\n")[0]
                if first.startswith(b"#!") and b"python" in first and new not in first:
                    raise SystemExit(f"{each} would run {os.fsdecode(first[2:])}, not {os.fsdecode(new)}")
                target.write_bytes(script)
                shutil.copystat(each, target)
            elif not target.exists():
                _link(each, target)


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # another file system
        shutil.copy2(source, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("prefix", type=Path)
    parser.add_argument("requirements", nargs="+")
    parser.add_argument("--without", nargs="*", default=[], help="names of distributions that are left out")
    args = parser.parse_args()
    # not resolved: below a symbolic link, pip's scripts name Python by the path with the link
    site, prefix = args.site.absolute(), args.prefix.absolute()
    for name, found in closure(site, args.requirements).items():
        if name not in map(canonicalize_name, args.without):
            copy(found, site, prefix)


if __name__ == "__main__":
    main()
