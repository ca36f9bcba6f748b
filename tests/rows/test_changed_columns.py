"""Columns that change after a table was opened: refused before a row is read, and whatever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows.engines import deprecations
from tests.rows.tables import Opened, count, gather, opened
from tests.slow import SLOW
from tests.watched import between_look_and_reading

pytestmark = deprecations

FILLED = (
    "DROP TABLE IF EXISTS changing; CREATE TABLE changing AS SELECT * FROM (VALUES (1, 1), (2, 2)) AS v (unit, value)"
)
TYPE = "ALTER TABLE changing ALTER value TYPE"
REFUSED = "expected a table with the columns that it had when it was opened.*make a new Dataset"


def counted(table: Opened) -> list[int]:
    return count(table, [1, 2])


def gathered(table: Opened) -> list[float]:
    return gather(table, bounds=(0, 9))


Execute = Callable[[str], Any]


@pytest.fixture
def url(postgres: sa.Engine) -> str:
    return postgres.url.set(drivername="postgresql").render_as_string(hide_password=False)


@pytest.fixture
def execute(url: str) -> Iterator[Execute]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FILLED)
        yield connection.execute


WAYS = ("duckdb-table", "duckdb-query", "postgres-url")


@pytest.fixture(params=WAYS)
def changing(request: pytest.FixtureRequest) -> Iterator[tuple[Opened, Execute]]:
    """The open table ``changing``, and a connection to its engine."""
    engine, _, way = request.param.partition("-")
    if engine == "duckdb":
        connection = duckdb.connect()
        connection.execute(FILLED)
        made = {"table": connection.table, "query": lambda name: connection.sql(f"SELECT * FROM {name}")}
        yield opened(made[way]("changing")), connection.execute
        return
    execute = request.getfixturevalue("execute")
    yield opened(request.getfixturevalue("url"), table="changing"), execute


CHANGES = (
    (f"{TYPE} text", None),
    (f"{TYPE} text", "'odd'"),
    (f"{TYPE} double precision", None),
    (f"{TYPE} double precision", "1e300"),
    (f"{TYPE} double precision", "1.4"),
    ("ALTER TABLE changing RENAME value TO values", None),
    ("ALTER TABLE changing DROP COLUMN value; ALTER TABLE changing ADD COLUMN value text", "'2'"),
    ("DROP TABLE changing", None),
)
ALL_CHANGES = [
    (way, *change) for i, way in enumerate(WAYS) for j, change in enumerate(CHANGES) if SLOW or (i + j) % 2 == 0
]
"""By day each way meets every second change, so that each change comes on both engines."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("changing", "change", "row"), ALL_CHANGES, indirect=["changing"])
def test_no_row_decides_what_happens(changing: tuple[Opened, Execute], change: str, row: str | None) -> None:
    table, execute = changing
    assert counted(table) == [1, 1]
    execute(change)
    if row is not None:
        execute(f"INSERT INTO changing (unit, value) VALUES (3, {row})")
    for ask in (counted, gathered):
        with pytest.raises(InvalidDataError, match=REFUSED) as caught:
            ask(table)
        assert caught.value.__context__ is None


def test_what_nobody_asks_about_may_change(changing: tuple[Opened, Execute]) -> None:
    table, execute = changing
    execute("ALTER TABLE changing ADD COLUMN more text")
    execute("INSERT INTO changing VALUES (3, 1, 'odd')")
    assert counted(table) == [2, 1]
    assert gathered(table) == [1.0, 1.0, 2.0]


def test_a_frame_in_the_place_of_another() -> None:
    for last in ("2", "odd"):
        connection = duckdb.connect()
        connection.register("frame", pd.DataFrame({"unit": [1, 2], "value": [1, 2]}))
        table = opened(connection.sql("SELECT * FROM frame"))
        assert counted(table) == [1, 1]
        connection.register("frame", pd.DataFrame({"unit": [1, 2], "value": ["1", last]}))
        with pytest.raises(InvalidDataError, match=REFUSED):
            counted(table)


