"""Texts of many bytes: the same answers, without the memory."""

from __future__ import annotations

import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpselect import SelectionError
from dpselect.rows import duckdb as engine
from dpselect.rows import library_files, scan
from dpselect.rows.arrow import PIECE_BYTES, plain_batches
from dpselect.rows.columns import Column, Holds
from dpselect.rows.scan import LONG, LONG_UNIT, Cell, short_units
from dpselect.summaries import CandidateKind
from tests.rows.tables import Opened, count, gather, opened
from tests.slow import SLOW

MEASURE = """
import sys
import duckdb
import pyarrow
from dpselect.rows import duckdb as engine
from dpselect.rows import scan
from tests.rows.tables import count, opened

def kibibytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

scan.LONG = scan.LONG_UNIT = int(sys.argv[1])
engine.SETTINGS["threads"] = "1"
for path in sys.argv[3:]:
    table = opened(path, memory_limit=int(sys.argv[2]) << 20)
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = kibibytes("VmRSS")
    assert count(table, ["x", "y"]) == [64, 0]
    print((kibibytes("VmHWM") - before) / 1024)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Rows of nearly 1 MiB: long units with a candidate, and short ones with something long."""
    folder, long = tmp_path_factory.mktemp("long"), "z" * (1 << 20)
    rows = [(f"{long[100:]}{i}", "x") if i % 3 else (str(i), long[100:]) for i in range(96)]
    paths = [folder / name for name in ("short.csv", "t.csv", "t.jsonl", "t.parquet")]
    paths[0].write_text("unit,value\n" + "".join(f"{i},x\n" for i in range(64)))
    paths[1].write_text("unit,value\n" + "".join(f"{unit},{value}\n" for unit, value in rows))
    if SLOW:  # the others are enough by day
        paths[2].write_text("".join(f'{{"unit": "{unit}", "value": "{value}"}}\n' for unit, value in rows))
    table = pa.table([*zip(*rows, strict=True)], names=["unit", "value"])
    pq.write_table(table, paths[3], use_dictionary=False, compression="none", write_batch_size=1)
    return paths


