"""The rules for rows in PostgreSQL, where a cast or a product that does not fit is an error, not a null.

Text is compared byte by byte, whatever the column's collation: if the server considered two spellings equal, the rows
would decide which of them it returns.
"""

from __future__ import annotations

from typing import ClassVar

from dpselect.backends.columns import Holds
from dpselect.backends.contract import Amount
from dpselect.backends.row_rules import Dialect, Name, Number, RowValue, Unit, Value
from dpselect.summaries import CandidateKind

_LARGEST, _SMALLEST = 1.7976931348623157e308, "2.4703282292062328e-324"
"""Decimals beyond the first exceed all doubles; decimals below the second are nearest to zero."""


class _PostgreSQL(Dialect):
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

    def matches(self, text: str, pattern: str) -> str:
        return f"{text} ~ '^({pattern})$'"

    def known_decimal(self, number: str) -> str:
        return f"{number} <> 'NaN'"

    def whole_decimal(self, number: str) -> str:
        within = f"{number} BETWEEN {-(2**63)} AND {2**63 - 1}"
        return f"CASE WHEN {within} AND {number} = trunc({number}) THEN CAST({number} AS bigint) END"

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


POSTGRESQL = _PostgreSQL()

IBIS_TYPES = {
    CandidateKind.INTEGER: "int64",
    CandidateKind.NUMBER: "float64",
    CandidateKind.TEXT: "string",
    CandidateKind.DATE: "date",
    CandidateKind.BOOLEAN: "boolean",
}
"""The types of candidates in Ibis."""

_UNIT_TYPES = {
    Holds.INTEGERS: "int64",
    Holds.FLOATS: "float64",
    Holds.SHORT_FLOATS: "float64",
    Holds.DATES: "date",
    Holds.BOOLEANS: "boolean",
    Holds.BYTES: "binary",
    Holds.DECIMALS: "decimal",
}


def ibis_type(value: RowValue) -> str:
    """The type in Ibis of a value of a row."""
    match value:
        case Unit(column):
            return _UNIT_TYPES.get(column.holds, "string")
        case Value(_, kind) | Name(_, kind):
            return IBIS_TYPES[kind]
        case Number():
            return "float64"
        case Amount():
            return "decimal(38, 0)"


def quoted(name: str) -> str:
    """The name of a table or a column, in quotes."""
    return '"' + name.replace('"', '""') + '"'
