"""How long the way of a question through the package is, how much a command loads, and how large the package is.

A question should be answered in few places, so that a reader finds them all, and soon, so that nobody waits for what is
not used. ``make house`` prints each figure beside the most that ``house_limits.toml`` allows, and fails above it; so
does a test, but for processor time. Limits only ever go down.
"""

from __future__ import annotations

import ast
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import FrameType
from unittest.mock import patch

import grimp

import dpselect
from dpselect import Dataset, Release, verify
from dpselect.rows.duckdb import SETTINGS

PACKAGE = Path(dpselect.__file__).parent
ROOT = Path(__file__).parents[1]
DATA = ROOT / "examples" / "data"
LIMITS = tomllib.loads(Path(__file__).with_name("house_limits.toml").read_text(encoding="utf-8"))

_COMMAND = "import sys; sys.argv = {!r}; from dpselect.cli import main; main()"
_COUNT = ["dpselect", "count", str(DATA / "adult.csv"), "--unit", "person_id", "--epsilon", "0.5"]
PROGRAMS = {
    "import dpselect": "import dpselect",
    "dpselect --version": _COMMAND.format(["dpselect", "--version"]),
    "dpselect median --help": _COMMAND.format(["dpselect", "median", "--help"]),
    "dpselect verify --help": _COMMAND.format(["dpselect", "verify", "--help"]),
    "dpselect count, CSV": _COMMAND.format(_COUNT),
}
"""What people wait for before anything is done."""

_IN_DUCKDB = f"SELECT count(DISTINCT person_id) FROM read_csv_auto('{DATA / 'adult.csv'}')"
_NUMPY, _DUCKDB = "import numpy", f"import duckdb; print(duckdb.sql({_IN_DUCKDB!r}).fetchall())"
COMPARED = {
    **{name: (PROGRAMS[name], "import numpy", _NUMPY) for name in list(PROGRAMS)[:4]},
    "dpselect count, CSV": (PROGRAMS["dpselect count, CSV"], "DuckDB", _DUCKDB),
}
"""What each is compared with: the least that such a program could load."""

_RUNS = 7


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


@cache
def loaded(program: str) -> list[str]:
    """The modules that a new interpreter has after `program`, without those that it had before."""
    listed = (
        f"import sys; before = {{*sys.modules}}; {program}; print(*sorted({{*sys.modules}} - before), file=sys.stderr)"
    )
    return _run(listed).stderr.split()


