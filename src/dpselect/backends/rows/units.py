"""The number of units with a row that a question can use."""

from __future__ import annotations

from dpselect.backends.columns import Column
from dpselect.backends.contract import Grouping
from dpselect.backends.row_rules import Number, rule
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.count import tabulated
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.relation import Relation, within_groups
from dpselect.summaries import PublicCandidates


def units_counted(
    connection: Connection,
    *,
    unit: Column,
    matched: tuple[Column, PublicCandidates] | None,
    number: Column | None,
    between: tuple[float, float] | None,
    grouping: Grouping | None,
) -> list[int]:
    """How many units have, in each group, a row with one of the candidates and a number, as far as each is needed.

    The number has to lie `between` two bounds, if they are given.

    Proof: ``proofs/usable_units.md``; with groups ``proofs/groups.md``.
    """
    rows = Relation(connection, unit=unit, grouping=grouping)
    if matched is not None:
        column, candidates = matched
        rows.match("position", column, candidates, name="value")
    if number is not None:
        read = rule(Number(number), "number", DUCKDB)
        if between is not None:
            low, high = (DUCKDB.double(end) for end in between)
            read = f"CASE WHEN ({read}) BETWEEN {low} AND {high} THEN 1 END"
        rows.compute("what", read)
    if grouping is None:
        ((units,),) = connection.execute(f"SELECT count(*) FROM (SELECT DISTINCT who FROM ({rows.sql}))").fetchall()
        return [int(units)]
    once = within_groups(f"SELECT DISTINCT who, part FROM ({rows.sql})", grouping)
    found = connection.execute(f"SELECT part, count(*)::BIGINT AS number FROM ({once}) GROUP BY part").fetchnumpy()
    return tabulated(found, None, grouping)[:, 0].tolist()
