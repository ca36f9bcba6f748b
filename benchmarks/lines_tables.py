"""Questions to tables, beside the same query without privacy; and how much memory a large one takes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.line import Line
from benchmarks.timing import Sample, ratio, seconds
from dpselect import Dataset, check

HERE = Path(__file__).parent
ROWS, MANY, PEOPLE = 10**7, 10**8, 3 * 10**6
DELTA = 1e-9
PAGES, SEED, PIECE = 41_270, 20_261_121, 10**6
LIMIT = "2GiB"
_SETTLED = 200.0
"""Seconds of alternated pairs: a pair takes several."""


def lines(sizes: list[int]) -> Iterator[Line]:
    """The ratio of ours to DuckDB's own; with `MANY` among `sizes` also the peak of a process with a memory limit."""
    with tempfile.TemporaryDirectory(prefix=".tables-", dir=HERE) as folder:  # on a disk, as large tables are
        path = write_clicks(Path(folder) / "clicks.parquet", ROWS)
        yield Line.of(
            _against_duckdb(path),
            what="top 10 by distinct units in Parquet / DuckDB without privacy",
            case="whole numbers, Zipf",
            n=ROWS,
            dtype="int64",
            unit="x",
            at_most=1.2,
        )
        yield Line.of(
            _checked(path),
            what="`check` of a table / the question itself",
            case="most common, Parquet, whole numbers, Zipf",
            n=ROWS,
            dtype="int64",
            unit="x",
            at_most=1.5,
        )
        for case, ours, theirs in _COUNTS:
            yield Line.of(
                _beside(path, ours, theirs),
                what="a count or a sum in Parquet / DuckDB without privacy",
                case=case,
                n=ROWS,
                dtype="int64",
                unit="x",
                at_most=1.15,
            )
        path = write_values(Path(folder) / "values.parquet", ROWS)
        for case, ours in _UNKNOWN:
            yield Line.of(
                _beside(path, ours, "SELECT page, count(DISTINCT session) FROM rows GROUP BY page"),
                what="values without a public list, 10^6 different ones / DuckDB's counts without privacy",
                case=case,
                n=ROWS,
                dtype="int64",
                unit="x",
                at_most=1.3,
            )
        yield from _together(Path(folder))
        people = write_people(Path(folder) / "people.parquet", PEOPLE)
        yield Line.of(
            ratio(
                lambda: Dataset(people, unit="person").median("age", bounds=(0, 120), epsilon=1.0),
                partial(_plain_median, people),
                pairs=15,
                budget=_SETTLED,
            ),
            what="median in Parquet, one row per unit / DuckDB's one value per unit and `np.median`",
            case="whole numbers",
            n=PEOPLE,
            dtype="int64",
            unit="x",
            at_most=1.2,
        )
        path = Path(folder) / "clicks.parquet"
        for name, ending, reader in (("CSV", "csv", "read_csv"), ("JSON lines", "jsonl", "read_json")):
            text = _as_text(path, ending)
            yield Line.of(
                _against_duckdb(text, reader),
                what="top 10 by distinct units in text files / DuckDB without privacy",
                case=f"{name}, whole numbers, Zipf",
                n=ROWS,
                dtype="text",
                unit="x",
                at_most=2.1 if ending == "csv" else 3.0,
            )
            text.unlink()
        yield _frame()
        if MANY in sizes:
            path = write_clicks(Path(folder) / "many.parquet", MANY)
            yield Line(
                what="peak memory of top 10 by distinct units",
                case=f"memory_limit={LIMIT}, a fresh process",
                n=MANY,
                dtype="int64",
                value=_peak(path) / 2**30,
                unit="GiB",
                at_most=2.0,
            )


def _frame() -> Line:
    """A small frame in memory, from the call to the release: what is left when there is hardly anything to read."""
    import pandas as pd

    people = pd.read_csv(HERE.parent / "examples" / "data" / "adult.csv")
    data, listed = Dataset(people, unit="person_id"), range(1, 17)
    taken = seconds(lambda: data.most_common("education_num", candidates=listed, epsilon=1.0))
    return Line.of(
        Sample(tuple(1e3 * each for each in taken.values)),
        what="most common value of a frame of pandas, in process",
        case="whole numbers",
        n=len(people),
        dtype="int64",
        unit="ms",
        at_most=20.0,
    )


_COUNTS: tuple[tuple[str, Callable[[Dataset], object], str], ...] = (
    ("count, whole numbers", lambda data: data.count(epsilon=1.0), "SELECT count(DISTINCT session) FROM rows"),
    (
        "histogram, one value per unit chosen, whole numbers",
        lambda data: data.histogram("page", candidates=range(1, PAGES + 1), epsilon=1.0),
        "SELECT page, count(DISTINCT session) FROM rows GROUP BY page",
    ),
    (
        "sum, whole numbers",
        lambda data: data.sum("page", clip=(0, 100_000), epsilon=1.0),
        "SELECT sum(least(100000, each)) FROM (SELECT sum(page) AS each FROM rows GROUP BY session)",
    ),
)
"""Questions, and the nearest query without privacy. DuckDB's counts are of all values of a unit."""


_UNKNOWN: tuple[tuple[str, Callable[[Dataset], object]], ...] = (
    ("top 10, one value per unit chosen", lambda data: data.top_k("page", 10, epsilon=1.0, delta=DELTA)),
    ("all names, one value per unit chosen", lambda data: data.values("page", epsilon=1.0, delta=DELTA)),
)


