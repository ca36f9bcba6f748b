"""Frames that are changed while they are open: other rows are read, other columns are refused and cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError
from dpselect.rows.frames import frame as frames
from dpselect.rows.opening import open_table
from dpselect.summaries import PublicCandidates
from tests.rows.placed import Stranger
from tests.rows.tables import count

CITY, PERSON, NOTE = [1] * 6 + [2, 2, 2], [7] * 6 + [1, 2, 3], [2] * 9
NUMBERS = range(len(CITY))
REFUSED = (
    r"^source=<(pandas|polars) DataFrame>: expected a table with the columns that it had when it was opened, of the "
    r"same types\. It was changed since; make a new Dataset\.$"
)


def columns() -> dict[str, list[int]]:
    return {"city": CITY, "person": PERSON, "note": NOTE}


def asked(table: Any, **others: Any) -> Any:
    return {"unit": table.unit("person"), "column": table.column("city"), **others}


IN_PANDAS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "inserted": lambda frame: frame.insert(1, "row", NUMBERS),
    "inserted first": lambda frame: frame.insert(0, "row", NUMBERS),
    "added": lambda frame: frame.__setitem__("row", NUMBERS),
    "popped": lambda frame: frame.pop("person"),
    "dropped": lambda frame: frame.drop(columns="note", inplace=True),
    "renamed": lambda frame: setattr(frame, "columns", ["person", "city", "note"]),
    "without names": lambda frame: setattr(frame, "columns", [0, 1, 2]),
    "emptied": lambda frame: frame.drop(columns=["city", "person", "note"], inplace=True),
    "missing value": lambda frame: frame.__setitem__("city", [*CITY[:-1], np.nan]),
    "missing unit": lambda frame: frame.__setitem__("person", [*PERSON[:-1], np.nan]),
    "a broken number": lambda frame: frame.__setitem__("city", [*CITY[:-1], 1.5]),
    "a text": lambda frame: frame.__setitem__("city", [*CITY[:-1], "2 (Ann)"]),
    "text": lambda frame: frame.__setitem__("city", list(map(str, CITY))),
}
IN_POLARS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "inserted": lambda frame: frame.insert_column(1, pl.Series("row", NUMBERS)),
    "replaced": lambda frame: frame.replace_column(0, pl.Series("city", [*CITY[:-1], 1.5], strict=False)),
    "popped": lambda frame: frame.drop_in_place("note"),
    "renamed": lambda frame: setattr(frame, "columns", ["person", "city", "note"]),
    "text": lambda frame: frame.replace_column(0, pl.Series("city", list(map(str, CITY)))),
}
CHANGES = [(pd.DataFrame, change) for change in IN_PANDAS.values()]
CHANGES += [(pl.DataFrame, change) for change in IN_POLARS.values()]
NAMED = [*(f"pandas, {name}" for name in IN_PANDAS), *(f"polars, {name}" for name in IN_POLARS)]


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("make", "change"), CHANGES, ids=NAMED)
def test_other_columns_are_refused(make: Callable[[Any], Any], change: Callable[[Any], Any]) -> None:
    frame = make(columns())
    data = dps.Dataset(frame, unit="person")
    data.most_common("city", candidates=[1, 2], epsilon=10.0)
    change(frame)
    with pytest.raises(InvalidDataError, match=REFUSED) as caught:
        data.most_common("city", candidates=[1, 2], epsilon=1.0)
    assert caught.value.__context__ is None
    with pytest.raises(InvalidDataError, match=REFUSED):
        data.median("city", bounds=(0, 9), step=1, epsilon=1.0)


@pytest.mark.parametrize(("make", "change"), [(pd.DataFrame, IN_PANDAS["popped"]), (pl.DataFrame, IN_POLARS["text"])])
def test_a_refusal_costs_nothing(make: Callable[[Any], Any], change: Callable[[Any], Any], tmp_path: Path) -> None:
    frame = make(columns())
    ledger = dps.Ledger(tmp_path / "l.db")
    ledger.open_account("visits", epsilon=20.0, unit="person")
    data = dps.Dataset(frame, unit="person", ledger=ledger, account="visits")
    data.most_common("city", candidates=[1, 2], epsilon=10.0)
    change(frame)
    with pytest.raises(InvalidDataError, match=REFUSED):
        data.most_common("city", candidates=[1, 2], epsilon=1.0)
    assert ledger.remaining("visits") == 10.0


@pytest.mark.parametrize("rows", [9, 8, 0])
def test_the_refusal_depends_on_the_types_only(rows: int) -> None:
    """Control: read as what it was, an object among whole numbers stops all, and a missing number is -2^63."""
    frame = pd.DataFrame(columns()).head(rows).copy()
    table: Any = open_table(frame)
    frame["city"] = [*map(object_of, CITY)][:rows]
    frame["city"] = frame["city"].astype(object)
    with pytest.raises(InvalidDataError, match=REFUSED):
        table.count(**asked(table, candidates=PublicCandidates.given([1, 2])))


def object_of(city: int) -> object:
    return "2 (Ann)" if city == 2 else city


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_other_rows_are_read(make: Callable[[Any], Any]) -> None:
    frame = make(columns())
    table: Any = open_table(frame)
    candidates = PublicCandidates.given([1, 2, 3])
    assert table.count(**asked(table, candidates=candidates))[0].counts.tolist() == [1, 3, 0]
    if isinstance(frame, pd.DataFrame):
        frame.loc[len(frame)] = [3, 8, 0]
        frame.loc[0, "city"] = 3
    else:
        frame.extend(pl.DataFrame({"city": [3], "person": [8], "note": [0]}))
        frame[0, "city"] = 3
    assert table.count(**asked(table, candidates=candidates))[0].counts.tolist() == [1, 3, 2]


def test_a_type_that_is_read_alike_is_the_same() -> None:
    """How wide numbers are, which categories there are: a row may decide that, and so it must not matter."""
    narrow = {"city": np.array(CITY, np.int8), "person": pd.Categorical(list(map(str, PERSON)))}
    frame = pd.DataFrame(narrow)
    table: Any = open_table(frame)
    frame["city"] = np.array([300, *CITY[1:]], np.int16)
    frame["person"] = frame["person"].cat.add_categories(["Ann"])
    frame.loc[1, "person"] = "Ann"
    found = table.count(**asked(table, candidates=PublicCandidates.given([1, 2, 300])))
    assert found[0].counts.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("make", "change"),
    [(pd.DataFrame, IN_PANDAS[name]) for name in ("inserted", "popped", "renamed", "text", "a broken number")]
    + [(pl.DataFrame, IN_POLARS[name]) for name in ("inserted", "renamed", "text")],
)
def test_what_is_read_is_what_was_looked_at(
    make: Callable[[Any], Any], change: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread changes the frame just after its columns were found to be the same."""
    frame = make(columns())
    table: Any = open_table(frame)
    check, changed = frames.check_unchanged, []

    def checked(*given: Any, **named: Any) -> None:
        check(*given, **named)
        change(frame)
        changed.append(frame)

    for module in ("pandas_frame", "query_engines"):
        monkeypatch.setattr(f"dpselect.rows.frames.{module}.check_unchanged", checked)
    found = table.count(**asked(table, candidates=PublicCandidates.given([1, 2])))
    assert changed
    assert found[0].counts.tolist() == [1, 3]


