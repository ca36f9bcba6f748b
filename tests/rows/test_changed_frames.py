"""Frames that are changed while they are open: other rows are read, other columns are refused and cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows.placed import Stranger
from tests.rows.tables import Opened, count, opened
from tests.watched import between_look_and_reading

CITY, PERSON, NOTE = [1] * 6 + [2, 2, 2], [7] * 6 + [1, 2, 3], [2] * 9
NUMBERS = range(len(CITY))
REFUSED = (
    r"^source=<(pandas|polars) DataFrame>: expected a table with the columns that it had when it was opened, of the "
    r"same types\. It was changed since; make a new Dataset\.$"
)


def columns() -> dict[str, list[int]]:
    return {"city": CITY, "person": PERSON, "note": NOTE}


def cities(table: Opened, *listed: int) -> list[int]:
    return count(table, listed, unit="person", column="city")


IN_PANDAS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "popped": lambda frame: frame.pop("person"),
    "without names": lambda frame: setattr(frame, "columns", [0, 1, 2]),
    "emptied": lambda frame: frame.drop(columns=["city", "person", "note"], inplace=True),
    "missing value": lambda frame: frame.__setitem__("city", [*CITY[:-1], np.nan]),
    "missing unit": lambda frame: frame.__setitem__("person", [*PERSON[:-1], np.nan]),
    "a broken number": lambda frame: frame.__setitem__("city", [*CITY[:-1], 1.5]),
    "a text": lambda frame: frame.__setitem__("city", [*CITY[:-1], "2 (Ann)"]),
    "text": lambda frame: frame.__setitem__("city", list(map(str, CITY))),
}
IN_POLARS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "replaced": lambda frame: frame.replace_column(0, pl.Series("city", [*CITY[:-1], 1.5], strict=False)),
    "popped": lambda frame: frame.drop_in_place("person"),
    "renamed": lambda frame: setattr(frame, "columns", ["place", "person", "note"]),
    "text": lambda frame: frame.replace_column(0, pl.Series("city", list(map(str, CITY)))),
}
CHANGES = [(pd.DataFrame, change) for change in IN_PANDAS.values()]
CHANGES += [(pl.DataFrame, change) for change in IN_POLARS.values()]
NAMED = [*(f"pandas, {name}" for name in IN_PANDAS), *(f"polars, {name}" for name in IN_POLARS)]
OTHERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "pandas, inserted": (pd.DataFrame, lambda frame: frame.insert(0, "row", NUMBERS)),
    "pandas, dropped": (pd.DataFrame, lambda frame: frame.drop(columns="note", inplace=True)),
    "pandas, text": (pd.DataFrame, lambda frame: frame.__setitem__("note", list(map(str, CITY)))),
    "polars, inserted": (pl.DataFrame, lambda frame: frame.insert_column(1, pl.Series("row", NUMBERS))),
    "polars, dropped": (pl.DataFrame, lambda frame: frame.drop_in_place("note")),
}


@pytest.mark.parametrize("change", OTHERS)
def test_columns_that_are_not_asked_for_may_come_and_go(change: str) -> None:
    make, then = OTHERS[change]
    frame = make(columns())
    table = opened(frame)
    then(frame)
    assert cities(table, 1, 2) == [1, 3]


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
    table = opened(frame)
    frame["city"] = [*map(object_of, CITY)][:rows]
    frame["city"] = frame["city"].astype(object)
    with pytest.raises(InvalidDataError, match=REFUSED):
        cities(table, 1, 2)


def object_of(city: int) -> object:
    return "2 (Ann)" if city == 2 else city


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_other_rows_are_read(make: Callable[[Any], Any]) -> None:
    frame = make(columns())
    table = opened(frame)
    assert cities(table, 1, 2, 3) == [1, 3, 0]
    if isinstance(frame, pd.DataFrame):
        frame.loc[len(frame)] = [3, 8, 0]
        frame.loc[0, "city"] = 3
    else:
        frame.extend(pl.DataFrame({"city": [3], "person": [8], "note": [0]}))
        frame[0, "city"] = 3
    assert cities(table, 1, 2, 3) == [1, 3, 2]


def test_a_type_that_is_read_alike_is_the_same() -> None:
    """How wide numbers are, which categories there are: a row may decide that, and so it must not matter."""
    narrow = {"city": np.array(CITY, np.int8), "person": pd.Categorical(list(map(str, PERSON)))}
    frame = pd.DataFrame(narrow)
    table = opened(frame)
    frame["city"] = np.array([300, *CITY[1:]], np.int16)
    frame["person"] = frame["person"].cat.add_categories(["Ann"])
    frame.loc[1, "person"] = "Ann"
    assert cities(table, 1, 2, 300) == [2, 3, 1]


@pytest.mark.parametrize(
    ("make", "change"),
    [(pd.DataFrame, IN_PANDAS[name]) for name in ("popped", "emptied", "text", "a broken number")]
    + [(pl.DataFrame, IN_POLARS[name]) for name in ("popped", "renamed", "text")],
)
def test_what_is_read_is_what_was_looked_at(
    make: Callable[[Any], Any], change: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread changes the frame just after its columns were found to be the same."""
    frame = make(columns())
    table = opened(frame)
    changed: list[Any] = []

    def then() -> None:
        change(frame)
        changed.append(frame)

    between_look_and_reading(monkeypatch, then)
    found = cities(table, 1, 2)
    assert changed
    assert found == [1, 3]


def test_streams_that_change_their_columns() -> None:
    frame = Stranger(pa.table({"unit": [1], "value": [1]}))
    table = opened(frame)
    for other in ({"value": [1]}, {"unit": [1], "value": ["1"]}, {"unit": [1], "value": [1.5]}):
        frame.table = pa.table(other)
        with pytest.raises(InvalidDataError, match="the columns that it had when it was opened, of the same types"):
            count(table, [1])


def test_a_new_data_set_reads_the_frame_as_it_is() -> None:
    frame = pd.DataFrame(columns())
    opened(frame)
    frame.insert(1, "row", NUMBERS)
    frame.loc[8, "city"] = np.nan
    assert count(frame, [1, 2], unit="person", column="city") == [1, 2]
