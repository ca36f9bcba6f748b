"""What questions ask of rows: distinct units, sums, values that occur, and numbers, with bounded contributions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column, Holds
from dpselect.backends.contract import Amount, Grouping
from dpselect.backends.row_rules import Name, Number, Value, Within, rule
from dpselect.backends.rows.arrow import BATCH_ROWS, RecordBatch, of_numpy, pa
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.backends.rows.relation import (
    Relation,
    among_first,
    chooses,
    chosen,
    joined_lot,
    value_hash,
    within_groups,
)
from dpselect.backends.rows.reversible_lots import smallest_lots
from dpselect.summaries import CandidateKind, NameCounts, PublicCandidates, PublicDomain


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


def saturated(sql: str) -> str:
    """A whole number of 128 bits as one of 64 bits: the nearest that fits."""
    return f"greatest(({-(2**63)})::HUGEINT, least(({2**63 - 1})::HUGEINT, {sql}))::BIGINT"


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
    clipped = f"least({amount.upper}, added)"
    if amount.lower < 0:  # else no row adds less than the lower bound, and a unit here has a row
        clipped = f"greatest({amount.lower}, {clipped})"
    sums = saturated(f"coalesce(sum({clipped}), 0)")
    by = f"GROUP BY {', '.join(keys)}" if keys else ""
    found = connection.execute(
        f"SELECT {', '.join([*keys, f'{sums} AS number'])} FROM ({within_groups(units, grouping)}) {by}"
    ).fetchnumpy()
    return tabulated(found, None if matched is None else matched[1], grouping)


def units_counted(
    connection: Connection,
    *,
    unit: Column,
    matched: tuple[Column, PublicCandidates] | None,
    number: Column | None,
    between: tuple[int | float, int | float] | None,
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
        rows.compute("what", rule(Number(number) if between is None else Within(number, *between), "number", DUCKDB))
    if grouping is None:
        ((units,),) = connection.execute(f"SELECT count(*) FROM (SELECT DISTINCT who FROM ({rows.sql}))").fetchall()
        return [int(units)]
    once = within_groups(f"SELECT DISTINCT who, part FROM ({rows.sql})", grouping)
    found = connection.execute(f"SELECT part, count(*)::BIGINT AS number FROM ({once}) GROUP BY part").fetchnumpy()
    return tabulated(found, None, grouping)[:, 0].tolist()


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

    If two values have the same hash, the smaller one is chosen: the choice depends on the unit's own values alone.
    """
    if most == 1 and kind is CandidateKind.INTEGER:
        return smallest_lots(rows, keys)
    whose, lot = ", ".join(keys), value_hash(keys, "hash(what)")
    if most == 1:
        return f"SELECT {whose}, arg_min(what, row({lot}, what)) AS what FROM {rows} GROUP BY {whose}"
    different = f"SELECT DISTINCT {whose}, what, {lot} AS lot FROM {rows}"
    return f"SELECT {whose}, what FROM ({different}) QUALIFY {among_first(most, keys, ('lot', 'what'))}"


ROW_LOT = "row_lot"
"""Column of the random numbers by which a unit's rows are chosen."""