def _run(program: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = kept | {"PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), kept.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=300)


def ratio(program: str, other: str) -> float:
    """Processor time of one over that of the other: medians of runs in turn, after one that compiles them."""
    spent: dict[str, list[float]] = {program: [], other: []}
    for turn in range(_RUNS + 1):
        for each, seconds in spent.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            _run(each)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if turn:
                seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent[program]) / statistics.median(spent[other])


@patch.dict(SETTINGS, {"threads": "1"})  # or the engine would read the rows on threads where nothing is counted
@patch("dpselect.rows.duckdb._POLL_SECONDS", 60.0)  # on a busy machine a long question closes its engine
def ways() -> dict[str, int]:
    """How long the ways of three calls are."""
    clicks = Dataset(DATA / "clicks.parquet", unit="session")
    people = Dataset(DATA / "adult.csv", unit="person_id")

    def most_common() -> Release:
        return clicks.most_common("page", candidates=range(1, 41271), epsilon=1.0)

    def median() -> Release:
        return people.median("age", bounds=(0, 120), step=1, epsilon=0.5)

    certificate = most_common().to_json()
    found = dict[str, int]()
    for name, act in (
        ("most_common on Parquet", most_common),
        ("median on CSV", median),
        ("check of a certificate", lambda: verify(certificate)),
    ):
        act()
        passed = way(act)
        found[f"{name}: files"] = passed.files
        found[f"{name}: hops between files"] = passed.file_hops
        found[f"{name}: hops between packages"] = passed.package_hops
        found[f"{name}: calls"] = passed.calls
    return found


def starts() -> dict[str, int]:
    """How many modules each program loads: all, and of this package."""
    found = dict[str, int]()
    for name, program in PROGRAMS.items():
        modules = loaded(program)
        found[f"{name}: modules"] = len(modules)
        found[f"{name}: own modules"] = sum(each.partition(".")[0] == "dpselect" for each in modules)
    return found


def sizes() -> dict[str, int]:
    """How large the package is, and how much of the tests would have to move with it."""
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    inside = [bool(each) for each in inside_tests()]
    return {
        "src: lines of Python": sum(text.count("\n") for text in sources),
        "src: files of Python": len(sources),
        "src: files in a circle of imports": len(set(circle(imports()))),
        "tests: files in a hundred that import from inside": math.ceil(100 * statistics.mean(inside)),
    }


def public_names() -> set[str]:
    """What may be imported without looking inside: what the pages in ``docs/api`` describe, and the command line.

    A page that describes ``dpselect.ledger.Account`` shows a room whose other public names are as open.
    """
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    described = {*re.findall(r":: (dpselect[.\w]*)$", pages, re.MULTILINE)}
    whole = re.findall(r"automodule:: (dpselect[.\w]*)$", pages, re.MULTILINE)
    described |= {f"{module}.{name}" for module in whole for name in getattr(import_module(module), "__all__", ())}
    above = {each for name in described for each in (name, name.rpartition(".")[0]) if each.count(".") == 1}
    rooms = {each for each in above if (PACKAGE / each.partition(".")[2]).is_dir()} | {"dpselect", "dpselect.cli"}
    return described | rooms | {f"{room}.{name}" for room in rooms for name in import_module(room).__all__}


def from_inside(source: str, public: set[str]) -> list[str]:
    """What a file imports of the package that is not among the public names.

    >>> open_ones = {"dpselect", "dpselect.select", "dpselect.errors", "dpselect.errors.SelectionError"}
    >>> from_inside("import dpselect.errors, dpselect.rows\\nfrom dpselect import select, rows", open_ones)
    ['dpselect.rows', 'dpselect.rows']
    """
    found = list[str]()
    for each in ast.walk(ast.parse(source)):
        if isinstance(each, ast.Import):
            found += [name.name for name in each.names]
        elif isinstance(each, ast.ImportFrom) and each.module and not each.level:
            found += [f"{each.module}.{name.name}" for name in each.names]
    return [name for name in found if name.partition(".")[0] == "dpselect" and name not in public]


def inside_tests() -> list[str]:
    """The files of tests that import from inside the package, and beside each what; what they share is not counted."""
    public, here = public_names(), Path(__file__).parent
    files = sorted(here.rglob("test_*.py"))
    return [
        f"{path.relative_to(here)}: {', '.join(inside)}" if inside else ""
        for path in files
        for inside in [from_inside(path.read_text(encoding="utf-8"), public)]
    ]


def times() -> dict[str, float]:
    """Processor time over that of the program that each is compared with."""
    return {f"{name} / {of}: time": round(ratio(program, other), 2) for name, (program, of, other) in COMPARED.items()}


def beyond(found: Mapping[str, float], most: Mapping[str, float]) -> list[str]:
    """The measures above their limit, and those that have none.

    >>> beyond({"files": 3, "lines": 90, "calls": 5}, {"files": 3, "lines": 80})
    ['lines', 'calls']
    """
    return [name for name, now in found.items() if name not in most or now > most[name]]


def table(found: Mapping[str, float], most: Mapping[str, float]) -> str:
    """The measures in columns.

    >>> print(table({"src: files": 302, "src: lines": 34000}, {"src: files": 302, "src: lines": 33000}))
    measure       now at most
    src: files    302     302
    src: lines 34,000  33,000  <- too much
    """
    rows = [("measure", "now", "at most")]
    rows += [(name, f"{now:,}", f"{most.get(name, 0):,}") for name, now in found.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    above = beyond(found, most)
    return "\n".join(
        f"{name:{widths[0]}} {now:>{widths[1]}} {limit:>{widths[2]}}{'  <- too much' if name in above else ''}"
        for name, now, limit in rows
    )


if __name__ == "__main__":
    measured = ways() | starts() | sizes() | times()
    print(table(measured, LIMITS["most"]))
    sys.exit(1 if beyond(measured, LIMITS["most"]) else 0)
