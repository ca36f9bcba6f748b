"""PostgreSQL by URL: what is refused, what breaks, what is never shown, and that nothing is left behind."""

from __future__ import annotations

import socket
import threading
from typing import Any
from urllib.parse import quote

import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

import dpselect as dps
from dpselect.cli import main
from dpselect.errors import InvalidDataError, TableUnavailableError
from tests.rows import engines
from tests.rows.tables import Opened, count, gather, opened
from tests.watched import between_look_and_reading

ROWS = pa.table({"unit": ["ann", "bob", "secret name"], "value": [1, 1, 2]})


@pytest.fixture(scope="module")
def placed(postgres: sa.Engine) -> tuple[str, str]:
    return engines.postgres_table(ROWS, postgres)


def asked(table: Opened) -> list[int]:
    return count(table, [1, 2])


def execute(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def test_a_session_asks_a_server(placed: tuple[str, str]) -> None:
    url, name = placed
    for table in (name, f"public.{name}"):
        people = dps.Dataset(url, table=table, unit="unit")
        assert people.most_common("value", candidates=[1, 2], epsilon=100.0).value == 1
        assert people.median("value", bounds=(0, 3), step=1, epsilon=100.0).value == 1.0
    assert repr(people) == f"Dataset('postgresql://postgres@/postgres', table='public.{name}', unit='unit')"


@pytest.mark.parametrize("name", ["none", "public.none", "none.none", "Rows", "a.b.c", "x' OR 1=1 --", '"'])
def test_a_table_that_is_not_there(placed: tuple[str, str], name: str) -> None:
    with pytest.raises(InvalidDataError, match="a table with columns that this user may read"):
        opened(placed[0], table=name)


@pytest.mark.parametrize("name", [None, "", 3, "a\0b"])
def test_a_server_needs_the_name_of_a_table(placed: tuple[str, str], name: object) -> None:
    with pytest.raises(InvalidDataError, match="the name of a table"):
        opened(placed[0], table=name)


def test_only_a_server_takes_the_name_of_a_table() -> None:
    with pytest.raises(InvalidDataError, match="nothing, because the source is a table itself"):
        opened(ROWS, table="clicks")


def test_a_table_without_columns_and_one_without_the_column(placed: tuple[str, str]) -> None:
    execute(placed[0], "CREATE TABLE IF NOT EXISTS bare ()")
    with pytest.raises(InvalidDataError, match="table='bare': expected a table with columns"):
        opened(placed[0], table="bare")
    with pytest.raises(InvalidDataError, match="Did you mean 'value'"):
        opened(placed[0], table=placed[1]).holds("Value")


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
    with pytest.raises(TableUnavailableError) as caught:
        opened(f"postgresql://ann:hunter2@127.0.0.1:{port}/shop?password=hunter2", table="clicks")
    assert str(caught.value).startswith(f"table at postgresql://ann@127.0.0.1:{port}/shop: the server cannot be")
    assert "hunter2" not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("url", ["postgresql://", "postgresql://[", "postgresql://h:x/db", "postgres://u:p@h:99999/d"])
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(TableUnavailableError):
        opened(url + "?connect_timeout=1&host=/nowhere", table="clicks")


def test_a_connection_that_breaks_half_way(placed: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    table = opened(placed[0], table=placed[1])
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpselect'"
    between_look_and_reading(monkeypatch, lambda connection: connection.execute("SELECT pg_sleep(3)"))
    threading.Timer(0.7, lambda: execute(placed[0], cut)).start()
    with pytest.raises(TableUnavailableError, match="the connection broke before the answer arrived") as caught:
        asked(table)
    assert str(caught.value).startswith("table at postgresql://postgres@/postgres: the connection broke before")
    assert "secret" not in repr(caught.value)
    monkeypatch.undo()
    assert asked(table) == [2, 1]  # asked again, on another connection


def test_a_connection_that_breaks_while_the_columns_are_looked_up(
    placed: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = psycopg.Connection.execute

    def broken(connection: psycopg.Connection, query: str, *given: Any) -> Any:
        if query == f'SELECT "unit", "value" FROM "public"."{placed[1]}" LIMIT 0':
            connection.close()
        return execute(connection, query, *given)

    monkeypatch.setattr(psycopg.Connection, "execute", broken)
    with pytest.raises(TableUnavailableError) as caught:
        opened(placed[0], table=placed[1])
    expected = "table at postgresql://postgres@/postgres: the connection broke before the answer arrived."
    assert str(caught.value) == f"{expected} Nothing was charged: ask again"


def test_what_a_server_says_of_a_row_is_not_passed_on(placed: tuple[str, str]) -> None:
    execute(placed[0], f"CREATE OR REPLACE VIEW broken AS SELECT unit, unit::int AS value FROM {placed[1]}")
    table = opened(placed[0], table="broken")
    with pytest.raises(InvalidDataError, match="a table that can be read to its end") as caught:
        asked(table)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_connections_can_only_read_and_leave_nothing(placed: tuple[str, str]) -> None:
    table = opened(placed[0], table=placed[1])
    before = execute(placed[0], "SELECT count(*) FROM pg_class")
    assert count(table, [1, *range(10, 3000), 2]) == [2, *[0] * 2990, 1]
    assert execute(placed[0], "SELECT count(*) FROM pg_class") == before
    here = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dpselect'"
    assert execute(placed[0], here) == [(0,)]


def test_a_view_that_writes_as_it_is_read_is_refused(placed: tuple[str, str]) -> None:
    url, name = placed
    execute(url, "CREATE TABLE IF NOT EXISTS written (value int)")
    execute(
        url,
        "CREATE OR REPLACE FUNCTION write_down(int) RETURNS int LANGUAGE sql VOLATILE"
        " AS 'INSERT INTO written VALUES ($1) RETURNING value'",
    )
    execute(url, f"CREATE OR REPLACE VIEW sly AS SELECT unit, write_down(value::int) AS value FROM {name}")
    with pytest.raises((InvalidDataError, TableUnavailableError)):
        count(opened(url, table="sly"), [1, 2])
    assert execute(url, "SELECT count(*) FROM written") == [(0,)]
    assert execute(url, "SELECT count(value) FROM sly") == [(3,)]  # the control: who may write, writes
    assert execute(url, "SELECT count(*) FROM written") == [(3,)]


def test_types_only_this_server_has(placed: tuple[str, str]) -> None:
    url = placed[0]
    execute(url, "DROP TABLE IF EXISTS odd; DROP TYPE IF EXISTS feeling")
    execute(url, "CREATE TYPE feeling AS ENUM ('glad', 'sad')")
    execute(
        url,
        "CREATE TABLE odd AS SELECT v.id::uuid AS unit, v.mood::feeling, v.name, v.n::numeric,"
        " v.c::char(5) FROM (VALUES ('00000000-0000-0000-0000-000000000001', 'glad', 'Ann', 'NaN', 'ab'),"
        " ('00000000-0000-0000-0000-000000000002', 'sad', 'ann', '1e400', 'ab'),"
        " ('00000000-0000-0000-0000-000000000003', 'glad', 'ANN', '-1e-400', 'c'),"
        " (NULL, 'glad', 'Ann', 'Infinity', 'ab')) AS v (id, mood, name, n, c)",
    )
    table = opened(url, table="odd")
    assert count(table, ["glad", "sad", "neither", "gl\0ad"], column="mood") == [2, 1, 0, 0]
    assert count(table, ["Ann", "ann"], column="name") == [1, 1]
    assert count(table, ["ab", "c"], column="c") == [2, 1]
    assert count(table, [0, 1], column="n") == [0, 0]
    assert gather(table, bounds=(-5, 5), column="n") == [0.0, 5.0]


@pytest.mark.parametrize("given_in", ["the URL", "the environment"])
def test_options_of_the_user_are_kept(placed: tuple[str, str], monkeypatch: pytest.MonkeyPatch, given_in: str) -> None:
    url, name = placed
    execute(url, f"CREATE SCHEMA other; CREATE TABLE other.{name} AS SELECT 'zoe' AS unit, 2 AS value")
    try:
        option = "-csearch_path=other"
        if given_in == "the URL":
            url += ("&" if "?" in url else "?") + "options=" + quote(option)
        else:
            monkeypatch.setenv("PGOPTIONS", option)
        assert asked(opened(url, table=name)) == [0, 1]
    finally:
        execute(placed[0], "DROP SCHEMA other CASCADE")


def test_a_table_that_this_user_may_not_read(placed: tuple[str, str]) -> None:
    url, name = placed
    execute(url, "CREATE ROLE stranger LOGIN")
    try:
        with pytest.raises(InvalidDataError, match="a table with columns that this user may read"):
            opened(make_url(url).set(username="stranger").render_as_string(), table=name)
    finally:
        execute(url, "DROP ROLE stranger")


def test_connections_and_engines_of_the_caller_are_refused(placed: tuple[str, str], postgres: sa.Engine) -> None:
    with psycopg.connect(placed[0]) as connection:
        for source in (connection, postgres):
            with pytest.raises(InvalidDataError, match=r"expected the path of a file.* give the URL") as caught:
                dps.Dataset(source, unit="unit")
            assert "secret" not in str(caught.value)


def test_rows_on_a_server_are_not_checked(placed: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    url, name = placed
    assert main(["check", url, "value", "--table", name, "--unit", "unit"]) == 2
    assert "rows that are in files or in this process" in capsys.readouterr().err
