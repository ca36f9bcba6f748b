"""Text on a PostgreSQL server: as it shows it, in whatever encoding the database and the connection are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows.tables import Opened, count, opened

VALUES: Mapping[str, Sequence[str]] = {
    "address": ("08002B010203",),
    "macaddr": ("08002B010203", "08-00-2b-01-02-04"),
    "macaddr8": ("08002B0102030405",),
    "uuid": ("A0EEBC999C0B4EF8BB6D6BB9BD380A11",),
    '"char"': ("x", "y"),
    "name": ("Ann", "ann "),
    "varchar(9)": ("Ann", "ann "),
    "mood": ("glad", " Sad"),
}
"""As they are written; the server shows some of them otherwise."""

TYPES = "CREATE DOMAIN address AS macaddr; CREATE DOMAIN remote AS address; CREATE TYPE mood AS ENUM ('glad', ' Sad')"

Opener = Callable[[str], Opened]
"""Opens the table of that name."""


def url_of(server: sa.Engine, database: str = "postgres") -> str:
    url = server.url.set(drivername="postgresql", database=database)
    return url.render_as_string(hide_password=False)


@pytest.fixture
def opener(postgres: sa.Engine) -> Opener:
    return lambda name: opened(url_of(postgres), table=name)


@pytest.fixture(scope="module")
def typed(postgres: sa.Engine) -> Iterator[psycopg.Connection]:
    """A connection where the types of `VALUES` are known."""
    with psycopg.connect(url_of(postgres), autocommit=True) as connection:
        connection.execute(TYPES)
        yield connection
        connection.execute("DROP TABLE shown; DROP TYPE mood; DROP DOMAIN remote, address")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("type_", [*VALUES, "remote"])
def test_text_is_what_the_server_shows(typed: psycopg.Connection, opener: Opener, type_: str) -> None:
    """Three people have each value, one has none."""
    typed.execute(f"DROP TABLE IF EXISTS shown; CREATE TABLE shown (unit int, value {type_}, one int DEFAULT 1)")
    for value in VALUES.get(type_, VALUES["address"]):
        typed.execute("INSERT INTO shown SELECT person, %s FROM generate_series(1, 3) AS person", [value])
    typed.execute("INSERT INTO shown VALUES (4, NULL)")
    with typed.cursor().copy("COPY (SELECT DISTINCT value FROM shown WHERE value IS NOT NULL) TO STDOUT") as copy:
        shown = [bytes(line).decode().rstrip("\n") for line in copy]
    table = opener("shown")
    assert count(table, [*shown, "10.0.0.9", "08002B010203"]) == [*[3] * len(shown), 0, 0]
    assert count(table, [1], unit="value", column="one") == [len(shown)]
    assert table.counts("one", [1], groups=("value", shown, len(shown))) == [[3]] * len(shown)


def test_blanks_that_fill_a_column_up_are_none(typed: psycopg.Connection, opener: Opener) -> None:
    typed.execute("DROP TABLE IF EXISTS shown; CREATE TABLE shown (unit int, value char(5))")
    typed.execute("INSERT INTO shown VALUES (1, 'ab'), (2, ' ab ')")
    assert count(opener("shown"), ["ab", " ab", "ab   "]) == [1, 1, 0]


@pytest.fixture(scope="module")
def database(postgres: sa.Engine) -> Callable[..., str]:
    """Makes a database in an encoding, with a table ``told`` of ``a`` and of `more`, and says where it is."""
    made: dict[str, str] = {}

    def make(encoding: str, *more: str) -> str:
        if encoding not in made:
            name = f"in_{encoding.lower()}"
            with psycopg.connect(url_of(postgres), autocommit=True) as connection:
                locale = "LC_COLLATE 'C' LC_CTYPE 'C'"
                connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 {locale}")
            made[encoding] = url_of(postgres, name)
        with psycopg.connect(made[encoding], autocommit=True, client_encoding="UTF8") as connection:
            connection.execute("DROP TABLE IF EXISTS told")
            connection.execute("CREATE TABLE told (unit int, value text, one int DEFAULT 1)")
            for unit, value in enumerate(["'a'", *more]):
                connection.execute(f"INSERT INTO told VALUES ({unit}, {value})")
        return made[encoding]

    return make


def test_names_that_are_no_text(database: Callable[..., str]) -> None:
    url = database("SQL_ASCII")
    with psycopg.connect(url, autocommit=True, client_encoding="LATIN1") as connection:
        connection.execute('DROP TABLE IF EXISTS named; CREATE TABLE named ("é" int, unit int, value int)')
    with pytest.raises(InvalidDataError, match="table='named': expected a table with columns that this user") as caught:
        opened(url, table="named")
    assert caught.value.__context__ is None


@pytest.mark.parametrize("more", [(), ("'é'",)], ids=["", "more"])
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "EUC_JP"])
def test_text_in_another_encoding_is_refused(database: Callable[..., str], encoding: str, more: tuple[str]) -> None:
    """By the name of the encoding, whatever the rows are; numbers are not."""
    url = database(encoding, *(more if encoding != "EUC_JP" else ()))
    people = dps.Dataset(url, table="told", unit="unit")
    words: dict[str, Any] = {"candidates": ["a", "b"], "epsilon": 100.0}
    for ask in (
        lambda: people.most_common("value", **words),
        lambda: people.values("value", epsilon=9.0, delta=0.9),
        lambda: people.by("value", groups=["a", "b"]).median("one", bounds=(0, 2), step=1, epsilon=1.0),
        lambda: people.where(value=["a"]).median("one", bounds=(0, 2), step=1, epsilon=1.0),
        lambda: dps.Dataset(url, table="told", unit="value"),
    ):
        with pytest.raises(InvalidDataError, match=f"The encoding of the database is {encoding}.*in UTF8") as caught:
            ask()
        assert caught.value.__context__ is None
    assert people.most_common("one", candidates=[1, 2], epsilon=100.0).value == 1
    assert people.values("one", epsilon=100.0, delta=0.999).value in ([1], [])


@pytest.mark.parametrize("spoken", ["SQL_ASCII", "LATIN1", "EUC_JP"])
@pytest.mark.parametrize("given_in", ["the URL", "its options", "the environment"])
def test_a_url_speaks_unicode_whatever_else_is_said(
    postgres: sa.Engine, monkeypatch: pytest.MonkeyPatch, spoken: str, given_in: str
) -> None:
    url = url_of(postgres)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute('DROP TABLE IF EXISTS spoken; CREATE TABLE spoken (unit int, "wé" text)')
        connection.execute("INSERT INTO spoken VALUES (1, 'a'), (2, 'é'), (3, '€')")
    if given_in == "the environment":
        monkeypatch.setenv("PGCLIENTENCODING", spoken)
    else:
        option = "client_encoding=" if given_in == "the URL" else "options=-cclient_encoding%3D"
        url += f"{'&' if '?' in url else '?'}{option}{spoken}"
    assert count(url, ["a", "b", "é", "€", "あ"], column="wé", table="spoken") == [1, 0, 1, 1, 0]
