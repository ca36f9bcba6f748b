"""How long the way of a question through the package is, and how large the package is: ``make house`` prints both.

A question should be answered in few places, so that a reader finds them all. Three warm calls are traced; each figure
stands beside the one that it should not exceed. Nothing fails here: a figure that stands against clarity may be missed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import FrameType

import grimp

import dpselect
from dpselect import Dataset, Release, certificates

PACKAGE = Path(dpselect.__file__).parent
DATA = Path(__file__).parents[1] / "examples" / "data"


@dataclass(slots=True)
class Way:
    """What one call passed through: its files, steps from file to file and package to package, and all calls."""

    files: int = 0
    file_hops: int = 0
    package_hops: int = 0
    calls: int = 0


def way(act: Callable[[], object], package: Path = PACKAGE) -> Way:
    """The way of `act` through the files of `package`, on this thread and on those it starts.

    Call `act` once before, or what it imports is counted, too. Lambdas and comprehensions count with their function.
    """
    folder = f"{package}/"
    files, found, last = set[str](), Way(), ""

    def notice(frame: FrameType, event: str, _: object) -> None:
        nonlocal last
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(folder) or frame.f_code.co_name.startswith("<"):
            return
        files.add(path)
        found.calls += 1
        if last and last != path:
            found.file_hops += 1
            found.package_hops += _room(last, folder) != _room(path, folder)
        last = path

    threading.setprofile(notice)
    sys.setprofile(notice)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    found.files = len(files)
    return found


def _room(path: str, folder: str) -> str:
    """The package or module right below `folder` that a file belongs to."""
    return path.removeprefix(folder).partition("/")[0]


def imports() -> dict[str, set[str]]:
    """Which modules of the package each one imports, within functions and for types included."""
    graph = grimp.build_graph("dpselect", cache_dir=None)
    return {name: graph.find_modules_directly_imported_by(name) - {name} for name in graph.modules}


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, from what each one imports; empty if there are none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def measures() -> dict[str, tuple[int, int | None]]:
    """Each measure of this tree, with the figure that it should not exceed, where there is one."""

    clicks = Dataset(DATA / "clicks.parquet", unit="session")
    people = Dataset(DATA / "adult.csv", unit="person_id")

    def most_common() -> Release:
        return clicks.most_common("page", candidates=range(1, 41271), epsilon=1.0)

    def median() -> Release:
        return people.median("age", bounds=(0, 120), step=1, epsilon=0.5)

    certificate = most_common().to_json()
    found = dict[str, tuple[int, int | None]]()
    for name, act, files, package_hops, calls in (
        ("most_common on Parquet", most_common, 22, 30, 250),
        ("median on CSV", median, 24, 35, None),
        ("check of a certificate", lambda: certificates.check(certificate), 12, 12, None),
    ):
        act()
        passed = way(act)
        found[f"{name}: files"] = passed.files, files
        found[f"{name}: hops between files"] = passed.file_hops, None
        found[f"{name}: hops between packages"] = passed.package_hops, package_hops
        found[f"{name}: calls"] = passed.calls, calls
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    found["src: lines of Python"] = sum(text.count("\n") for text in sources), 25_000
    found["src: files of Python"] = len(sources), None
    found["src: files in a circle of imports"] = len(set(circle(imports()))), 0
    return found


def table(found: Mapping[str, tuple[int, int | None]]) -> str:
    """The measures in columns.

    >>> print(table({"src: files": (302, None), "src: lines": (34000, 25000)}))
    measure       now at most
    src: files    302
    src: lines 34,000  25,000
    """
    rows = [("measure", "now", "at most")]
    rows += [(name, f"{now:,}", "" if most is None else f"{most:,}") for name, (now, most) in found.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = (f"{name:{widths[0]}} {now:>{widths[1]}} {most:>{widths[2]}}" for name, now, most in rows)
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    print(table(measures()))