def mebibytes(first: Path, file: Path, longest: int) -> float:
    """How much a file's question takes, in a process of its own in which a first question was asked."""
    limit = "32" if longest == LONG_UNIT else "2000"  # with 32 there would be no answer: see the next test
    command = [sys.executable, "-c", MEASURE, str(longest), limit, str(first), str(file)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return float(ended.stdout.split()[1])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are read from /proc")
@pytest.mark.parametrize(("longest", "bounded"), [(LONG_UNIT, True), (1 << 30, False)])
def test_long_texts_do_not_pile_up(files: list[Path], longest: int, bounded: bool) -> None:
    # Text is read in blocks of 4 MiB, of which there are several copies; Parquet nearly row by row.
    most = dict(zip(files[1:], (180, 120, 80), strict=True))
    asked = files[1:] if SLOW else files[-1:]
    peaks = [mebibytes(files[0], file, longest) for file in asked]
    within = [peak < most[file] for file, peak in zip(asked, peaks, strict=True)]
    assert all(within) == bounded, peaks


@pytest.mark.parametrize("longest", [LONG_UNIT, 1 << 30])
def test_long_units_do_not_decide_whether_there_is_an_answer(
    files: list[Path], monkeypatch: pytest.MonkeyPatch, longest: int
) -> None:
    monkeypatch.setattr(scan, "LONG", max(LONG, longest))
    monkeypatch.setattr(scan, "LONG_UNIT", longest)
    monkeypatch.setitem(engine.SETTINGS, "threads", "1")
    table = opened(str(files[1]), memory_limit=32 << 20)
    if longest == LONG_UNIT:
        assert count(table, ["x", "y"]) == [64, 0]
    else:
        with pytest.raises(SelectionError, match="needs more memory"):
            count(table, ["x", "y"])


def test_long_units_are_told_apart() -> None:
    long = "z" * 5000
    digest = blake2b(long.encode(), digest_size=32).hexdigest()
    units = [long, f" {long}\n", long + "z", "z" * LONG_UNIT, digest[1:], digest, f"0{digest}", None]
    for type_ in (pa.string(), pa.binary()):
        table = opened(pa.table({"unit": pa.array(units, pa.string()).cast(type_), "value": [1] * len(units)}))
        # Of text, blanks around it do not matter.
        different = len(units) - 1 - pa.types.is_string(type_)
        assert count(table, [1, 2]) == [different, 0]
        assert len(gather(table, bounds=(0, 9))) == different
        # The same text twice, with blanks around it or not, is one unit with two rows.
        assert len(gather(table, bounds=(0, 9), most=2)) == len(units) - 1


@pytest.mark.parametrize("longest", [64, 1 << 30])
def test_sorting_units_takes_little_however_long_they_are(monkeypatch: pytest.MonkeyPatch, longest: int) -> None:
    monkeypatch.setattr(scan, "LONG_UNIT", longest)
    monkeypatch.setitem(engine.SETTINGS, "threads", "1")
    digest = blake2b(b"v" * 65, digest_size=32).hexdigest()
    units = ["u" * 500 + str(i) for i in range(20_000)] + ["v" * 64, f"0{digest}", "v" * 65]
    table = opened(pa.table({"unit": units * 3, "value": [1] * len(units) * 3}), memory_limit=32 << 20)
    if longest == 64:
        assert len(gather(table, bounds=(0, 9), most=2)) == 2 * len(units)
    else:
        with pytest.raises(SelectionError, match="needs more memory"):
            gather(table, bounds=(0, 9), most=2)


@pytest.mark.slow
@pytest.mark.parametrize("longest", [64, 1 << 30])
def test_grouping_rows_of_one_long_unit_takes_little(monkeypatch: pytest.MonkeyPatch, longest: int) -> None:
    monkeypatch.setattr(scan, "LONG_UNIT", longest)
    monkeypatch.setitem(engine.SETTINGS, "threads", "1")
    size = 200_000
    unit = pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array(["u" * 1000]))
    table = opened(pa.table({"unit": unit, "value": np.arange(size)}), memory_limit=24 << 20)
    listed = {"column": "value", "candidates": range(size)}
    if longest == 64:
        assert sum(count(table, range(size))) == size
        assert sum(*table.totals("value", (0, 1), **listed)) == size - 1
    else:
        with pytest.raises(SelectionError, match="needs more memory"):
            table.totals("value", (0, 1), **listed)


@pytest.mark.parametrize("type_", [pa.string(), pa.binary()])
def test_sorted_units_are_told_apart(type_: pa.DataType) -> None:
    long = [b"v" * 63, b"v" * 64, b"v" * 65, b"0" + blake2b(b"v" * 65, digest_size=32).hexdigest().encode()]
    units = pa.array([unit for unit in long for _ in range(3)]).cast(type_)
    table = opened(pa.table({"unit": units, "value": [1] * len(units)}))
    assert len(gather(table, bounds=(0, 9), most=2)) == 8


def test_slices_and_missing_units() -> None:
    column = pa.array(["a", "b" * 3000, None, "c" * 3000, "b" * 3000, "d"], pa.large_string())
    whole = short_units(column)
    assert short_units(column.slice(1, 4)).equals(whole.slice(1, 4))
    assert whole[2].as_py() is None
    assert whole[1] == whole[4] != whole[3]
    assert short_units(column.slice(0, 0)).to_pylist() == []
    assert short_units(pa.nulls(3, pa.large_string())).null_count == 3


@pytest.mark.parametrize("kind", [kind for kind in CandidateKind if kind is not CandidateKind.TEXT])
def test_long_texts_are_no_numbers_dates_or_booleans(kind: CandidateKind) -> None:
    text = {CandidateKind.DATE: "2026-11-21", CandidateKind.BOOLEAN: "true"}.get(kind, "7")
    cells = pa.array([" " * (LONG - len(text)) + text, " " * LONG + text, "\u00e9" * LONG, None], pa.large_string())
    assert Cell(Column("value", Holds.ANYTHING), kind).made(cells, None).to_pylist() == [cells[0].as_py()] + [None] * 3


