"""Names of columns are names, whatever they look like: to every engine, as the unit and as what is asked about.

Each column has content of its own, so that reading another one, or several, gives another answer. The first tables have
all names beside each other; names that not every engine has, or tells apart, are in tables of their own, where refusing
by a clear error is an answer as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, cycle, islice, permutations
from pathlib import Path
from random import Random

import ibis
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows import engines, placed
from tests.rows.engines import Source
from tests.rows.tables import Opened, count, opened
from tests.slow import SLOW

pytestmark = engines.deprecations

PATTERNS = ("^v.*$", "^.*$", "^", "$", "v.*", ".", "(?i)^VALUE$", "val%", "val_e", "*", "**", "t.*", "?", "v?lue")
PATHS = ("a.b", "a", "a.b.c", ".a", "a.", "a.b.list.element", "a[0]", "a/b", "/a", "a->b", "a:b", "a::text")
QUOTES = (
    '"',
    '""',
    'q"q',
    "'",
    "''",
    "it's",
    "`",
    "``",
    "b`b",
    '"a"."b"',
    "`a`.`b`",
    "[a]",
    "{a}",
    "{0}",
    "$$",
    "E'a'",
)
ESCAPES = (
    "\\",
    "\\\\",
    "\\n",
    "\\d+",
    "C:\\x",
    "%",
    "%%",
    "%s",
    "%(a)s",
    "$1",
    "${a}",
    ":a",
    "?1",
    "@a",
    "#",
    "&amp;",
    "~",
)
SQL = (
    "x; DROP TABLE t; --",
    "-- x",
    "/* x",
    "*/",
    '"; --',
    "count(*)",
    "1 + 1",
    "select",
    "from",
    "order",
    "group by",
    "null",
)
LITERALS = ("1", "1st", "-1", "1e5", "0x1", "nan", "NA", "true", "value = 1", "()", ",", ";", "|", "=", "<b>")
BLANKS = (" ", "  ", " lead", "trail ", "two words", "a\tb", "\u00a0", "\u200b", "\ufeffx")
LETTERS = ("ä", "a\u0308", "名前", "\U0001f600", "ﬁ", "\u0130", "e\u0301\u0301", "ñ" * 20)
OUR_OWN = (
    *("who", "what", "part", "place", "lot", "rank", "kept", "added", "number", "amount", "unit", "rows", "position"),
    *("group_lot", "row_lot", "what_named", "position_named", "part_table", "candidate", "drawn", "asked", "shown"),
    *("answer", "numbers", "dpselect_rows", "dpselect_what", "t", "v", "index", "__index_level_0__", "level_0"),
    *("literal", "len", "count", "rowid", "filename", "file_row_number", "file_index", "_metadata", "_tmp", "t0"),
)  # fmt: skip
DECOYS = ("value", "vital", "who_else", "al", "b", "c")
"""What patterns and paths among the names would lead to."""

EVERYWHERE = tuple(
    dict.fromkeys(chain(DECOYS, PATTERNS, PATHS, QUOTES, ESCAPES, SQL, LITERALS, BLANKS, LETTERS, OUR_OWN))
)
FEW = (
    *DECOYS,
    *("^v.*$", "*", "a.b", "a", '"', "`", "b`b", "\\", "[a]", "%s", "$1", "x; DROP TABLE t; --", "1st", " "),
    *("名前", "who", "lot"),
)
"""Of each sort one: for engines that read rows as another one does after a few steps of their own, and for Spark, which
starts a job for each question."""

SELDOM = {
    "capitals": ("Value", "value"),
    "capitals beyond ASCII": ("ä", "Ä"),
    "capitals of several letters": ("ß", "ss"),
    "one letter at two places": ("\u212a", "k"),
    "no name": ("", "value"),
    "a line break": ("a\nb", "a b", "value"),
    "a carriage return": ("a\rb", "value"),
    "a control character": ("\x01", "value"),
    "a zero byte": ("a\0b", "value"),
    "many letters": ("n" * 63, "m" * 64, "value"),
    "system columns": ("ctid", "xmin", "tableoid", "value"),
}

UNKNOWN = {
    ("a zero byte", "postgres"),
    ("no name", "postgres"),
    ("system columns", "postgres"),
    ("capitals", "delta"),
    ("capitals beyond ASCII", "delta"),
    ("one letter at two places", "delta"),
    ("no name", "iceberg"),
}
"""Where the engine itself refuses to make such a table."""

CLEAR = r"a column of the data|columns with different names|a first line in UTF-8|a text file with line breaks"
"""What refusals say that are about names."""

ROWS, DIFFERENT = 60, 5
GROUPS = (1, 2, 4)
MOST = 2


@cache
def cells(place: int, number: int) -> tuple[int, ...]:
    """What stands in the column at `place`, of `number`: whole numbers that look like chance, of each column others."""
    chance = Random(1000 * number + place)
    return tuple(chance.randrange(DIFFERENT) for _ in range(ROWS))


def as_text(cell: int) -> str:
    return f"t{cell}"


def table_of(names: Sequence[str], *, is_text: bool = False) -> pa.Table:
    columns = [cells(place, len(names)) for place in range(len(names))]
    arrays = [pa.array(map(as_text, each)) if is_text else pa.array(each, pa.int64()) for each in columns]
    return pa.Table.from_arrays(arrays, names=list(names))


def rows_of(names: Sequence[str], asked: Sequence[str]) -> list[tuple[int, ...]]:
    """The rows, as far as they are `asked` for."""
    return list(zip(*(cells(names.index(name), len(names)) for name in asked), strict=True))


def neighbours(names: Sequence[str], number: int) -> list[tuple[str, ...]]:
    """Each name in each part of a question: runs of so many names, where the first one follows the last one."""
    return [tuple(islice(cycle(names), start, start + number)) for start in range(len(names))]


def totals(table: Opened, unit: str, column: str, part: str, amount: str) -> list[list[int]]:
    """What the units' amounts add up to."""
    listed = range(DIFFERENT)
    return table.totals(
        amount, (0, MOST), unit=unit, column=column, candidates=listed, groups=(part, GROUPS, len(GROUPS))
    )


