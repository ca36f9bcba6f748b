"""``dpselect doctor``: which parts of dpselect work on this machine, and what to install for the others."""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass

from dpselect import PermuteAndFlip, __version__
from dpselect.cli.options import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that works here, or does not.

    Attributes:
        what: its name in the documents.
        works: whether it does.
        found: versions and places, or what is missing.
        remedy: what to do about it; empty if there is nothing to do.
    """

    what: str
    works: bool
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class _Extra:
    name: str
    what: str
    modules: tuple[str, ...]
    more: Callable[[], str | None] = lambda: None
    """What is missing besides the modules, or None."""


def _missing_java() -> str | None:
    """Spark starts a Java of 17 or later: that of JAVA_HOME, else the one on the path."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        return "no Java: install a JDK 17 or later, or set JAVA_HOME"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return "a Java that does not start"
    version = said.partition('"')[2].partition(".")[0].partition('"')[0]
    return None if version.isdecimal() and int(version) >= 17 else f"a Java older than 17 ({version or 'unknown'})"


_EXTRAS = (
    _Extra("polars", "tables of Polars", ("polars",)),
    _Extra("excel", "Excel files", ("openpyxl",)),
    _Extra("stata", "Stata and SPSS files", ("pyreadstat",)),
    _Extra("delta", "Delta tables", ("deltalake",)),
    _Extra("iceberg", "Iceberg tables", ("pyiceberg",)),
    _Extra("postgres", "tables and ledgers on PostgreSQL", ("psycopg",)),
    _Extra("spark", "tables on Spark", ("pyspark", "pandas"), _missing_java),
    _Extra("plots", "plots", ("altair", "vl_convert")),
    _Extra("web", "pages in a browser, dpselect serve", ("starlette", "uvicorn", "jinja2")),
    _Extra("sklearn", "selecting features in scikit-learn", ("sklearn",)),
    _Extra("pld", "composition by privacy loss distributions", ("dp_accounting",)),
)
_FILES = ("duckdb", "pyarrow")
"""What every question about a table needs."""
_FRAMES = ("pandas", "ibis")
"""Other libraries that tables may be in; callers import them, and they are shown where they work."""
_PACKAGES = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python", "ibis": "ibis-framework"}


def doctor(*, as_json: Json = False) -> int:
    """Check what works on this machine: the core, files, ledgers and each extra.

    Returns:
        0, or 1 if something that every question needs does not work. Missing extras are not a fault.
    """
    findings = list(_findings())
    if as_json:
        print(json.dumps([asdict(each) for each in findings], indent=2))
    else:
        width = max(len(each.what) for each in findings)
        for each in findings:
            print(f"{'ok' if each.works else '--'}  {each.what:<{width}}  {each.found}")
            if each.remedy:
                print(f"    {'':<{width}}  {each.remedy}")
    return 0 if all(each.works for each in findings[:3]) else 1


def _findings() -> Iterator[Finding]:
    yield _core()
    yield _ledger()
    yield _frames()
    yield from map(_of_extra, _EXTRAS)


def _core() -> Finding:
    """A draw whose outcome is certain: the second candidate is better by more than any noise."""
    about = f"dpselect {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    what = "drawing, from the operating system's randomness"
    if PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select([0, 10**6]) == 1:
        return Finding(what=what, works=True, found=about)
    return Finding(what=what, works=False, found=about, remedy="Do not use this installation; please report it.")


def _ledger() -> Finding:
    import tempfile

    from dpselect import Ledger
    from dpselect.accounting import PureEvent

    with tempfile.TemporaryDirectory() as folder, Ledger(f"sqlite:///{folder}/doctor.db") as ledger:
        ledger.open_account("doctor", epsilon=1)
        ledger.charge("doctor", PureEvent(epsilon=0.5))
        works = ledger.remaining("doctor") == 0.5 and bool(ledger.verify())
    version = f"SQLite, through SQLAlchemy {_version('sqlalchemy')}"
    return Finding(what="ledgers in a file", works=works, found=version)


def _frames() -> Finding:
    what = "frames and files"
    missing = [name for name in _FILES if not _imports(name)]
    if missing:
        python = os.path.basename(sys.executable)
        remedy = f"in a checkout of dpselect: {python} -m pip install ."
        return Finding(what=what, works=False, found=f"not installed: {', '.join(missing)}", remedy=remedy)
    found = [*_FILES, *(name for name in _FRAMES if _version(name) and _imports(name))]
    return Finding(what=what, works=True, found=_versions(found))


def _of_extra(extra: _Extra) -> Finding:
    unusable = [name for name in extra.modules if not _imports(name)]
    missing = [_PACKAGES.get(name, name) for name in unusable]
    lack = f"not installed: {', '.join(missing)}" if missing else extra.more()
    if lack is None:
        return Finding(what=extra.what, works=True, found=_versions(extra.modules))
    python = os.path.basename(sys.executable)
    remedy = f"in a checkout of dpselect: {python} -m pip install '.[{extra.name}]'" if missing else ""
    return Finding(what=extra.what, works=False, found=lack, remedy=remedy)


def _imports(name: str) -> bool:
    """Being installed is not enough: only importing a library shows that it is broken."""
    try:
        with redirect_stdout(io.StringIO()):  # some say at length what they miss
            importlib.import_module(name)
    except Exception:  # noqa: BLE001 - whatever it raises, it does not work
        return False
    return True


def _versions(names: Iterable[str]) -> str:
    return ", ".join(f"{_PACKAGES.get(name, name)} {_version(name)}" for name in names)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(_PACKAGES.get(name, name.replace("_", "-")))
    except importlib.metadata.PackageNotFoundError:
        return ""
