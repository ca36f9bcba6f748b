"""Whether it is as claimed: a certificate, recomputed; a mechanism in Python, of which a refuting event is looked for;
and this installation: which parts of dpselect work on this machine, and what to install for the others.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import json
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import dpselect as dps
from dpselect.checks import did_you_mean, text_of
from dpselect.cli.commands import Json
from dpselect.cli.process import printable_lines
from dpselect.errors import InvalidParameterError, Shown, printable, typed

if TYPE_CHECKING:
    from dpselect.certificates.checking import Checked


def verify(certificate: str, *, ledger: str | None = None, as_json: Json = False) -> None:
    """Recompute the guarantee of a release from its certificate.

    dpselect verify release.json --ledger sqlite:///budget.db

    What was drawn is certified only for a release with a request id (--request), which its ledger stored: the value,
    and if there are any, the numbers usable.count and counts.count. Otherwise these may have been edited unnoticed.
    Without --ledger this is true of every field that the certificate states only once, such as the column.

    Args:
        certificate: File with what --json printed.
        ledger: Also look up its charge in this ledger.
    """
    text = text_of(certificate, "certificate", "what --json printed", most=100)
    with nullcontext() if ledger is None else dps.Ledger(ledger) as opened:
        checked = dps.verify(text, ledger=opened)
    if as_json:
        found = {"epsilon": checked.epsilon, "delta": checked.release.delta, "charged": checked.charged}
        found |= {"error_bound": checked.error_bound, "question": checked.question, "value": checked.value}
        print(json.dumps(found, sort_keys=True))
        return
    for sentence in filter(None, _told(checked)):
        print(printable(sentence))  # a forger may have written anything into a name


def _told(checked: Checked) -> Iterator[str]:
    """What holds, in sentences; some may be empty."""
    from dpselect.questions.wording import scope

    release, receipt = checked.release, checked.release.receipt or {}
    yield release.promise
    yield scope(release.where)
    yield f"Recomputed from its event: epsilon = {checked.epsilon!r} at delta = {release.delta!r}."
    unknown = "How far off it may be is not recomputed: the certificate does not hold all that it depends on."
    known = release.accuracy + (" Recomputed." if checked.error_bound else "")
    yield known if checked.error_bound or release.error_bound is None else unknown
    yield from (release.count_accuracy, release.rule, release.basis)
    if release.source is not None:
        schema = release.source.get("schema")
        columns = f" Hash of its columns' names and types: {schema}." if schema else ""
        yield f"Asked of {release.opened}.{columns}"
    if release.format is not None:
        yield f"Declared format: {', '.join(f'{name} = {word!r}' for name, word in release.format.items())}."
    if release.receipt is None:
        yield "The question is not certified: there is no receipt."
    elif not checked.question:
        yield "The question cannot be compared with the ledger: the receipt has no hash of it."
    elif checked.charged:
        numbers = {"counts.count": release.counted, "usable.count": release.usable}  # which no hash of it covers
        drawn = " and ".join(["the value", *(name for name, held in numbers.items() if held is not None)])
        yield f"The question (every field but what was drawn: {drawn}) agrees with the hash in the ledger's entry."
    else:
        yield "The question agrees with its receipt, whose hash anybody can recompute: only its ledger shows an edit."
    if not checked.charged:
        yield "No ledger was asked whether it was charged."
        yield "The value itself is not certified: only a ledger that stored it for a request id can show that."
        return
    yield f"Charged to account {receipt['account']!r}, entry {receipt['sequence']}."
    if checked.value:
        yield f"The value is the one that the ledger stored for request {receipt['request']!r}."
    else:
        yield "The value itself is not certified: the ledger stored no release for it, only its charge."


def audit(
    sampler: str,
    *,
    claimed_epsilon: float,
    claimed_delta: float = 0.0,
    neighbours: str = "neighbours",
    draws: int,
    confidence: float = 0.999,
    as_json: Json = False,
) -> int:
    """Look for an event which shows that a mechanism is less private than claimed.

    dpselect audit mine:noisy_count --claimed-epsilon 1 --draws 20000

    The file mine.py, in this folder, has the function noisy_count, from a neighbour to
    an output, and the list neighbours, such as [(0, 1)], of pairs of what it takes.
    The exit status is 1 if the claim is refuted. If it is not, that does not show
    that it holds.

    Args:
        sampler: MODULE:FUNCTION. The module is run.
        claimed_epsilon: Epsilon that is claimed, > 0.
        claimed_delta: Delta that is claimed.
        neighbours: Name in the module of a tuple of two neighbours, or of a list of such tuples.
        draws: Draws for each neighbour, at most.
        confidence: With which the lower bound holds, below 1.
    """
    place, _, name = sampler.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does
    try:
        module = importlib.import_module(place)
    except Exception as error:  # noqa: BLE001 - a module may raise anything
        what = Shown(f"<{type(error).__name__} while {printable(place)!r} was imported>")
        raise InvalidParameterError("sampler", what, "MODULE:FUNCTION, as in mine:noisy_count") from None

    tried = _found(module, name, "sampler", "MODULE:FUNCTION, "), _found(module, neighbours, "neighbours")
    claim = {"claimed_epsilon": claimed_epsilon, "claimed_delta": claimed_delta}
    report = dps.audit(*tried, **claim, draws=draws, confidence=confidence)
    print(printable_lines(json.dumps(asdict(report) | {"broken": report.broken}) if as_json else str(report)))
    return int(report.broken)


def _found(module: object, name: str, argument: str, form: str = "") -> Any:
    if name in vars(module):
        return vars(module)[name]
    raise InvalidParameterError(argument, typed(name), f"{form}a name in the module", did_you_mean(name, vars(module)))


class Finding(NamedTuple):
    """One thing that works here, or does not; what was found or is missing, and what to do about it, if anything."""

    what: str
    works: bool
    found: str
    remedy: str = ""


_EXTRAS = {  # what each extra is for, and the modules that it installs
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

_PACKAGES = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python", "dp_accounting": "dp-accounting"}


def doctor(*, as_json: Json = False) -> int:
    """Check what works on this machine: the core, files, ledgers and each extra. The last line is what to run next.

    The exit status is 1 if something that every question needs does not work.
    Missing extras are not a fault.
    """
    # The second candidate is better by more than any noise.
    draws = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select([0, 10**6]) == 1
    with TemporaryDirectory() as folder, dps.Ledger(f"sqlite:///{folder}/doctor.db") as ledger:
        ledger.open_account("doctor", epsilon=1)
        ledger.charge("doctor", dps.accounting.PureEvent(epsilon=0.5))
        keeps_count = ledger.remaining("doctor") == 0.5 and bool(ledger.verify())
    here = f"dpselect {dps.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    broken = "Do not use this installation; please report it."
    needed = [
        Finding("drawing, from the operating system's randomness", draws, here, "" if draws else broken),
        Finding("ledgers in a file", keeps_count, "SQLite, in Python's own library", "" if keeps_count else broken),
        _libraries("frames and files", "duckdb pyarrow", "."),
    ]
    findings = [*needed, *(_libraries(*about, f"'.[{extra}]'") for extra, about in _EXTRAS.items())]
    faults = [each.remedy for each in needed if not each.works]
    if as_json:
        print(json.dumps([each._asdict() for each in findings], indent=2))
        return int(bool(faults))
    width = max(len(each.what) for each in findings)
    for each in findings:
        print(f"{'ok' if each.works else '--'}  {each.what:<{width}}  {each.found}")
        if each.remedy:
            print(f"    {'':<{width}}  {each.remedy}")
    # What mends a fault; else the page of this folder, or the columns of its first table.
    tables = sorted(each.name for each in Path().glob("*") if each.suffix.lower() in (".csv", ".parquet"))
    columns = printable(shlex.quote(tables[0])) if tables else "people.csv, or another file of yours"
    has_page = any(each.works and each.what == _EXTRAS["web"][0] for each in findings)
    print(f"\nNext: {faults[0] if faults else 'dpselect serve' if has_page else f'dpselect columns {columns}'}")
    return int(bool(faults))


def _libraries(what: str, modules: str, install: str) -> Finding:
    """Whether these can be imported, and what to install if not. A library may be installed and broken."""
    packages, missing = {each: _PACKAGES.get(each, each) for each in modules.split()}, list[str]()
    for name, package in packages.items():
        try:
            with redirect_stdout(io.StringIO()):  # some say at length what they miss
                importlib.import_module(name)
        except Exception:  # noqa: BLE001 - a library may raise anything
            missing.append(package)
    if missing:
        remedy = f"in a checkout of dpselect: {os.path.basename(sys.executable)} -m pip install {install}"
        return Finding(what, False, f"not installed: {', '.join(missing)}", remedy)
    has_java = "pyspark" not in packages or os.environ.get("JAVA_HOME") or shutil.which("java")
    lack = "" if has_java else "no Java: install a JDK 17 or later, or set JAVA_HOME"
    versions = (f"{package} {importlib.metadata.version(package)}" for package in packages.values())
    return Finding(what, not lack, lack or ", ".join(versions))
