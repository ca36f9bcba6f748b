"""Files that are cut off or overwritten, steps that fail on a row: nothing is charged, drawn or shown."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from tests.attacks.test_messages import SECRET, everything_said
from tests.rows import engines
from tests.watched import forbid_drawing

pytestmark = engines.deprecations

READERS: dict[str, Callable[[str], tuple[Any, dict[str, Any]]]] = {
    "path": lambda path: (path, {}),
    "glob": lambda path: (str(Path(path).parent / "*.parquet"), {}),
    "lazy": lambda path: (pl.scan_parquet(path), {}),
    "relation": lambda path: (duckdb.connect().read_parquet(path), {}),
    "ibis": lambda path: (ibis.duckdb.connect().read_parquet(path), {}),
}
QUESTIONS: list[Callable[[dps.Dataset], dps.Release]] = [
    lambda data: data.most_common("value", candidates=range(9), epsilon=1.0),
    lambda data: data.median("value", bounds=(0, 9), continuous=True, epsilon=1.0),
    lambda data: data.most_common("name", candidates=["M"], epsilon=1.0),
]


@pytest.fixture
def ledger(tmp_path_factory: pytest.TempPathFactory) -> dps.Ledger:
    ledger = dps.Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
    ledger.open_account("people", epsilon=9, unit="unit")
    return ledger


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Four row groups, of a compression that notices damage; what is asked for might be in each of them."""
    units = np.arange(40_000)
    names = [("A", "Z", f"{SECRET}{unit}")[min(2, unit % 10_000)] for unit in units.tolist()]
    columns = {"unit": units, "value": (units * 7919) % 9973, "name": names}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=10_000, compression="zstd")
    return tmp_path / "t.parquet"


def overwrite(file: Path) -> None:
    """Damage each column of the third row group, where no reader can miss it; header and footer stay as they are.

    Of damage to a value alone nobody could know: Parquet need not have checksums.
    """
    group = pq.ParquetFile(file).metadata.row_group(2)
    content = bytearray(file.read_bytes())
    for place in range(group.num_columns):
        column = group.column(place)
        first_page = column.dictionary_page_offset or column.data_page_offset
        content[first_page : first_page + 100] = b"\xff" * 100
    file.write_bytes(content)


def assert_silent(
    ask: Callable[[], object],
    ledger: dps.Ledger,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    forbid_drawing(monkeypatch)
    with pytest.raises(dps.errors.InvalidDataError, match=r"^source=") as caught:
        ask()
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert SECRET not in str(caught.value) + repr(caught.value) + caplog.text + "".join(capfd.readouterr())
    assert SECRET not in everything_said(caught.value)
    assert ledger.account("people").entries == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("question", range(len(QUESTIONS)))
@pytest.mark.parametrize("reader", READERS)
def test_a_row_group_that_is_damaged(
    reader: str,
    question: int,
    file: Path,
    ledger: dps.Ledger,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    overwrite(file)
    given, options = READERS[reader](str(file))
    data = dps.Dataset(given, unit="unit", ledger=ledger, account="people", **options)
    assert_silent(partial(QUESTIONS[question], data), ledger, monkeypatch, caplog, capfd)


@pytest.mark.parametrize("reader", [each for each in READERS if each not in ("relation", "ibis")])
def test_a_footer_that_is_gone(
    reader: str,
    file: Path,
    ledger: dps.Ledger,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Arrow and DuckDB find out by themselves, before there is anything that could be given."""
    content = file.read_bytes()
    for length in (len(content) - 3, len(content) // 2, 4):
        file.write_bytes(content[:length])
        given, options = READERS[reader](str(file))
        opened = partial(dps.Dataset, given, unit="unit", **options)
        assert_silent(opened, ledger, monkeypatch, caplog, capfd)


TEXTS = pa.table({"unit": [1, 2, 3], "value": ["7", SECRET, "8"]})


STEPS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "polars": (
        lambda: pl.DataFrame(TEXTS).lazy().with_columns(pl.col("value").cast(pl.Int64)),
        lambda frame: frame.collect(),
    ),
    "relation": (
        lambda: engines.duckdb_relation(TEXTS).project("unit, CAST(value AS BIGINT) AS value"),
        lambda relation: relation.fetchall(),
    ),
    "ibis": (
        lambda: engines.ibis_on_duckdb(TEXTS).mutate(value=ibis._.value.cast("int64")),
        lambda table: table.execute(),
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_of_the_caller_s_that_fails_on_a_row(
    step: str,
    ledger: dps.Ledger,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """As `docs/engines.md` says it does; what the engine says then quotes the row, as the first line shows."""
    make, run = STEPS[step]
    frame = make()
    with pytest.raises(Exception, match=SECRET):
        run(frame)
    data = dps.Dataset(frame, unit="unit", ledger=ledger, account="people")
    for ask in (QUESTIONS[0], QUESTIONS[1]):
        assert_silent(partial(ask, data), ledger, monkeypatch, caplog, capfd)


def test_nothing_to_read(tmp_path: Path) -> None:
    for source, reason in (
        (tmp_path, "a file, not a folder. It contains no file"),
        (tmp_path / "*.parquet", "a glob that matches at least one file"),
        (tmp_path / "t.parquet", "an existing file"),
    ):
        with pytest.raises(dps.errors.InvalidDataError, match=reason):
            dps.Dataset(source, unit="unit")


def test_tables_that_have_no_columns_or_two_of_one_name(tmp_path: Path) -> None:
    """Of files and frames in memory: `test_sources` and `test_frames`; of Spark and of servers: their own files."""
    pq.write_table(pa.table({}), tmp_path / "t.parquet")
    connection = duckdb.connect()
    for source in (
        pl.LazyFrame(),
        connection.sql("SELECT 1 AS unit, 2 AS value, 3 AS value"),
        connection.sql("SELECT 1 AS unit, 2 AS value").project('unit, value, value AS "Unit"'),
        tmp_path / "t.parquet",
    ):
        with pytest.raises(dps.errors.InvalidDataError, match="columns"):
            dps.Dataset(source, unit="unit")
