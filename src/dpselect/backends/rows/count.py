"""Distinct units per candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column
from dpselect.backends.contract import Grouping
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.relation import GROUP_LOT, Relation, chooses, combined_lot, group_lots, within_groups
from dpselect.summaries import PublicCandidates


def counted(
    connection: Connection, *, unit: Column, column: Column, candidates: PublicCandidates, grouping: Grouping | None
) -> NDArray[np.int64]:
    """How many units have at least one row with each candidate: shape ``(groups, candidates)``.

    Proof: ``proofs/counting.md``; with groups ``proofs/groups.md``.
    """
    rows = Relation(connection, unit=unit, grouping=grouping, lots=group_lots(grouping))
    rows.match("position", column, candidates, name="value")
    keys = "position" if grouping is None else "part, position"
    if chooses(grouping):
        lot = f"{combined_lot(GROUP_LOT)} AS {GROUP_LOT}"
        once = f"SELECT who, {keys}, {lot} FROM ({rows.sql}) GROUP BY who, {keys}"
    else:
        once = f"SELECT DISTINCT who, {keys} FROM ({rows.sql})"
    numbers = f"SELECT {keys}, count(*)::BIGINT AS number FROM ({within_groups(once, grouping)}) GROUP BY {keys}"
    return tabulated(connection.execute(numbers).fetchnumpy(), candidates, grouping)


def tabulated(found: Mapping[str, Any], candidates: PublicCandidates, grouping: Grouping | None) -> NDArray[np.int64]:
    """The numbers found for candidates that occur, and zeros for the others: shape ``(groups, candidates)``."""
    table = np.zeros((1 if grouping is None else len(grouping.groups), len(candidates)), np.int64)
    parts = 0 if grouping is None else np.asarray(found["part"], np.int64)
    table[parts, np.asarray(found["position"], np.int64)] = np.asarray(found["number"], np.int64)
    return table
