"""Checks that a Spark frame is as it was when it was opened, because its views may have been replaced.

A frame of a classic session keeps the meaning of its names. Spark Connect resolves them again for each job: a temporary
view may be another one by then, with text in place of numbers, and one row would decide whether the job fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column, Holds
from dpselect.backends.lazy.extras import spark_functions
from dpselect.backends.lazy.schema import columns_of
from dpselect.backends.lazy.spark_dialect import cell
from dpselect.errors import InvalidDataError, Shown

_TYPES = {
    Holds.INTEGERS: "^(tiny|small|big)?int$",
    Holds.FLOATS: "^double$",
    Holds.SHORT_FLOATS: "^float$",
    Holds.DECIMALS: "^decimal",
    Holds.TEXT: "^(string|char|varchar)",
    Holds.DATES: "^date$",
    Holds.BOOLEANS: "^boolean$",
    Holds.BYTES: "^binary$",
}
"""Spark's names of the types of columns that questions can use."""


def columns_in(frame: Any, shown: str) -> tuple[Column, ...]:
    """The columns of a Spark frame, from its schema."""
    empty = {name: Holds.NOTHING for name, type_ in frame.dtypes if type_ == "void"}
    return columns_of(frame, frame.columns, shown, unlike=empty.get)


def as_opened(frame: Any, asked: Iterable[Column], shown: str) -> Any:
    """`frame`, after a check that the columns asked for have the types that they had when it was opened.

    The error depends on a column's type, never on its rows. If the type changes after this check, the column has only
    nulls, so that reading it cannot fail.

    Args:
        frame: the frame.
        asked: the columns, as they were when the frame was opened.
        shown: its name in errors.

    Raises:
        InvalidDataError: a column is missing, or has another type.
    """
    if not nw.dependencies.is_pyspark_connect_dataframe(frame):
        return frame
    F = spark_functions(frame)  # noqa: N806
    then = {column.name: column for column in asked}
    now = {column.name: column for column in columns_in(frame.select("*"), shown)}  # a frame remembers its own schema
    if any(now.get(name) != column for name, column in then.items()):
        hint = "A view that it uses was replaced; open it again."
        raise InvalidDataError("source", Shown(shown), "columns of the types that they had when it was opened", hint)
    return frame.select(*(_unless_replaced(F, column) for column in then.values()))


def _unless_replaced(F: Any, column: Column) -> Any:  # noqa: N803
    value = cell(F, column)
    pattern = _TYPES.get(column.holds)
    return value if pattern is None else F.when(F.typeof(value).rlike(pattern), value).alias(column.name)