def true_totals(names: Sequence[str], unit: str, column: str, part: str, amount: str) -> list[list[int]]:
    added = Counter[tuple[int, int, int]]()
    for who, what, where, number in rows_of(names, (unit, column, part, amount)):
        added[who, what, where] += number
    clipped = Counter[tuple[int, int]]()
    for (_, what, where), number in added.items():
        clipped[what, where] += min(MOST, number)
    return [[clipped[what, where] for what in range(DIFFERENT)] for where in GROUPS]


def counts(table: Opened, unit: str, column: str, part: str) -> list[list[int]]:
    """How many units there are, of text."""
    groups = (part, list(map(as_text, GROUPS)), len(GROUPS))
    return table.counts(column, list(map(as_text, range(DIFFERENT))), unit=unit, groups=groups)


def true_counts(names: Sequence[str], unit: str, column: str, part: str) -> list[list[int]]:
    there = {(what, where, who) for who, what, where in rows_of(names, (unit, column, part))}
    found = Counter((what, where) for what, where, _ in there)
    return [[found[what, where] for what in range(DIFFERENT)] for where in GROUPS]


def values(table: Opened, unit: str, column: str) -> list[float]:
    """The numbers of all rows."""
    (found,) = table.numbers(column, (0, DIFFERENT), unit=unit, most=ROWS)
    return found


def check(source: Source, names: Sequence[str], *, every: int = 2) -> None:
    """Each of the names in some part of a question, as a unit in one of `every` so many."""
    table = source.opened()
    for four in neighbours(names, 4)[::every]:
        assert totals(table, *four) == true_totals(names, *four), four
    for unit, column in neighbours(names, 2)[:: 5 * every]:
        assert values(table, unit, column) == sorted(cell for (cell,) in rows_of(names, [column])), column


def check_text(source: Source, names: Sequence[str]) -> None:
    """The same of columns of text, which some engines read another way; by day of each fourth run of three names."""
    table = source.opened()
    for three in neighbours(names, 3)[:: 3 if SLOW else 12]:
        assert counts(table, *three) == true_counts(names, *three), three


def asked_of(engine: str) -> Sequence[str]:
    """By day one of each way that rows are read is asked of every name, and all others of one of each sort."""
    others = ("json", "parquet-by-polars", "arrow", "eager-polars", "pandas") if SLOW else ()
    return EVERYWHERE if engine in (*engines.ASKED_EVERYTHING, *others) else FEW


@pytest.mark.sampled(3)
def test_names_of_numbers(engine: str, place: Callable[[pa.Table], Source]) -> None:
    names = asked_of(engine)
    check(place(table_of(names)), names, every=2 if SLOW and engine != "spark" else 4 if SLOW else 8)


@pytest.mark.sampled(3)
def test_names_of_text(engine: str, place: Callable[[pa.Table], Source]) -> None:
    names = asked_of(engine)
    check_text(place(table_of(names, is_text=True)), names)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("sort", SELDOM)
def test_seldom_names_are_read_or_clearly_refused(sort: str, engine: str, place: Callable[[pa.Table], Source]) -> None:
    if (sort, engine) in UNKNOWN:
        with pytest.raises(Exception, match=r"."):  # of any type: deltalake raises the plainest
            place(table_of(SELDOM[sort]))
        return
    source = place(table_of(SELDOM[sort]))
    # By day Spark is asked one question in which all of the names are.
    refused = refusal(source, SELDOM[sort], every=4 if engine == "spark" and not SLOW else 1)
    assert refused is None or re.search(CLEAR, str(refused)), refused