def test_streams_that_change_their_columns() -> None:
    frame = Stranger(pa.table({"unit": [1], "value": [1]}))
    table: Any = open_table(frame)
    for other in ({"value": [1], "unit": [1]}, {"unit": [1], "value": ["1"]}, {"unit": [1], "value": [1], "x": [1]}):
        frame.table = pa.table(other)
        with pytest.raises(InvalidDataError, match="the columns that it had when it was opened, of the same types"):
            table.count(unit=table.unit("unit"), column=table.column("value"), candidates=PublicCandidates.given([1]))


WRITE: dict[str, Callable[[pa.Table, Path], None]] = {"parquet": pq.write_table, "feather": feather.write_feather}


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("odd", [2, 2**40])
def test_files_of_a_data_set_that_got_other_types(kind: str, odd: int, tmp_path: Path) -> None:
    """Arrow remembers what files it has read were like; whether all fit the data set's types is up to one row."""
    path = tmp_path / "t"
    WRITE[kind](pa.table({"unit": [1, 2], "value": pa.array([1, 2], pa.int32())}), path)
    table: Any = open_table(ds.dataset(path, format=kind))
    candidates = PublicCandidates.given([1, 2])

    def counts() -> Any:
        return table.count(unit=table.unit("unit"), column=table.column("value"), candidates=candidates)[0].counts

    assert counts().tolist() == [1, 1]
    path.unlink()
    WRITE[kind](pa.table({"unit": [1, 2], "value": pa.array([1, odd], pa.int64())}), path)
    with pytest.raises(InvalidDataError, match="files with columns of the same types"):
        counts()


def test_a_new_data_set_reads_the_frame_as_it_is() -> None:
    frame = pd.DataFrame(columns())
    open_table(frame)
    frame.insert(1, "row", NUMBERS)
    frame.loc[8, "city"] = np.nan
    assert count(frame, [1, 2], unit="person", column="city") == [1, 2]
