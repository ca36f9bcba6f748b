"""SQL for what stands in a row of a PostgreSQL table; none of it can fail for any row.

Text is compared byte by byte, whatever order or likeness of letters the column was declared with: were two spellings
the same to the server, which of them it names would depend on the rows.
"""

from __future__ import annotations

from fractions import Fraction

from dpselect.backends.columns import Column, Holds
from dpselect.backends.contract import Amount
from dpselect.backends.lazy.asked import BLANKS, LARGEST_WHOLE, SMALLEST_WHOLE, Asked, Number, Unit, Value
from dpselect.backends.row_rules import MISSING
from dpselect.summaries import CandidateKind

TYPES = {
    CandidateKind.INTEGER: ("bigint", "int64"),
    CandidateKind.NUMBER: ("double precision", "float64"),
    CandidateKind.TEXT: ("text", "string"),
    CandidateKind.DATE: ("date", "date"),
    CandidateKind.BOOLEAN: ("boolean", "boolean"),
}
"""What candidates are on the server, and to Ibis."""

_UNIT_TYPES = {
    Holds.INTEGERS: "int64",
    Holds.FLOATS: "float64",
    Holds.SHORT_FLOATS: "float64",
    Holds.DATES: "date",
    Holds.BOOLEANS: "boolean",
    Holds.BYTES: "binary",
    Holds.DECIMALS: "decimal",
}

_INET = 869
"""The number that servers give to the type ``inet``, all of them the same."""

_FLOATS = (Holds.FLOATS, Holds.SHORT_FLOATS)
_LARGEST, _SMALLEST = 1.7976931348623157e308, "2.4703282292062328e-324"
"""Beyond the first a decimal is further away than any double, below the second it is nearest to zero."""


def quoted(name: str) -> str:
    """A name of a table or a column."""
    return '"' + name.replace('"', '""') + '"'


def as_shown(column: Column, type_: int) -> str:
    """A column in a form whose cast to text is what the server shows: of an ``inet`` that would add ``/32``."""
    name = quoted(column.name)
    return f"abbrev({name}) AS {name}" if type_ == _INET else name


def expression(asked: Asked) -> tuple[str, str]:
    """What is asked of a row as SQL, and its type as Ibis calls it."""
    cell = quoted(asked.column.name)
    match asked:
        case Unit(column):
            return _unit(cell, column.holds), _UNIT_TYPES.get(column.holds, "string")
        case Value(column, kind):
            sql, ibis = TYPES[kind]
            return f"CAST({_value(cell, column.holds, kind)} AS {sql})" + _bytewise(kind), ibis
        case Number(column):
            return _number(cell, column.holds), "float64"
        case Amount(column, scale, lower, upper):
            return _amount(column, scale, lower, upper), "decimal(38, 0)"


def _bytewise(kind: CandidateKind) -> str:
    return ' COLLATE "C"' if kind is CandidateKind.TEXT else ""


def _unit(cell: str, holds: Holds) -> str:
    if holds is Holds.TEXT:
        name = f"btrim(CAST({cell} AS text) COLLATE \"C\", '{BLANKS}')"
        missing = ", ".join(f"'{word}'" for word in ("", *MISSING))
        return f"CASE WHEN {name} NOT IN ({missing}) THEN {name} END"
    if holds in _FLOATS:
        return f"CASE WHEN {cell} <> 'NaN' THEN CAST({cell} AS double precision) END"
    return f"CASE WHEN {cell} <> 'NaN' THEN {cell} END" if holds is Holds.DECIMALS else cell


def _value(cell: str, holds: Holds, kind: CandidateKind) -> str:
    if kind is CandidateKind.NUMBER:
        return _number(cell, holds)
    if kind is CandidateKind.INTEGER and holds in _FLOATS:
        number = f"CAST({cell} AS double precision)"
        within = f"{number} BETWEEN {_double(SMALLEST_WHOLE)} AND {_double(LARGEST_WHOLE)}"
        return f"CASE WHEN {within} AND {number} = trunc({number}) THEN {number} END"
    if kind is CandidateKind.INTEGER and holds is Holds.DECIMALS:
        within = f"{cell} BETWEEN {-(2**63)} AND {2**63 - 1}"
        return f"CASE WHEN {within} AND {cell} = trunc({cell}) THEN {cell} END"
    return cell


def _number(cell: str, holds: Holds) -> str:
    double = f"CAST({cell} AS double precision)"
    if holds is Holds.DECIMALS:
        return (
            f"CASE WHEN {cell} = 'NaN' THEN NULL WHEN {cell} > {_LARGEST!r} THEN 'Infinity'"
            f" WHEN {cell} < -{_LARGEST!r} THEN '-Infinity' WHEN abs({cell}) < {_SMALLEST} THEN 0.0 ELSE {double} END"
        )
    if holds in _FLOATS:
        return f"CASE WHEN {cell} <> 'NaN' THEN {double} END"
    return f"CAST(CAST({cell} AS bigint) AS double precision)"  # an oid is no number before


def _amount(column: Column, scale: Fraction, lower: int, upper: int) -> str:
    """No product that is beyond all doubles, or nearest to zero, is computed: to PostgreSQL either is an error."""
    number, factor = _number(quoted(column.name), column.holds), float(scale)
    large, small = min(2.0**33 / factor, _LARGEST), min(2.0**-10 / factor, _LARGEST)
    scaled = f"CASE WHEN abs(number) > {_double(large)} THEN sign(number) * {2.0**33!r}"
    scaled += f" WHEN abs(number) < {_double(small)} THEN 0.0 ELSE number * {_double(factor)} END"
    clipped = f"greatest({float(lower)!r}, least({float(upper)!r}, round(CAST({scaled} AS double precision))))"
    whole = f"CASE WHEN number IS NOT NULL THEN CAST({clipped} AS bigint) END"
    return f"(SELECT CAST({whole} AS numeric) FROM (SELECT {number} AS number) AS numbers)"


def _double(number: float) -> str:
    return f"CAST('{number!r}' AS double precision)"