def refusal(source: Source, names: Sequence[str], *, every: int) -> InvalidDataError | None:
    """What is said instead of the true answers."""
    try:
        check(source, names, every=every)
    except InvalidDataError as error:
        return error
    return None


@pytest.mark.sampled(5)
def test_capitals_count_where_the_engine_tells_them_apart(engine: str, place: Callable[[pa.Table], Source]) -> None:
    if engine in ("duckdb", "ibis", "spark", "delta"):
        pytest.skip("to these engines capitals are small letters")
    check(place(table_of(SELDOM["capitals"])), SELDOM["capitals"], every=1)


def test_the_law_can_fail(tmp_path: Path) -> None:
    """Each name is another column: had another one been read in any part of a question, it would be seen."""
    for first, second in zip(neighbours(EVERYWHERE, 4), neighbours(EVERYWHERE[1:], 4), strict=False):
        for part in range(4):
            other = tuple(second[at] if at == part else first[at] for at in range(4))
            assert true_totals(EVERYWHERE, *first) != true_totals(EVERYWHERE, *other)


STRUCT = pa.table(
    {
        "a": pa.array([{"b": 1, "c": 1}] * 4),
        "a.c": pa.array([2, 2, 2, 3]),
        "a.b": pa.array([1, 2, 3, 4]),
        "unit": pa.array([1, 2, 3, 4]),
    }
)
"""Columns whose names are the ways to fields of another column."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("engine", [name for name in engines.PLACERS if not name.startswith(("csv", "json"))])
def test_fields_of_structs_are_no_columns(engine: str, tmp_path: Path) -> None:
    if engine in ("pandas", "batch", "iceberg"):
        pytest.skip("no way of its own to such a column, or no such table")
    table = engines.PLACERS[engine](STRUCT, tmp_path).opened()
    assert count(table, [1, 2, 3], unit="a.b", column="a.c") == [0, 3, 1]
    assert values(table, "unit", "a.b") == [1, 2, 3, 4]


@pytest.mark.parametrize("order", list(permutations(STRUCT.column_names[:3])), ids=",".join)
def test_candidates_are_those_of_the_named_column(order: Sequence[str], tmp_path: Path) -> None:
    pq.write_table(STRUCT.select(order), tmp_path / "public.parquet")
    assert dps.candidates_from(tmp_path / "public.parquet", column="a.b") == [1, 2, 3, 4]
    assert dps.candidates_from(pl.DataFrame(STRUCT), column="a.b") == [1, 2, 3, 4]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FEW)
def test_candidates_of_any_name(name: str, tmp_path: Path) -> None:
    public = table_of(EVERYWHERE)
    expected = list(dict.fromkeys(cells(EVERYWHERE.index(name), len(EVERYWHERE))))
    pq.write_table(public, tmp_path / "public.parquet")
    placed.csv_file(public, tmp_path / "public")
    for source in (
        tmp_path / "public.parquet",
        tmp_path / "public.csv",
        public,
        public.to_pandas(),
        pl.DataFrame(public),
    ):
        assert dps.candidates_from(source, column=name) == expected


def test_names_in_ibis_on_a_server(postgres: sa.Engine) -> None:
    url, name = engines.postgres_table(table_of(FEW), postgres)
    backend = ibis.postgres.connect(conninfo=url, port=None)
    try:
        check(Source(backend.table(name).mutate(extra=1)), FEW)
    finally:
        backend.disconnect()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FEW)
def test_tables_of_any_name_on_a_server(postgres: sa.Engine, name: str) -> None:
    """Beside tables that patterns would lead to; also in a schema of such a name."""
    url, given = engines.postgres_table(STRUCT.select(["unit"]).append_column(name, STRUCT["a.c"]), postgres)
    quoted = '"' + name.replace('"', '""') + '"'
    named = f"{name}.{name}" if "." not in name else name
    with psycopg.connect(url, autocommit=True) as connection:
        if named != name:
            connection.execute(f"CREATE SCHEMA {quoted}")
        where = f"{quoted}.{quoted}" if named != name else quoted
        connection.execute(f"CREATE TABLE {where} AS SELECT * FROM {given}")
        try:
            if named != name:
                assert values(opened(url, table=named), "unit", name) == [2, 2, 2, 3]
            else:
                with pytest.raises(InvalidDataError, match="a table with columns that this user may read"):
                    opened(url, table=name)  # a dot leads into a schema
        finally:
            connection.execute(f"DROP TABLE {where}")
            if named != name:
                connection.execute(f"DROP SCHEMA {quoted}")
