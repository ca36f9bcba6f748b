"""SQL for the rows that count: those with a unit and, as the question needs, a candidate, a group and a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpselect.backends.columns import Column
from dpselect.backends.contract import Grouping
from dpselect.backends.row_rules import Value, Within, rule, unit_is_known, unit_key
from dpselect.backends.rows.arrow import of_numpy, pa
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.duckdb_dialect import DUCKDB
from dpselect.mechanisms.seeding import key_of_a_choice
from dpselect.summaries import CandidateKind, PublicCandidates

_ARROW_TYPES = {
    CandidateKind.INTEGER: "int64",
    CandidateKind.NUMBER: "float64",
    CandidateKind.TEXT: "large_string",
    CandidateKind.DATE: "date32",
    CandidateKind.BOOLEAN: "bool",
}


class Relation:
    """Rows with the columns ``who``, ``part`` (the group, if there are groups) and those of the question.

    Args:
        connection: a database with the table ``rows``.
        unit: the source's column that ``rows`` has as ``unit``.
        grouping: the groups; ``rows`` has their column as ``part``.
        table: name of the table, instead of ``rows``.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        unit: Column,
        grouping: Grouping | None,
        table: str = "rows",
    ) -> None:
        self._connection, self._table = connection, table
        self._read = [f"{unit_key(unit, 'unit', DUCKDB)} AS who"]
        self._known = unit_is_known(unit, "unit", DUCKDB)  # computed from the column, because a digest is costly
        self._selected = ["who"]
        self._required: list[str] = []
        self._joins = ""
        if grouping is not None:
            self.match("part", grouping.column, grouping.groups, name="part")

    def match(
        self, result: str, column: Column, candidates: PublicCandidates, *, name: str, required: bool = True
    ) -> None:
        """Add `result`, the position of column `name`'s value in `candidates`.

        Rows without one do not count; unless it is not `required`, and then it is null.
        """
        what, values = f"{result}_named", candidates.values
        others = [f"{name}{at}" for at in range(1, len(column.parts))]
        self._read.append(f"{rule(Value(column, candidates.kind), name, DUCKDB, *others)} AS {what}")
        if isinstance(values, range) and values.step == 1:
            place = f"CASE WHEN {what} BETWEEN {values[0]} AND {values[-1]} THEN {what} - {values[0]} END"
        else:
            table, place = f"{result}_table", f"{result}_place"
            self._connection.register(table, candidate_table(candidates, place))
            self._joins += f"{'' if required else ' LEFT'} JOIN {table} ON {what} = {table}.candidate"
        type_ = "INTEGER" if len(candidates) <= 2**31 else "BIGINT"  # half the bytes of a key to group by
        self._selected.append(f"({place})::{type_} AS {result}")
        if required:
            self._required.append(result)

    def compute(self, result: str, expression: str, *, required: bool = True) -> None:
        """Add `result`, the value of `expression` over the columns of ``rows``.

        Rows where it is null do not count, unless it is not `required`.
        """
        self._read.append(f"{expression} AS {result}")
        self._selected.append(result)
        if required:
            self._required.append(result)

    @property
    def sql(self) -> str:
        """The query."""
        read = f"SELECT {', '.join(self._read)} FROM {self._table} WHERE {self._known}"
        selected = f"SELECT {', '.join(self._selected)} FROM ({read}){self._joins}"
        known = " AND ".join(f"{name} IS NOT NULL" for name in self._required)
        return f"SELECT * FROM ({selected}) WHERE {known}" if known else selected


def meets(
    connection: Connection,
    name: str,
    column: Column,
    listed: PublicCandidates | None,
    between: tuple[int | float | None, int | float | None],
) -> str:
    """SQL for whether a row of ``all_rows``, which has the column as `name`, meets a `Condition`."""
    if listed is None:
        return f"{rule(Within(column, *between), name, DUCKDB)} IS NOT NULL"
    value, members = rule(Value(column, listed.kind), name, DUCKDB), listed.values
    if isinstance(members, range) and members.step == 1:
        return f"{value} BETWEEN {members[0]} AND {members[-1]}"
    connection.register(f"{name}_table", candidate_table(listed, "place"))
    return f"{value} IN (SELECT candidate FROM {name}_table)"


def chooses(grouping: Grouping | None) -> bool:
    """Whether a unit can be in more groups than it may."""
    return grouping is not None and grouping.max_groups_per_unit < len(grouping.groups)


