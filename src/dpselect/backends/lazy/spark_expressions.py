"""What is asked of a row, in Spark's words; none of them fails for any row."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpselect.backends.columns import Column, Holds
from dpselect.backends.contract import Amount
from dpselect.backends.lazy.asked import BLANKS, LARGEST_WHOLE, SMALLEST_WHOLE, Asked, Number, Unit, Value
from dpselect.backends.row_rules import MISSING
from dpselect.summaries import CandidateKind

_WHOLE_NUMBER = r"^(-?[0-9]+(\.0*)?|0E-[0-9]+)$"
"""How Spark writes whole decimals as text; zero also with an exponent."""

SQL_TYPES = {
    CandidateKind.INTEGER: "bigint",
    CandidateKind.NUMBER: "double",
    CandidateKind.TEXT: "string",
    CandidateKind.DATE: "date",
    CandidateKind.BOOLEAN: "boolean",
}


def expression(asked: Asked, F: Any) -> Any:  # noqa: N803
    """What is asked of a row, as a column of Spark.

    Args:
        asked: what to read.
        F: the functions for columns of the frame, see `spark_functions`.
    """
    match asked:
        case Unit(column):
            return _unit(F, cell(F, column), column.holds)
        case Value(column, kind):
            return _value(F, cell(F, column), column.holds, kind)
        case Number(column):
            return _number(F, cell(F, column), column.holds)
        case Amount(column, scale, lower, upper):
            return _amount(F, _number(F, cell(F, column), column.holds), scale, lower, upper)


def cell(F: Any, column: Column) -> Any:  # noqa: N803
    """What stands in `column`, whatever its name is."""
    return F.col("`" + column.name.replace("`", "``") + "`")


def _unit(F: Any, cell: Any, holds: Holds) -> Any:  # noqa: N803
    if holds is Holds.TEXT:
        cell = cell.cast("string")  # letter by letter, whatever a collation holds to be alike
        name = F.btrim(cell, F.lit(BLANKS))
        return F.when(F.is_valid_utf8(cell) & ~name.isin("", *MISSING), name)
    if holds is Holds.BYTES:
        return F.hex(cell)
    return F.when(~F.isnan(cell), cell) if holds in (Holds.FLOATS, Holds.SHORT_FLOATS) else cell


def _value(F: Any, cell: Any, holds: Holds, kind: CandidateKind) -> Any:  # noqa: N803
    if kind is CandidateKind.NUMBER:
        return _number(F, cell, holds) + F.lit(0.0)  # no negative zero, which is not in every list that has zero
    if kind is CandidateKind.INTEGER and holds in (Holds.FLOATS, Holds.SHORT_FLOATS):
        number = cell.cast("double")
        whole = (number == F.rint(number)) & number.between(SMALLEST_WHOLE, LARGEST_WHOLE)
        return F.when(whole, number).cast("bigint")
    if kind is CandidateKind.INTEGER and holds is Holds.DECIMALS:
        return F.when(cell.cast("string").rlike(_WHOLE_NUMBER), cell).try_cast("bigint")
    return cell.cast(SQL_TYPES[kind])


def _number(F: Any, cell: Any, holds: Holds) -> Any:  # noqa: N803
    number = cell.cast("double")
    return F.when(~F.isnan(number), number) if holds in (Holds.FLOATS, Holds.SHORT_FLOATS) else number


def _amount(F: Any, number: Any, scale: Fraction, lower: int, upper: int) -> Any:  # noqa: N803
    scaled = F.rint(number * F.lit(float(scale)))
    clipped = F.greatest(F.lit(float(lower)), F.least(F.lit(float(upper)), scaled))
    return F.when(number.isNotNull(), clipped).cast("decimal(38,0)")
