"""``dpselect doctor``: which parts of dpselect work on this machine, and what to install for the others."""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from dpselect import PermuteAndFlip, __version__
from dpselect.errors import printable


class Finding(NamedTuple):
    """One thing that works here, or does not; what was found or is missing, and what to do about it, if anything."""

    what: str
    works: bool
    found: str
    remedy: str = ""


_EXTRAS = {
    "polars": ("tables of Polars", "polars"),
    "excel": ("Excel files", "openpyxl"),
    "stata": ("Stata and SPSS files", "pyreadstat"),
    "delta": ("Delta tables", "deltalake"),
    "iceberg": ("Iceberg tables", "pyiceberg"),
    "postgres": ("tables and ledgers on PostgreSQL", "psycopg"),
    "spark": ("tables on Spark", "pyspark pandas"),
    "plots": ("plots", "altair vl_convert"),
    "web": ("pages in a browser, dpselect serve", "starlette uvicorn jinja2"),
    "sklearn": ("selecting features in scikit-learn", "sklearn"),
    "pld": ("composition by privacy loss distributions", "dp_accounting"),
}
"""What each extra is for, and the modules that it installs."""

_PACKAGES = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python", "dp_accounting": "dp-accounting"}


def doctor(*, as_json: bool = False) -> int:
    """Check what works on this machine: the core, files, ledgers and each extra. The last line is what to run next.

    Returns:
        0, or 1 if something that every question needs does not work. Missing extras are not a fault.
    """
    needed = [_core(), _ledger(), _libraries("frames and files", "duckdb pyarrow", ".")]
    findings = [*needed, *(_libraries(*about, f"'.[{extra}]'") for extra, about in _EXTRAS.items())]
    if as_json:
        print(json.dumps([each._asdict() for each in findings], indent=2))
    else:
        width = max(len(each.what) for each in findings)
        for each in findings:
            print(f"{'ok' if each.works else '--'}  {each.what:<{width}}  {each.found}")
            if each.remedy:
                print(f"    {'':<{width}}  {each.remedy}")
        print(f"\nNext: {_next(needed, findings)}")
    return 0 if all(each.works for each in needed) else 1


def _next(needed: Sequence[Finding], findings: Sequence[Finding]) -> str:
    """The one command to run: what mends a fault; else the page of this folder, or the columns of its first table."""
    if faults := [each for each in needed if not each.works]:
        return faults[0].remedy
    if any(each.works and each.what == _EXTRAS["web"][0] for each in findings):
        return "dpselect serve"
    tables = sorted(each.name for each in Path().glob("*") if each.suffix.lower() in (".csv", ".parquet"))
    return f"dpselect columns {printable(shlex.quote(tables[0])) if tables else 'people.csv, or another file of yours'}"


def _core() -> Finding:
    """A draw whose outcome is certain: the second candidate is better by more than any noise."""
    about = f"dpselect {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    works = PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select([0, 10**6]) == 1
    remedy = "Do not use this installation; please report it."
    return Finding("drawing, from the operating system's randomness", works, about, remedy * (not works))


def _ledger() -> Finding:
    from dpselect import Ledger
    from dpselect.accounting import PureEvent

    with TemporaryDirectory() as folder, Ledger(f"sqlite:///{folder}/doctor.db") as ledger:
        ledger.open_account("doctor", epsilon=1)
        ledger.charge("doctor", PureEvent(epsilon=0.5))
        works = ledger.remaining("doctor") == 0.5 and bool(ledger.verify())
    remedy = "Do not use a ledger of this installation; please report it."
    return Finding("ledgers in a file", works, "SQLite, in Python's own library", remedy * (not works))


def _libraries(what: str, modules: str, install: str) -> Finding:
    """Whether these can be imported, and what to install if not."""
    names = modules.split()
    packages = [_PACKAGES.get(each, each) for each in names]
    if missing := [package for package, each in zip(packages, names, strict=True) if not _imports(each)]:
        remedy = f"in a checkout of dpselect: {os.path.basename(sys.executable)} -m pip install {install}"
        return Finding(what, False, f"not installed: {', '.join(missing)}", remedy)
    lack = _missing_java() if "pyspark" in names else ""
    versions = (f"{package} {importlib.metadata.version(package)}" for package in packages)
    return Finding(what, not lack, lack or ", ".join(versions))


def _missing_java() -> str:
    """Why Spark cannot start a Java of 17 or later: that of JAVA_HOME, else the one on the path; empty if it can."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    except OSError:
        return "no Java: install a JDK 17 or later, or set JAVA_HOME"
    except subprocess.SubprocessError:
        return "a Java that does not start"
    version = said.partition('"')[2].partition(".")[0].partition('"')[0]
    return "" if version.isdecimal() and int(version) >= 17 else f"a Java older than 17 ({version or 'unknown'})"


def _imports(name: str) -> bool:
    """Being installed is not enough: only importing a library shows that it is broken."""
    with suppress(Exception), redirect_stdout(io.StringIO()):  # some say at length what they miss
        importlib.import_module(name)
        return True
    return False
