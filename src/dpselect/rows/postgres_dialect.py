"""What differs in PostgreSQL: its types, and its rules, as a cast that does not fit is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.columns import Column, Holds, check_names
from dpselect.rows.duckdb.connection import quoted
from dpselect.rows.failures import TranslatedErrors, changed
from dpselect.rows.row_rules import BLANKS, Dialect
from dpselect.summaries import CandidateKind

UNICODE = "UTF8"
"""UTF-8, as PostgreSQL names it."""


def speak_unicode(connection: Any) -> None:
    """Set the connection's encoding to UTF-8 for the present transaction."""
    if connection.info.parameter_status("client_encoding") != UNICODE:
        connection.execute(f"SET LOCAL client_encoding = '{UNICODE}'")


def check_unicode(connection: Any) -> None:
    """Refuse text of a database in another encoding: whether it arrives, and is equal to other text, is up to a row.

    Raises:
        InvalidDataError: the encoding of the database is not UTF-8.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != UNICODE:
        expected = f"columns that are not text, because the encoding of the database is {encoding}"
        raise InvalidDataError("column", Shown("<text>"), expected, "Copy the table to a database in UTF8.")


_LARGEST, _SMALLEST = 1.7976931348623157e308, "2.4703282292062328e-324"
"""Decimals beyond the first exceed all doubles; decimals below the second are nearest to zero."""


_LONGEST_NORMAL = 1 << 20
"""Bytes. The server cannot normalize what takes a quarter of a gigabyte, and one cell may not end a question."""


class PostgreSQL(Dialect):
    """The words of a database in UTF-8."""

    types: ClassVar = {
        CandidateKind.INTEGER: "bigint",
        CandidateKind.NUMBER: "double precision",
        CandidateKind.TEXT: "text",
        CandidateKind.DATE: "date",
        CandidateKind.BOOLEAN: "boolean",
    }
    amount = "numeric"

    def cast(self, cell: str, type_: str) -> str:
        if type_ == self.amount:
            cell = f"CAST({cell} AS bigint)"  # faster than from a double, which is converted through text
        return f"CAST({cell} AS {type_})"

    def text(self, cell: str) -> str:
        return f'CAST({cell} AS text) COLLATE "C"'

    def unit_text(self, cell: str) -> str:
        text = self.text(cell)
        is_long = f"OCTET_LENGTH({text}) > {_LONGEST_NORMAL}"
        return f"CASE WHEN {is_long} THEN TRIM(BOTH '{BLANKS}' FROM {text}) ELSE {super().unit_text(cell)} END"

    def matches(self, text: str, pattern: str) -> str:
        return f"{text} ~ '^({pattern})$'"

    def known_decimal(self, number: str) -> str:
        return f"{number} <> 'NaN'"

    def whole_decimal(self, number: str) -> str:
        within = f"{number} BETWEEN {-(2**63)} AND {2**63 - 1}"
        return f"CASE WHEN {within} AND {number} = trunc({number}) THEN CAST({number} AS bigint) END"

    def compared(self, number: str, sign: str, end: int) -> str:
        return f"{number} {sign} {end}"

    def nearest_double(self, decimal: str) -> str:
        return (
            f"CASE WHEN {decimal} = 'NaN' THEN NULL WHEN {decimal} > {_LARGEST!r} THEN 'Infinity'"
            f" WHEN {decimal} < -{_LARGEST!r} THEN '-Infinity'"
            f" WHEN abs({decimal}) < {_SMALLEST} THEN 0.0 ELSE CAST({decimal} AS double precision) END"
        )

    def product(self, number: str, factor: float) -> str:
        """Products beyond all doubles, or nearest to zero, are not computed; no amount needs them."""
        large, small = min(2.0**33 / factor, _LARGEST), min(2.0**-10 / factor, _LARGEST)
        return (
            f"CASE WHEN abs({number}) > {self.double(large)} THEN sign({number}) * {self.double(2.0**33)}"
            f" WHEN abs({number}) < {self.double(small)} THEN 0.0 ELSE {number} * {self.double(factor)} END"
        )

    def half_even(self, number: str) -> str:
        return f"round({number})"

    def lot(self, columns: Sequence[str]) -> str:
        return "gen_random_uuid()"  # 122 bits of the server's cryptographic randomness


POSTGRESQL = PostgreSQL()


Types = Mapping[Column, int]
"""The columns in the server's order, with the server's number of each type; for a domain, of its base type."""

_BUILT_IN = {
    **dict.fromkeys(("int2", "int4", "int8"), Holds.INTEGERS),
    **dict.fromkeys(("text", "varchar", "bpchar", "char", "name"), Holds.TEXT),
    **dict.fromkeys(("uuid", "macaddr", "macaddr8"), Holds.TEXT),
    **dict.fromkeys(("timestamp", "timestamptz", "time", "timetz", "interval"), Holds.TIMES),
    **dict.fromkeys(("json", "jsonb"), Holds.NESTED),
    "float4": Holds.SHORT_FLOATS,
    "float8": Holds.FLOATS,
    "numeric": Holds.DECIMALS,
    "date": Holds.DATES,
    "bool": Holds.BOOLEANS,
    "bytea": Holds.BYTES,
}

_MORE = {"citext": Holds.TEXT, "hstore": Holds.NESTED}
"""Types of extensions, in any schema."""

_OF_TABLE = """\
SELECT attname, atttypid FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON attrelid = pg_class.oid
WHERE attrelid = CAST(%s AS regclass) AND relkind = ANY('{r,v,m,f,p}') AND attnum > 0 AND NOT attisdropped
ORDER BY attnum"""

_TYPES = """\
WITH RECURSIVE types AS (
  SELECT given, given AS type FROM unnest(CAST(%s AS oid[])) AS asked (given)
  UNION ALL
  SELECT given, typbasetype FROM types JOIN pg_catalog.pg_type ON pg_type.oid = type WHERE typtype = 'd'
)
SELECT given, type, typname, typtype, typcategory, typnamespace = CAST('pg_catalog' AS regnamespace)
FROM types JOIN pg_catalog.pg_type ON pg_type.oid = type WHERE typtype <> 'd'"""
"""Types by number; a domain is replaced by its base type."""


def columns_of_table(connection: Any, source: str, shown: str) -> Types:
    """The columns of the table or view that SQL calls `source`; their names may differ in capitals only."""
    found = connection.execute(_OF_TABLE, [source]).fetchall()
    check_names([name for name, _ in found], shown=shown)
    types = connection.execute(_TYPES, [sorted({type_ for _, type_ in found})]).fetchall()
    made_of = {given: (_holds(*of_type), number) for given, number, *of_type in types}
    both = ((name, *made_of.get(type_, (Holds.OTHER, type_))) for name, type_ in found)
    return {Column(name, holds): number for name, holds, number in both}


def check_unchanged(connection: Any, source: str, types: Types, shown: str) -> None:
    """Refuse a table if the `types` of its columns have changed. They cannot change until the transaction ends.

    The server locks the table before it describes the columns of a query. A separate query of its catalogue might show
    an older state.
    """
    names = ", ".join(quoted(column.name) for column in types)
    with TranslatedErrors(lambda _: changed(shown), connection.ProgrammingError):  # no such column, no such table
        described = connection.execute(f"SELECT {names} FROM {source} LIMIT 0").description
        if [column.type_code for column in described] != list(types.values()):
            raise changed(shown)


def _holds(name: str, sort: str, category: str, is_built_in: bool) -> Holds:
    if sort == "e":
        return Holds.TEXT
    if category == "A" or sort in ("c", "r", "m"):
        return Holds.NESTED
    return _BUILT_IN.get(name, Holds.OTHER) if is_built_in else _MORE.get(name, Holds.OTHER)
