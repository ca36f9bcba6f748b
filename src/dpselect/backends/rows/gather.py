"""The numbers of a column, of each unit at most so many."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column, check_numeric
from dpselect.backends.files.table import FileTable
from dpselect.backends.rows import engine, matching
from dpselect.backends.rows.scan import Scan
from dpselect.summaries import PublicDomain, UnitValues


def gather_unit_values(
    table: FileTable,
    *,
    unit: Column,
    column: Column,
    domain: PublicDomain,
    max_rows_per_unit: int,
    progress: engine.Progress | None = None,
) -> UnitValues:
    """The numbers in `column`, clipped into the domain, at most `max_rows_per_unit` of each unit.

    Every row draws a lot; of each unit's rows that have a number, those with the smallest lots are kept. So each set of
    as many rows is equally likely, and which ones are kept of one unit says nothing of, and depends on nothing in, the
    rows of another.

    Args:
        table: the files.
        unit: the column that names the unit; rows in which it is missing are left out.
        column: the column of numbers; rows in which there is none are left out, and those beyond the bounds count as
            the bound they are beyond.
        domain: the public bounds.
        max_rows_per_unit: >= 1.
        progress: told how far the reading has come; about ten times a second.

    Returns:
        The values, in no particular order. Eight bytes for each; whatever else is needed may spill to disk.

    Raises:
        InvalidDataError: the column's type cannot hold numbers, or a file cannot be read to its end (any more). No
            row's content decides whether this happens.
        SelectionError: memory or temporary disk space ran out.

    Proof: ``proofs/unit_values.md``.
    """
    check_numeric(column)
    query = partial(_kept, unit=unit, column=column, domain=domain, max_rows_per_unit=max_rows_per_unit)
    values = engine.answer(Scan(table, unit=unit, column=column, lots=True), query, progress=progress)
    return UnitValues(values, domain=domain, max_rows_per_unit=max_rows_per_unit)


def _kept(
    connection: engine.Connection, *, unit: Column, column: Column, domain: PublicDomain, max_rows_per_unit: int
) -> NDArray[np.float64]:
    who, what = matching.unit_expression(unit.holds), matching.number_expression(column.holds)
    # Should two lots of a unit be equal, the values decide: which rows are kept is a function of the unit's own rows.
    found = connection.execute(
        "SELECT greatest(?::DOUBLE, least(?::DOUBLE, what)) AS kept FROM"
        f" (SELECT {who} AS who, {what} AS what, lot FROM rows)"
        " WHERE who IS NOT NULL AND what IS NOT NULL"
        " QUALIFY row_number() OVER (PARTITION BY who ORDER BY lot, what) <= ?",
        [domain.lower, domain.upper, max_rows_per_unit],
    ).fetchnumpy()
    return np.asarray(found["kept"], np.float64)