def within_groups(sql: str, grouping: Grouping | None) -> str:
    """The rows of `sql`, with ``who`` and ``part``, that are in one of the groups chosen for their unit."""
    if grouping is None or not chooses(grouping):
        return sql
    few = chosen("several", ("who",), "part", among=len(grouping.groups), most=grouping.max_groups_per_unit)
    return f"WITH several AS MATERIALIZED ({sql}) SELECT several.* FROM several JOIN ({few}) USING (who, part)"


def chosen(rows: str, keys: tuple[str, ...], column: str, *, among: int, most: int) -> str:
    """The values of `column` chosen for their `keys`, at most `most` for each: those with the smallest lots.

    Args:
        rows: a table, or a query in parentheses, with `keys` and `column`.
        keys: whose values they are.
        column: whole numbers from 0 to `among` - 1.
        among: how many different values there can be.
        most: how many are chosen.
    """
    whose, lot = ", ".join(keys), value_lot(keys, column, among=among)
    if most == 1:
        value = value_of(f"min({lot})", among=among)
        return f"SELECT {whose}, {value} AS {column} FROM {rows} GROUP BY {whose}"
    lots = f"SELECT DISTINCT {whose}, {column}, {lot} AS lot FROM {rows}"
    return f"SELECT {whose}, {column} FROM ({lots}) QUALIFY {among_first(most, keys, ('lot',))}"


def value_lot(keys: tuple[str, ...], column: str, *, among: int) -> str:
    """SQL for the lot of a value: the first bits of its hash, and then the value, so that no two are equal."""
    bits = among.bit_length()
    return f"(({value_hash(keys, column)} >> {bits} << {bits}) | {column}::UBIGINT)"


def value_of(lot: str, *, among: int) -> str:
    """SQL for the value in a lot."""
    return f"({lot} & {2 ** among.bit_length() - 1}::UBIGINT)::BIGINT"


def value_hash(keys: tuple[str, ...], column: str) -> str:
    """SQL for a hash of 64 bits of a new key, of `keys` and of a value, a whole number >= 0.

    All rows with one value have the same hash. Whatever the hash and its key are, a choice by it depends on the unit's
    own values alone. Every set of as many values is equally likely as far as the hash with a random key behaves like a
    random function.
    """
    key = int.from_bytes(key_of_a_choice())
    return f"hash(xor(hash({', '.join(keys)}, {key}::UBIGINT), {column}::UBIGINT))"


def joined_lot(lot: str, then: str) -> str:
    """SQL for a lot of 64 bits followed by a number from 0 to 2^64 - 1 that decides between equal lots."""
    return f"({lot}::HUGEINT * {2**64}::HUGEINT + ({then})::HUGEINT)"


def among_first(most: int, keys: Sequence[str], order: Sequence[str]) -> str:
    """SQL for whether a row is among the first `most`, by `order`, of the rows with the same `keys`.

    All rows are sorted together and compared with earlier rows, because a sort can spill to disk. A partition cannot,
    and the number of a unit's rows must not decide whether memory is sufficient.
    """
    over = f"OVER (ORDER BY {', '.join([*keys, *order])})"
    return "(" + " OR ".join(f"lag({key}, {most}) {over} IS DISTINCT FROM {key}" for key in keys) + ")"


def columns_of(unit: Column, grouping: Grouping | None, **others: Column) -> Mapping[str, Column]:
    """The columns that a scan has to read, by their names in the query."""
    parts = () if grouping is None else grouping.column.sources
    return {"unit": unit, **others, **{f"part{at or ''}": each for at, each in enumerate(parts)}}


def candidates_of(grouping: Grouping | None, **others: PublicCandidates) -> Mapping[str, PublicCandidates]:
    """The candidates or groups in the columns of `columns_of`; other columns are units and numbers."""
    parts = () if grouping is None else grouping.listed or (grouping.groups,)
    return {**{f"part{at or ''}": each for at, each in enumerate(parts)}, **others}


def candidate_table(candidates: PublicCandidates, place: str) -> Any:
    """The candidates as a table, with their positions in the column `place`."""
    values = candidates.values
    if isinstance(values, range):
        values = np.fromiter(values, np.int64, len(values))
    is_whole = isinstance(values, np.ndarray)
    listed = of_numpy(values) if is_whole else pa.array(values, _ARROW_TYPES[candidates.kind])
    return pa.table({place: of_numpy(np.arange(len(values))), "candidate": listed})
