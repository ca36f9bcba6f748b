"""The numbers of a column, with a bounded number of rows per unit."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column
from dpselect.backends.contract import Grouping
from dpselect.backends.row_rules import Number, rule
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.relation import Relation, among_first, joined_lot, within_groups
from dpselect.summaries import PublicDomain

ROW_LOT = "row_lot"
"""Column of the random numbers by which a unit's rows are chosen."""


def gathered(
    connection: Connection,
    *,
    unit: Column,
    column: Column,
    domain: PublicDomain,
    max_rows_per_unit: int,
    grouping: Grouping | None,
) -> list[NDArray[np.float64]]:
    """The numbers in `column`, clipped into the domain, at most `max_rows_per_unit` of each unit in each group.

    Every row draws a random lot; among a unit's rows with a number, those with the smallest lots count. So every set of
    that many rows is equally likely, and the choice for one unit is independent of the rows of all others. Groups are
    chosen by other lots.

    Returns:
        The values of each group, in no particular order. They take eight bytes each; all other memory can spill to
        disk, however the rows are distributed over the units.

    Proof: ``proofs/unit_values.md``; with groups ``proofs/groups.md``.
    """
    rows = Relation(connection, unit=unit, grouping=grouping, lots=(ROW_LOT,))
    rows.compute("what", rule(Number(column), "value", DUCKDB))
    keys = ("who",) if grouping is None else ("who", "part")
    limited = _one_of_each if max_rows_per_unit == 1 else partial(_several_of_each, most=max_rows_per_unit)
    clipped = ", ".join(["greatest(?::DOUBLE, least(?::DOUBLE, what)) AS value", *keys[1:]])
    found = connection.execute(
        f"SELECT {clipped} FROM ({limited(within_groups(rows.sql, grouping), keys)})", [domain.lower, domain.upper]
    ).fetchnumpy()
    values = np.asarray(found["value"], np.float64)
    return [values] if grouping is None else _split(values, np.asarray(found["part"], np.int64), len(grouping.groups))


def _split(values: NDArray[np.float64], parts: NDArray[np.int64], groups: int) -> list[NDArray[np.float64]]:
    ends = np.cumsum(np.bincount(parts, minlength=groups))
    return np.split(values[np.argsort(parts, kind="stable")], ends[:-1])


def _one_of_each(sql: str, keys: tuple[str, ...]) -> str:
    """For each unit (in each group) the row of `sql` with the smallest lot; only one is held in memory at a time."""
    # If two lots of a unit are equal, the values decide, in a fixed order of all numbers that no other row can change.
    lot = joined_lot(ROW_LOT, "hash(what)")
    return f"SELECT {', '.join(keys)}, arg_min(what, {lot}) AS what FROM ({sql}) GROUP BY {', '.join(keys)}"


def _several_of_each(sql: str, keys: tuple[str, ...], *, most: int) -> str:
    """For each unit (in each group) the `most` rows of `sql` with the smallest lots."""
    return f"SELECT * FROM ({sql}) QUALIFY {among_first(most, keys, (ROW_LOT, 'what'))}"
