"""The values that occur in a column, and how many units have each."""

from __future__ import annotations

import numpy as np

from dpselect.backends.columns import Column
from dpselect.backends.contract import Grouping
from dpselect.backends.row_rules import Name, rule
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.relation import Relation, among_first, chooses, value_hash, within_groups
from dpselect.summaries import CandidateKind, NameCounts


def named(
    connection: Connection, *, unit: Column, column: Column, kind: CandidateKind, most: int, grouping: Grouping | None
) -> list[NameCounts]:
    """How many different units have at least one row with each value that occurs (in each group).

    A unit counts for at most `most` of its values, chosen at random. The engine groups by unit and by value, and both
    can spill to disk. Every value that occurs is returned: it takes its own bytes and about 16 more in memory.

    Proof: ``proofs/unknown_candidates.md``, claim 1; with groups ``proofs/groups.md``.
    """
    rows = Relation(connection, unit=unit, grouping=grouping)
    rows.compute("what", rule(Name(column, kind), "value", DUCKDB))
    parts = () if grouping is None else ("part",)
    whose, keys = ("who", *parts), ", ".join((*parts, "what"))
    within = rows.sql
    if chooses(grouping):
        within = within_groups(f"SELECT DISTINCT who, {keys} FROM ({within})", grouping)
    once = _chosen(f"({within})", whose, most, kind)
    numbers = f"SELECT {keys}, count(*)::BIGINT AS number FROM ({once}) GROUP BY {keys}"
    found = connection.sql(numbers).to_arrow_table()
    counts = np.asarray(found.column("number").to_numpy(), np.int64)
    if grouping is None:
        return [NameCounts(found.column("what"), counts.copy(), kind=kind)]
    places = np.asarray(found.column("part").to_numpy(), np.int64)
    return NameCounts.by_group(found.column("what"), counts, places, kind=kind, groups=len(grouping.groups))


def _chosen(rows: str, keys: tuple[str, ...], most: int, kind: CandidateKind) -> str:
    """The values ``what`` chosen for their `keys`, at most `most` for each: those with the smallest hashes.

    If two values have the same hash, the smaller one is chosen: the choice depends on the unit's own values alone. Of
    two whole numbers this cannot be, because the engine's hash of a number of 64 bits is one-to-one.
    """
    whose, lot = ", ".join(keys), value_hash(keys, "hash(what)")
    if most == 1:
        order = lot if kind is CandidateKind.INTEGER else f"row({lot}, what)"
        return f"SELECT {whose}, arg_min(what, {order}) AS what FROM {rows} GROUP BY {whose}"
    different = f"SELECT DISTINCT {whose}, what, {lot} AS lot FROM {rows}"
    return f"SELECT {whose}, what FROM ({different}) QUALIFY {among_first(most, keys, ('lot', 'what'))}"