@pytest.mark.parametrize("value", ["'2'", "'odd'"])
def test_a_relation_that_changes_between_the_look_and_the_reading(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    connection = duckdb.connect()
    connection.execute(FILLED)
    table = opened(connection.table("changing"))
    change = f"{TYPE} text; INSERT INTO changing VALUES (3, {value})"
    between_look_and_reading(monkeypatch, lambda: connection.execute(change))
    with pytest.raises(InvalidDataError, match=REFUSED):
        counted(table)


def test_nothing_is_charged_and_a_new_dataset_answers(url: str, execute: Execute, tmp_path: Any) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=200, unit="unit")

    def people() -> dps.Dataset:
        return dps.Dataset(url, table="changing", unit="unit", ledger=ledger, account="people")

    before = people()
    execute(f"{TYPE} text; INSERT INTO changing VALUES (3, 'odd'), (4, 'odd')")
    with pytest.raises(InvalidDataError, match=REFUSED):
        before.most_common("value", candidates=[1, 2], epsilon=100.0)
    assert ledger.account("people").spent == 0
    assert people().most_common("value", candidates=["1", "odd"], epsilon=100.0).value == "odd"


def test_a_table_that_appears_earlier_on_the_search_path(url: str, execute: Execute) -> None:
    execute("CREATE SCHEMA earlier")
    try:
        along = url + ("&" if "?" in url else "?") + "options=-csearch_path%3Dearlier,public"
        table = opened(along, table="changing")
        for row in ("'2'", "'odd'"):
            execute("DROP TABLE IF EXISTS earlier.changing")
            execute(f"CREATE TABLE earlier.changing AS SELECT 3 AS unit, {row} AS value")
            assert counted(table) == [1, 1]
    finally:
        execute("DROP SCHEMA earlier CASCADE")


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read", "serializable"])
def test_types_stay_until_the_answer_is_there(
    url: str, execute: Execute, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    """Nobody can change one after it was looked at, as the question holds the lock that is in the way of it.

    Whatever isolation the server is told to begin with.
    """
    option = f"-cdefault_transaction_isolation={isolation.replace(' ', chr(92) + ' ')}"
    monkeypatch.setenv("PGOPTIONS", option)
    table = opened(url, table="changing")
    tried = list[str]()

    def late(connection: Any) -> None:
        tried.extend(*connection.execute("SHOW transaction_isolation"))
        execute("SET lock_timeout = 50")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            execute(f"{TYPE} text")

    between_look_and_reading(monkeypatch, late)
    assert counted(table) == [1, 1]
    assert tried == ["repeatable read"]


def test_a_user_who_may_read_some_columns_only(url: str, execute: Execute) -> None:
    execute("ALTER TABLE changing ADD COLUMN private text; CREATE ROLE guest LOGIN")
    try:
        execute("GRANT SELECT (unit, value) ON changing TO guest")
        table = opened(url.replace("//postgres:", "//guest:").replace("//postgres@", "//guest@"), table="changing")
        assert counted(table) == [1, 1]
        execute("REVOKE SELECT (value) ON changing FROM guest")
        with pytest.raises(InvalidDataError, match=REFUSED):
            counted(table)
    finally:
        execute("DROP OWNED BY guest; DROP ROLE guest")


def test_columns_of_another_width_are_the_same_to_duckdb() -> None:
    """What is the same to this package is no change: an integer of more bits, an enumeration of more words."""
    connection = duckdb.connect()
    words = pd.DataFrame({"unit": np.arange(2), "value": pd.Categorical(["a", "b"])})
    connection.register("words", words)
    table = opened(connection.table("words"))
    more = pd.DataFrame({"unit": np.arange(2).astype("int16"), "value": pd.Categorical(["a", "c"])})
    connection.register("words", more)
    assert count(table, ["a", "b", "c"]) == [1, 0, 1]
