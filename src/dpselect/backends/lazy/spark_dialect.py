"""The rules for rows in Spark. Names of columns are kept out of its SQL, where ``${...}`` would be a setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.extras import spark_functions
from dpselect.backends.row_rules import Dialect, RowValue, rules
from dpselect.summaries import CandidateKind


class _Spark(Dialect):
    types: ClassVar = {
        CandidateKind.INTEGER: "bigint",
        CandidateKind.NUMBER: "double",
        CandidateKind.TEXT: "string",
        CandidateKind.DATE: "date",
        CandidateKind.BOOLEAN: "boolean",
    }
    amount = "decimal(38,0)"

    def text(self, cell: str) -> str:
        return f"CAST({cell} AS string COLLATE UTF8_BINARY)"  # byte by byte, whatever the column's collation

    def valid_text(self, cell: str) -> str:
        return f"try_validate_utf8({self.text(cell)})"

    def unit_key(self, name: str, holds: Holds) -> str:
        return f"hex({name})" if holds is Holds.BYTES else name

    def is_whole(self, number: str) -> str:
        return f"{number} = rint({number})"  # floor returns 64-bit numbers, and is an error beyond

    def half_even(self, number: str) -> str:
        return f"rint({number})"


SPARK = _Spark()


def cell(F: Any, column: Column) -> Any:  # noqa: N803
    """The cell of `column`, whatever its name is.

    Args:
        F: the functions for columns of its frame, see `spark_functions`.
        column: the column.
    """
    return F.col("`" + column.name.replace("`", "``") + "`")


def read(frame: Any, values: Mapping[str, RowValue]) -> Any:
    """A data frame of the values that the rules read from `frame`, with a column for each name."""
    F = spark_functions(frame)  # noqa: N806
    names, expressions = rules(values, SPARK)
    cells = frame.select(*(cell(F, column).alias(name) for column, name in names.items()))
    return cells.select(*(F.expr(sql).alias(name) for name, sql in expressions.items()))
