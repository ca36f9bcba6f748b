"""Charging to a ledger, beside raw commits of SQLite with the same durability, in the same run."""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.line import Line
from benchmarks.timing import Sample
from dpselect import ExponentialMechanism, Ledger
from dpselect.ledger import sqlite

CHARGES, BLOCK = 10_000, 250
HERE = Path(__file__).parent
MANY, MANY_REQUESTS, LAST = 100_000, 20_000, 200
EVENT = ExponentialMechanism(epsilon=1e-6, sensitivity=1).event
BODY = "x" * 900
"""About as many bytes as one of our entries writes."""


def lines() -> Iterator[Line]:
    """The rate against SQLite's own, and the cost of the hundred-thousandth charge against the first's."""
    with tempfile.TemporaryDirectory(prefix=".ledger-", dir=HERE) as folder:  # on a disk: memory never waits
        ours, theirs = _rates(Path(folder))
        case = f"{CHARGES:,} charges in blocks of {BLOCK}, each on disk before the next"
        yield Line(what="durable charges a second", case=case, n=CHARGES, dtype="", value=ours, unit="/s")
        yield Line(what="raw SQLite commits a second", case=case, n=CHARGES, dtype="", value=theirs, unit="/s")
        share = ours / theirs
        what = "durable charges, of raw SQLite commits"
        yield Line(what=what, case=case, n=CHARGES, dtype="", value=share, unit="x", at_least=0.3)
        yield Line(
            what=f"charge number {MANY:,}, of the first",
            case="account with delta = 1e-6",
            n=MANY,
            dtype="",
            value=_growth(Path(folder)),
            unit="x",
            at_most=2.0,
        )
        case = f"blocks of {BLOCK // 5}, account with delta = 1e-6"
        what = "charges with an anchor file, of those without (two disks' syncs)"
        sample = Sample(tuple(_anchored(Path(folder))))
        yield Line.of(sample, what=what, case=case, n=CHARGES, dtype="", unit="x", at_least=0.45)
        yield Line(
            what=f"charge with a request, number {MANY_REQUESTS:,}, of the first",
            case="each charge with a request id of its own",
            n=MANY_REQUESTS,
            dtype="",
            value=_growth(Path(folder), MANY_REQUESTS, requests=True),
            unit="x",
            at_most=1.5,
        )


def _rates(folder: Path) -> tuple[float, float]:
    """Ours and SQLite's, in alternating blocks, so that a busy disk slows both."""
    raw = sqlite3.connect(folder / "raw.db", isolation_level=None)
    raw.execute("PRAGMA journal_mode=TRUNCATE")
    raw.execute("PRAGMA synchronous=EXTRA")
    raw.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT)")

    def commit() -> None:
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("INSERT INTO entries (body) VALUES (?)", (BODY,))
        raw.execute("COMMIT")

    with Ledger(folder / "ours.db") as ledger:
        ledger.open_account("clicks", epsilon=1, delta=1e-6)
        ours = theirs = 0.0
        for _ in range(CHARGES // BLOCK):
            ours += _seconds(lambda: ledger.charge("clicks", EVENT), BLOCK)
            theirs += _seconds(commit, BLOCK)
    raw.close()
    return CHARGES / ours, CHARGES / theirs


def _growth(folder: Path, count: int = MANY, *, requests: bool = False) -> float:
    """The median of the last charges over that of the first ones, in turns, so that a busy disk slows both."""
    many, new = (folder / f"{name}{'-requests' if requests else ''}.db" for name in ("many", "new"))
    for path in (many, new):
        with Ledger(path) as ledger:
            ledger.open_account("clicks", epsilon=1, delta=1e-6)
    ids = (f"request {number}" if requests else None for number in itertools.count())

    def charge(ledger: Ledger) -> None:
        ledger.charge("clicks", EVENT, request=next(ids))

    _fill(many, charge, count - LAST)
    with Ledger(many) as last, Ledger(new) as first:
        pairs = [(_seconds(lambda: charge(last), 1), _seconds(lambda: charge(first), 1)) for _ in range(LAST)]
    return median(late for late, _ in pairs) / median(early for _, early in pairs)


def _anchored(folder: Path) -> Iterator[float]:
    """The rate of a ledger with an anchor over that of one without, in turns."""
    plain, anchored = Ledger(folder / "plain.db"), Ledger(folder / "anchored.db", anchor=folder / "anchor")
    with plain, anchored:
        for ledger in (plain, anchored):
            ledger.open_account("clicks", epsilon=1, delta=1e-6)
        for _ in range(21):
            without = _seconds(lambda: plain.charge("clicks", EVENT), BLOCK // 5)
            yield without / _seconds(lambda: anchored.charge("clicks", EVENT), BLOCK // 5)


def _fill(path: Path, charge: Callable[[Ledger], None], count: int) -> None:
    """Most of the charges, without waiting for the disk."""

    settings, sqlite._SETTINGS = sqlite._SETTINGS, ("PRAGMA synchronous=OFF",)
    try:
        with Ledger(path) as ledger:
            for _ in range(count):
                charge(ledger)
    finally:
        sqlite._SETTINGS = settings


def _seconds(act: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        act()
    return time.perf_counter() - start
