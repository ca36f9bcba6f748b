"""What differs in PostgreSQL: its encodings, its types, and its rules, as a cast that does not fit is an error."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from dpselect.errors import InvalidCandidatesError, InvalidDataError, Shown
from dpselect.rows.columns import Column, Holds, named_columns
from dpselect.rows.duckdb.connection import quoted
from dpselect.rows.failures import TranslatedErrors, changed
from dpselect.rows.row_rules import BLANKS, NO_BREAK_BLANKS, Dialect
from dpselect.summaries import CandidateKind

UNICODE = "UTF8"
"""UTF-8, as PostgreSQL names it."""

_ANYTHING = (UNICODE, "SQL_ASCII")
"""Encodings of databases that hold any text; the second stores and compares bytes."""

_CODECS = {
    **{f"LATIN{part}": f"latin{part}" for part in range(1, 11)},
    **{f"WIN{page}": f"cp{page}" for page in (866, 874, *range(1250, 1259))},
    **{f"ISO_8859_{part}": f"iso8859_{part}" for part in range(5, 9)},
    "EUC_CN": "euc_cn",
    "KOI8R": "koi8_r",
    "KOI8U": "koi8_u",
}
"""Python's codecs for the server's encodings, except those in which the two differ."""


def speak_unicode(connection: Any) -> None:
    """Set the connection's encoding to UTF-8 for the present transaction."""
    if connection.info.parameter_status("client_encoding") != UNICODE:
        connection.execute(f"SET LOCAL client_encoding = '{UNICODE}'")


def check_unicode(connection: Any) -> None:
    """Refuse a database from which not every text arrives: whether one does would depend on a row.

    Raises:
        InvalidDataError: the encoding of the database is not UTF-8.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != UNICODE:
        expected = f"a column that is not text, because the encoding of the database is {encoding}"
        raise InvalidDataError("column", Shown("<text>"), expected, "Copy the table to a database in UTF8.")


def storable(connection: Any, texts: list[str | None], *, argument: str) -> list[str | None]:
    """The public `texts`, given as `argument`, with None for those that no table of this database can hold.

    Raises:
        InvalidCandidatesError: the encoding of the database is not supported.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding in _ANYTHING:
        return texts
    if encoding not in _CODECS:
        expected = f"no text, because the encoding of the database, {encoding}, is not supported"
        hint = "Ask about numbers, or copy the table to a database in UTF8."
        raise InvalidCandidatesError(argument, Shown("<text>"), expected, hint)
    return [text if text is not None and _is_known(text, _CODECS[encoding]) else None for text in texts]


def _is_known(text: str, codec: str) -> bool:
    try:
        codecs.encode(text, codec)
    except UnicodeEncodeError:
        return False
    return True


_LARGEST, _SMALLEST = 1.7976931348623157e308, "2.4703282292062328e-324"
"""Decimals beyond the first exceed all doubles; decimals below the second are nearest to zero."""


_LONGEST_NORMAL = 1 << 20
"""Bytes. The server cannot normalize what takes a quarter of a gigabyte, and one cell may not end a question."""


class PostgreSQL(Dialect):
    """The words of a database in this encoding."""

    types: ClassVar = {
        CandidateKind.INTEGER: "bigint",
        CandidateKind.NUMBER: "double precision",
        CandidateKind.TEXT: "text",
        CandidateKind.DATE: "date",
        CandidateKind.BOOLEAN: "boolean",
    }
    amount = "numeric"

    def __init__(self, encoding: str = UNICODE) -> None:
        self.in_utf8 = encoding == UNICODE
        codec = _CODECS.get(encoding)
        known = [each for each in NO_BREAK_BLANKS if codec is not None and _is_known(each, codec)]
        self.no_break_blanks = NO_BREAK_BLANKS if self.in_utf8 else "".join(known)

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

    def normal_form(self, text: str) -> str:
        return super().normal_form(text) if self.in_utf8 else text  # the others have no accents to combine

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
    """The columns of the table or view that SQL calls `source`."""
    return _columns(connection, connection.execute(_OF_TABLE, [source]).fetchall(), shown)


def check_unchanged(connection: Any, source: str, types: Types, shown: str) -> None:
    """Refuse a table if the `types` of its columns have changed. They cannot change until the transaction ends.

    The server locks the table before it describes the columns of a query. A separate query of its catalogue might show
    an older state.
    """
    names = ", ".join(quoted(column.name) for column in types)
    with TranslatedErrors(lambda _: changed(shown), connection.ProgrammingError):  # no such column, no such table
        if _types(connection, names, source) != list(types.values()):
            raise changed(shown)


def _types(connection: Any, names: str, source: str) -> list[int]:
    return [column.type_code for column in connection.execute(f"SELECT {names} FROM {source} LIMIT 0").description]


def _columns(connection: Any, found: Sequence[tuple[str, int]], shown: str) -> Types:
    """The columns with their types; names may differ in capitals only."""
    named_columns([name for name, _ in found], (), shown=shown)
    types = sorted({type_ for _, type_ in found})
    made_of = {given: (number, _holds(*of_type)) for given, number, *of_type in _rows(connection, types)}
    described = [(name, *made_of.get(type_, (type_, Holds.OTHER))) for name, type_ in found]
    return {Column(name, holds): number for name, number, holds in described}


def _rows(connection: Any, types: Sequence[int]) -> Iterable[Sequence[Any]]:
    return connection.execute(_TYPES, [list(types)]).fetchall()


def _holds(name: str, sort: str, category: str, is_built_in: bool) -> Holds:
    if sort == "e":
        return Holds.TEXT
    if category == "A" or sort in ("c", "r", "m"):
        return Holds.NESTED
    return _BUILT_IN.get(name, Holds.OTHER) if is_built_in else _MORE.get(name, Holds.OTHER)