def _beside(path: Path, ours: Callable[[Dataset], object], theirs: str) -> Sample:
    query = theirs.replace("rows", f"read_parquet('{path}')")

    def plain() -> object:
        with duckdb.connect() as connection:
            return connection.execute(query).fetchall()

    return ratio(lambda: ours(Dataset(path, unit="session")), plain, pairs=7, budget=_SETTLED)


def _checked(path: Path) -> Sample:
    visits, pages = Dataset(path, unit="session"), range(1, PAGES + 1)
    return ratio(
        lambda: check(path, "page", unit="session", candidates=pages),
        lambda: visits.most_common("page", candidates=pages, epsilon=1.0),
        pairs=7,
        budget=_SETTLED,
    )


def write_clicks(path: Path, rows: int) -> Path:
    """A table of sessions and the pages they looked at, a few pages far more than most."""
    generator = np.random.default_rng(SEED)
    schema = pa.schema([("session", pa.int64()), ("page", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, PIECE):
            size = min(PIECE, rows - start)
            page = np.minimum(generator.zipf(1.3, size), PAGES).astype(np.int64)
            writer.write_table(pa.table({"session": generator.integers(0, rows // 8, size), "page": page}, schema))
    return path


def write_values(path: Path, rows: int) -> Path:
    """The same with a million different pages: half of the rows have one of few, the others any of them."""
    generator = np.random.default_rng(SEED)
    schema = pa.schema([("session", pa.int64()), ("page", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, PIECE):
            size = min(PIECE, rows - start)
            page = np.minimum(generator.zipf(1.3, size), PAGES)
            page[::2] = generator.integers(0, 10**6, page[::2].size)
            writer.write_table(pa.table({"session": generator.integers(0, rows, size), "page": page}, schema))
    return path


def write_people(path: Path, rows: int) -> Path:
    """A table of people, one row each, and their ages."""
    generator = np.random.default_rng(SEED)
    ages = np.clip(generator.normal(45.0, 18.0, rows), 0, 119).astype(np.int64)
    pq.write_table(pa.table({"person": generator.permutation(rows), "age": ages}), path)
    return path


def _plain_median(path: Path) -> object:
    query = f"SELECT any_value(age) AS age FROM read_parquet('{path}') GROUP BY person"
    with duckdb.connect() as connection:
        return np.median(connection.execute(query).fetchnumpy()["age"])


def _as_text(path: Path, ending: str) -> Path:
    """The same table as lines of text."""
    text, format = path.with_suffix(f".{ending}"), "json" if ending == "jsonl" else ending
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM '{path}') TO '{text}' (FORMAT {format})")
    return text


def _against_duckdb(path: Path, reader: str = "read_parquet") -> Sample:
    query = f"SELECT page, count(DISTINCT session) FROM {reader}('{path}') GROUP BY page ORDER BY 2 DESC LIMIT 10"

    def plain() -> object:
        with duckdb.connect() as connection:
            return connection.execute(query).fetchall()

    return ratio(lambda: ask(path), plain, budget=_SETTLED)


def ask(path: Path, memory_limit: str | None = None) -> object:
    """The question, from a path to a release."""
    data = Dataset(path, unit="session", memory_limit=memory_limit)
    return data.top_k("page", 10, candidates=range(1, PAGES + 1), epsilon=1.0)


def ask_unlisted(path: Path) -> object:
    """The same without a public list of pages; each session counts for one page."""
    return Dataset(path, unit="session").top_k("page", 10, epsilon=1.0, delta=DELTA)


def _peak(path: Path) -> int:
    """Bytes a fresh process holds at most while it asks."""
    command = [sys.executable, "-m", "benchmarks.table_probe", str(path), LIMIT]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


_COLUMNS, _VALUES = 10, 20
_HISTOGRAMS = [
    {"ask": "histogram", "column": f"c{place}", "candidates": range(_VALUES), "epsilon": 0.1}
    for place in range(_COLUMNS)
]
_CONDITIONS = [
    {"ask": "count", "column": f"c{place}", "between": (3, 7 + place), "epsilon": 0.1} for place in range(_COLUMNS)
]


def _together(folder: Path) -> Iterator[Line]:
    """Ten counting questions in one pass beside ten passes."""
    parquet = folder / "ten.parquet"
    generator = np.random.default_rng(SEED)
    columns = {f"c{place}": generator.integers(0, _VALUES, ROWS) for place in range(_COLUMNS)}
    pq.write_table(pa.table({"who": generator.integers(0, ROWS // 10, ROWS), **columns}), parquet)
    text = folder / "ten.csv"
    duckdb.execute(f"COPY (SELECT * FROM read_parquet('{parquet}')) TO '{text}' (HEADER)")
    asked = {
        "most common of 20 values": [each | {"ask": "most_common"} for each in _HISTOGRAMS],
        "one of 20 values of each unit": _HISTOGRAMS,
        "units that meet a condition": _CONDITIONS,
    }
    for path, kind in ((parquet, "Parquet"), (text, "CSV")):
        data = Dataset(path, unit="who")
        for case, questions in asked.items():
            yield Line.of(
                ratio(
                    lambda data=data, questions=questions: data.ask(questions),
                    lambda data=data, questions=questions: [data.ask([each]) for each in questions],
                    pairs=5,
                    budget=_SETTLED,
                ),
                what="ten counting questions in one pass / one by one",
                case=f"{case}, {kind}",
                n=ROWS,
                dtype="int64",
                unit="x",
                at_most=0.5,
            )