_NARROW, _EXACT = 2.0**20, 2.0**53
"""A narrower range leaves at least 44 bits to a lot that ends with the value; smaller whole numbers are doubles."""


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

    If a unit has more, each of these rows draws a random lot, and those with the smallest lots count. So every set of
    that many rows is equally likely, and the choice for one unit is independent of the rows of all others. Other units
    leave nothing to chance, and draw nothing. Groups are chosen by other lots.

    Returns:
        The values of each group, in no particular order. They take eight bytes each; all other memory can spill to
        disk, however the rows are distributed over the units.

    Proof: ``proofs/unit_values.md``; with groups ``proofs/groups.md``.
    """
    keys, most = ("who",) if grouping is None else ("who", "part"), max_rows_per_unit
    rows = Relation(connection, unit=unit, grouping=grouping)
    if most == 1 and _is_narrow(column, domain):
        low, high = int(domain.lower), int(domain.upper)
        value = rule(Value(column, CandidateKind.INTEGER), "value", DUCKDB)
        rows.compute("what", f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END")
        limited = partial(_one_narrow_of_each, low=low, high=high)
    else:
        rows.compute("what", rule(Number(column), "value", DUCKDB))
        limited = _one_of_each if most == 1 else partial(_several_of_each, most=most)
    sql = _limited(connection, within_groups(rows.sql, grouping), keys, most, limited)
    clipped = ", ".join(["greatest(?::DOUBLE, least(?::DOUBLE, what)) AS value", *keys[1:]])
    found = connection.execute(f"SELECT {clipped} FROM ({sql})", [domain.lower, domain.upper]).fetchnumpy()
    values = np.asarray(found["value"], np.float64)
    return [values] if grouping is None else _split(values, np.asarray(found["part"], np.int64), len(grouping.groups))


def _limited(
    connection: Connection, sql: str, keys: tuple[str, ...], most: int, limited: Callable[[str, tuple[str, ...]], str]
) -> str:
    """SQL for the rows of `sql`, at most `most` with the same `keys`.

    Where there are more, `limited` is SQL for those to keep, of rows that each have a `ROW_LOT`.
    """
    whose = ", ".join(keys)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE usable AS {sql}")
    many = f"SELECT {whose}, count(*) AS number FROM usable GROUP BY {whose} HAVING count(*) > {most}"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE crowds AS {many}")
    numbers = "SELECT (SELECT count(*) FROM usable), (SELECT coalesce(sum(number), 0)::BIGINT FROM crowds)"
    ((every, crowded),) = connection.execute(numbers).fetchall()
    if crowded == 0:
        return f"SELECT {whose}, what FROM usable"
    connection.register("lots", _lots(crowded))
    if crowded == every:
        return limited("SELECT * FROM usable POSITIONAL JOIN lots", keys)
    among = f"SELECT usable.* FROM usable SEMI JOIN crowds USING ({whose})"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE crowded AS {among}")
    chosen = limited("SELECT * FROM crowded POSITIONAL JOIN lots", keys)
    others = f"SELECT {whose}, what FROM usable ANTI JOIN crowds USING ({whose})"
    return f"SELECT {whose}, what FROM ({chosen}) UNION ALL {others}"


def _lots(number: int) -> Any:
    """So many numbers of 64 bits, of the operating system's randomness, as a stream."""

    def batches() -> Iterator[RecordBatch]:
        for begin in range(0, number, BATCH_ROWS):
            drawn = os.urandom(8 * min(BATCH_ROWS, number - begin))
            yield pa.RecordBatch.from_arrays([of_numpy(np.frombuffer(drawn, np.int64))], names=[ROW_LOT])

    return pa.RecordBatchReader.from_batches(pa.schema([(ROW_LOT, pa.int64())]), batches())


def _split(values: NDArray[np.float64], parts: NDArray[np.int64], groups: int) -> list[NDArray[np.float64]]:
    ends = np.cumsum(np.bincount(parts, minlength=groups))
    return np.split(values[np.argsort(parts, kind="stable")], ends[:-1])


def _is_narrow(column: Column, domain: PublicDomain) -> bool:
    """Whether the values are whole numbers between whole bounds that are not far apart."""
    whole = column.holds is Holds.INTEGERS and domain.lower.is_integer() and domain.upper.is_integer()
    return whole and max(-domain.lower, domain.upper) < _EXACT and domain.upper - domain.lower < _NARROW


def _one_narrow_of_each(sql: str, keys: tuple[str, ...], *, low: int, high: int) -> str:
    """What `_one_of_each` returns, for whole numbers from `low` to `high`: the last bits of a lot are the value itself.

    The engine keeps one number for each unit. If the other bits of two lots are equal, the smaller value counts.
    """
    values = 2 ** (high - low).bit_length()
    lots = f"SELECT {', '.join(keys)}, ({ROW_LOT} & {-values}) + (what - {low}) AS lot FROM ({sql})"
    smallest = f"SELECT {', '.join(keys)}, min(lot) AS lot FROM ({lots}) GROUP BY {', '.join(keys)}"
    return f"SELECT {', '.join(keys)}, (lot & {values - 1}) + {low} AS what FROM ({smallest})"


def _one_of_each(sql: str, keys: tuple[str, ...]) -> str:
    """For each unit (in each group) the row of `sql` with the smallest lot; only one is held in memory at a time."""
    # If two lots of a unit are equal, the values decide, in a fixed order of all numbers that no other row can change.
    lot = joined_lot(ROW_LOT, "hash(what)")
    return f"SELECT {', '.join(keys)}, arg_min(what, {lot}) AS what FROM ({sql}) GROUP BY {', '.join(keys)}"


def _several_of_each(sql: str, keys: tuple[str, ...], *, most: int) -> str:
    """For each unit (in each group) the `most` rows of `sql` with the smallest lots."""
    return f"SELECT * FROM ({sql}) QUALIFY {among_first(most, keys, (ROW_LOT, 'what'))}"
