"""What columns on a PostgreSQL server hold, by URL and through Ibis: none of them decides about another one."""

from __future__ import annotations

import datetime
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from dpselect.errors import InvalidDataError
from tests.rows.tables import Opened, count, gather, opened

NUMERICS = ["numeric(39,0)", "numeric(78,0)", "numeric(60,2)", "numeric(38,0)", "numeric"]
DOMAINS = "CREATE DOMAIN named AS text; CREATE DOMAIN renamed AS named; CREATE DOMAIN rated AS numeric(5,2)"

NOTHING = "values of a type that no question can use"
HELD = {
    **dict.fromkeys(("text", "varchar(3)", "char(3)", '"char"', "name", "named", "renamed"), "text"),
    **dict.fromkeys(("uuid", "macaddr", "macaddr8"), "text"),
    **dict.fromkeys(("smallint", "int", "bigint"), "whole numbers"),
    **dict.fromkeys(("time", "timetz", "timestamp", "timestamptz", "interval"), "times"),
    **dict.fromkeys(("money", "bit(3)", "bit varying", "xml", "point", "tsvector", "inet", "cidr", "oid"), NOTHING),
    **dict.fromkeys(("int[]", "json", "jsonb", "int4range", "pg_am"), "nested values"),
    "real": "32-bit floating-point numbers",
    "float": "floating-point numbers",
    "rated": "decimal numbers",
    "date": "dates",
    "boolean": "booleans",
    "bytea": "bytes",
}


@pytest.fixture
def url(postgres: sa.Engine) -> str:
    return postgres.url.set(drivername="postgresql").render_as_string(hide_password=False)


def fill(url: str, values: dict[str, str]) -> None:
    """A table of three people, of whom two have a value in a column of each type, which is called as the type."""
    columns = ", ".join(f'"{type_}" {type_}'.replace('""char""', '"char"') for type_ in values)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"DROP TABLE IF EXISTS typed CASCADE; DROP DOMAIN IF EXISTS renamed, named, rated; {DOMAINS}"
        )
        connection.execute(f"CREATE TABLE typed (unit int, value int, {columns})")
        cells = ", ".join(values.values())
        connection.execute(f"INSERT INTO typed SELECT *, {cells} FROM (VALUES (1, 1), (2, 1)) AS people")
        connection.execute("INSERT INTO typed VALUES (3, 2)")


def counted(table: Opened, unit: str, column: str, candidates: list[Any]) -> list[int]:
    return count(table, candidates, unit=unit, column=column)


def gathered(table: Opened, column: str) -> list[float]:
    return gather(table, bounds=(0, 2**40), column=column)


@pytest.mark.sampled(1)
def test_decimals_of_any_width(url: str) -> None:
    fill(url, dict.fromkeys(NUMERICS, "300"))
    table = opened(url, table="typed")
    assert counted(table, "unit", "value", [1, 2]) == [2, 1]
    for name in NUMERICS:
        assert table.holds(name) == "decimal numbers"
        assert counted(table, "unit", name, [300, 0]) == [2, 0]
        assert counted(table, name, "value", [1, 2]) == [1, 0]
        assert gathered(table, name) == [300.0] * 2


def test_what_a_column_holds(url: str) -> None:
    fill(url, dict.fromkeys(HELD, "NULL"))
    table = opened(url, table="typed")
    assert {name: table.holds(name.strip('"')) for name in HELD} == HELD
    for name, held in HELD.items():
        if held in (NOTHING, "nested values"):
            with pytest.raises(InvalidDataError, match=f"This one holds {held}"):
                table.units(unit=name)
            for candidate in (1, 1.5, "x"):
                with pytest.raises(InvalidDataError, match=f"This one holds {held}"):
                    counted(table, "unit", name, [candidate])
            with pytest.raises(InvalidDataError, match=f"This one holds {held}"):
                gathered(table, name)


def test_decimals_with_more_places_than_digits_and_with_fewer_than_none(url: str) -> None:
    """By URL alone: Ibis itself makes no table of them."""
    fill(url, {"numeric(3,5)": "0.00125", "numeric(3,-2)": "1249"})
    table = opened(url, table="typed")
    assert counted(table, "unit", "value", [1, 2]) == [2, 1]
    assert counted(table, "unit", "numeric(3,5)", [0.00125, 0.001]) == [2, 0]
    assert counted(table, "unit", "numeric(3,-2)", [1200, 1249]) == [2, 0]
    assert counted(table, "numeric(3,5)", "value", [1, 2]) == [1, 0]


def test_domains_are_asked_about(url: str) -> None:
    fill(url, {"renamed": "'x'", "rated": "1.50"})
    table = opened(url, table="typed")
    assert counted(table, "unit", "renamed", ["x", "y"]) == [2, 0]
    assert counted(table, "unit", "rated", [1.5, 2.5]) == [2, 0]
    assert gathered(table, "rated") == [1.5] * 2
    for name in ("renamed", "rated"):
        assert counted(table, name, "value", [1, 2]) == [1, 0]


def test_types_that_a_server_writes_in_several_ways_are_refused_with_what_to_do(url: str) -> None:
    fill(url, {"inet": "'10.0.0.1/24'", "cidr": "'10.0.0.0/8'", "oid": "4294967295"})
    table = opened(url, table="typed")
    for name in ("inet", "cidr", "oid"):
        with pytest.raises(InvalidDataError, match="Convert it first, for example to numbers or text"):
            table.units(unit=name)
    view = 'SELECT unit, host("inet") AS inet, CAST("cidr" AS text) AS cidr, CAST("oid" AS bigint) AS oid FROM typed'
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE OR REPLACE VIEW written AS {view}")
    table = opened(url, table="written")
    assert counted(table, "unit", "inet", ["10.0.0.1"]) == [2]
    assert counted(table, "unit", "cidr", ["10.0.0.0/8"]) == [2]
    assert gathered(table, "oid") == [2.0**32 - 1] * 2


def test_values_are_those_of_the_table_however_a_role_wants_them_written(url: str) -> None:
    """Numbers come as text: by a setting of the role's, of as few digits as it likes."""
    fill(url, {"float": "0.1234567890123", "date": "DATE '2026-02-01'"})
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS untidy; CREATE ROLE untidy SUPERUSER LOGIN")
        for setting in ("extra_float_digits = -12", "datestyle = 'German'"):
            connection.execute(f"ALTER ROLE untidy SET {setting}")
        connection.execute("ALTER ROLE untidy SET default_transaction_isolation = 'serializable'")
    table = opened(url.replace("//postgres:", "//untidy:"), table="typed")
    assert sorted(gathered(table, "float")) == [0.1234567890123, 0.1234567890123]
    assert counted(table, "unit", "date", [datetime.date(2026, 2, 1), datetime.date(2026, 1, 2)]) == [2, 0]