def test_every_question_finds_what_is_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    who, where = "w" * 3000, "p" * 3000
    rows = [(f"{who}{i % 4}", f"{where}{i % 3}", f"{7 + i % 2}") for i in range(24)]
    path = tmp_path / "t.csv"
    path.write_text("unit,place,number\n" + "".join(",".join(row) + "\n" for row in rows))

    def answers() -> list[Any]:
        table, places = opened(str(path)), [f"{where}0", f"{where}2", "x", "y" * 5000]
        groups = ("place", places, 4)
        counts = [*table.counts("number", [7, 8], groups=groups), *table.counts("place", places)]
        totals = table.totals("number", (0, 100), column="place", candidates=places)
        return [counts, totals, table.numbers("number", (0, 9), groups=groups, most=2)]

    found = answers()
    assert sum(map(sum, found[0])) > 0
    monkeypatch.setattr(scan, "LONG", 1 << 30)
    assert answers() == found


def pieces(table: Opened) -> list[pa.Table]:
    """What is written out of all columns at once."""
    read = table.table.source.batches(table.table.columns)
    return [pa.table({column.name: array for column, array in batch.items()}) for batch in read]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["object", "string[python]", "string[pyarrow]", "category"])
def test_pandas_columns_are_written_out_in_pieces(dtype: str) -> None:
    long = "z" * (1 << 20)
    frame = pd.DataFrame({"unit": range(60), "value": pd.Series([long] * 58 + [None, "x"]).astype(dtype)})
    table = opened(frame)
    batches = pieces(table)
    assert sum(batch.num_rows for batch in batches) == 60
    assert max(batch.nbytes for batch in batches) < 2 * PIECE_BYTES
    found = [value for batch in batches for value in batch.column("value").to_pylist()]
    assert found == [long] * 58 + [None, "x"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "dtype",
    [object, "string[python]", pl.Categorical(), pl.Enum([f"{i}{'z' * (1 << 20)}" for i in range(30)])],
    ids=["objects", "strings", "Categorical", "Enum"],
)
def test_categories_are_written_out_in_pieces(dtype: Any) -> None:
    texts = [f"{i % 30}{'z' * (1 << 20)}" for i in range(60)]
    if not isinstance(dtype, pl.DataType):
        categories = pd.Index(pd.Series([*dict.fromkeys(texts), "\ud800"], dtype=dtype))
        frame: Any = pd.DataFrame({"unit": range(61), "value": pd.Categorical([*texts, None], categories=categories)})
    else:
        frame = pl.DataFrame({"unit": range(61), "value": pl.Series([*texts, None], dtype=dtype)})
    table = opened(frame)
    batches = pieces(table)
    assert [text for batch in batches for text in batch.column("value").to_pylist()] == [*texts, None]
    assert len(batches) > 3
    assert max(batch.nbytes for batch in batches) < 2 * PIECE_BYTES


@pytest.mark.parametrize("looked_up", [True, False])
def test_a_text_that_many_rows_refer_to_is_never_written_out_in_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked_up: bool
) -> None:
    """One unit's rows need no room in the file, so that how long rows are on average says nothing."""
    if not looked_up:
        monkeypatch.setattr(library_files, "_longest_repeated", lambda *_: 0)
    rows, longest = 3000, 1 << 15
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"unit": [7] * rows, "value": ["z" * longest] * rows}), path)
    read: list[int] = []

    def watched(batch: pa.RecordBatch, *others: Any) -> Any:
        read.append(batch.nbytes)
        return plain_batches(batch, *others)

    monkeypatch.setattr(library_files, "plain_batches", watched)
    table = opened(str(path))
    written = [batch.nbytes for batch in pieces(table)]
    assert sum(written) > rows * longest
    assert max(written) < 2 * PIECE_BYTES
    assert (max(read) < 2 * PIECE_BYTES) is looked_up


@pytest.mark.slow  # takes gigabytes
@pytest.mark.parametrize("type_", ["VARCHAR", "BLOB"])
def test_of_relations_very_long_text_is_left_out_and_stops_nothing(type_: str) -> None:
    database = duckdb.connect()
    database.execute(f"CREATE TABLE t AS SELECT range AS unit, 'x'::{type_} AS value FROM range(3)")
    database.execute(
        f"INSERT INTO t SELECT 7, repeat('z', 3000000)::{type_} FROM range(750)"
    )  # more than 2 GiB in one batch
    table = opened(database.table("t"))
    if type_ == "VARCHAR":
        assert count(table, ["x", "z" * 3_000_000]) == [3, 0]
    else:
        assert count(table, [0, 1, 7], unit="value", column="unit") == [1, 1, 0]
