"""Sums of the units' clipped amounts for each candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column
from dpselect.backends.contract import Amount, Grouping
from dpselect.backends.row_rules import rule
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.count import tabulated
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.relation import Relation, within_groups
from dpselect.summaries import PublicCandidates

_SMALLEST, _LARGEST = f"({-(2**63)})::HUGEINT", f"({2**63 - 1})::HUGEINT"


def totalled(
    connection: Connection,
    *,
    unit: Column,
    amount: Amount,
    matched: tuple[Column, PublicCandidates] | None,
    grouping: Grouping | None,
) -> NDArray[np.int64]:
    """Sums of the units' clipped amounts: shape ``(groups, candidates)``, or one of all rows in each group.

    All sums are of whole numbers, so that their order does not matter. A sum beyond 64 bits becomes the nearest
    number that fits.

    Proof: ``proofs/clipped_sums.md``; with groups ``proofs/groups.md``.
    """
    rows = Relation(connection, unit=unit, grouping=grouping)
    keys = [] if grouping is None else ["part"]
    if matched is not None:
        column, candidates = matched
        rows.match("position", column, candidates, name="value")
        keys.append("position")
    rows.compute("added", rule(amount, "amount", DUCKDB))
    whose = ", ".join(["who", *keys])
    units = f"SELECT {whose}, sum(added) AS added FROM ({rows.sql}) GROUP BY {whose}"
    clipped = f"greatest({amount.lower}, least({amount.upper}, added))"
    sums = saturated(f"coalesce(sum({clipped}), 0)")
    by = f"GROUP BY {', '.join(keys)}" if keys else ""
    found = connection.execute(
        f"SELECT {', '.join([*keys, f'{sums} AS number'])} FROM ({within_groups(units, grouping)}) {by}"
    ).fetchnumpy()
    return tabulated(found, None if matched is None else matched[1], grouping)


def saturated(sql: str) -> str:
    """SQL for the nearest number of 64 bits to one of 128 bits."""
    return f"greatest({_SMALLEST}, least({_LARGEST}, {sql}))::BIGINT"
