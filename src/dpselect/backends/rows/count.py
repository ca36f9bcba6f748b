"""Distinct units per candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column
from dpselect.backends.contract import Grouping
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.relation import Relation, chooses, chosen, within_groups
from dpselect.summaries import PublicCandidates


def counted(
    connection: Connection,
    *,
    unit: Column,
    column: Column,
    candidates: PublicCandidates,
    most: int | None,
    grouping: Grouping | None,
) -> NDArray[np.int64]:
    """How many units have at least one row with each candidate: shape ``(groups, candidates)``.

    If `most` is given, a unit counts for this many of its candidates (in each group), chosen at random.

    Proof: ``proofs/counting.md``; with groups ``proofs/groups.md``.
    """
    rows = Relation(connection, unit=unit, grouping=grouping)
    rows.match("position", column, candidates, name="value")
    whose = ("who",) if grouping is None else ("who", "part")
    keys = ", ".join((*whose[1:], "position"))
    different = f"SELECT DISTINCT who, {keys} FROM ({rows.sql})"
    if most is None:
        once = within_groups(different, grouping)
    else:
        within = within_groups(different, grouping) if chooses(grouping) else rows.sql
        once = chosen(f"({within})", whose, "position", among=len(candidates), most=most)
    numbers = f"SELECT {keys}, count(*)::BIGINT AS number FROM ({once}) GROUP BY {keys}"
    return tabulated(connection.execute(numbers).fetchnumpy(), candidates, grouping)


def tabulated(
    found: Mapping[str, Any], candidates: PublicCandidates | None, grouping: Grouping | None
) -> NDArray[np.int64]:
    """The numbers found for candidates that occur, and zeros for the others: shape ``(groups, candidates)``.

    Without candidates there is one number for each group.
    """
    places = 1 if candidates is None else len(candidates)
    table = np.zeros((1 if grouping is None else len(grouping.groups), places), np.int64)
    parts = 0 if grouping is None else np.asarray(found["part"], np.int64)
    numbers = np.asarray(found["number"], np.int64)
    at = np.zeros(numbers.size, np.int64) if candidates is None else np.asarray(found["position"], np.int64)
    table[parts, at] = numbers
    return table
