"""The rules for rows in DuckDB, over the columns of a stream, and how it chooses among the rows of a unit.

The number of a unit's rows must not decide whether memory is sufficient. DuckDB can sort and group rows on disk, but no
window with partitions: so all rows are sorted together, or only the smallest lot of each unit is kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpselect.mechanisms.seeding import key_of_a_choice
from dpselect.rows.columns import Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, of_numpy, pa
from dpselect.rows.duckdb.connection import Connection
from dpselect.rows.row_rules import Dialect
from dpselect.summaries import CandidateKind


class DuckDB(Dialect):
    """The words of DuckDB, and what it has to be asked before it can answer, on a connection."""

    amount = "BIGINT"  # sums have 128 bits
    matches = "regexp_full_match({}, '{}')"
    text_bytes = "strlen({})"
    half_even = "round_even({}, 0)"
    arrive_as_text = frozenset({Holds.TEXT, Holds.DECIMALS, Holds.NOTHING})

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection

    def text(self, cell: str) -> str:
        return cell

    def unit_text(self, cell: str) -> str:
        return cell  # `cells.unit_names` has made it

    def written(self, text: str, kind: CandidateKind) -> str:
        return super().written(text, kind) if kind is CandidateKind.DATE else text  # `cells` has left out other numbers

    def whole_double(self, number: str) -> str:
        return f"CASE WHEN {self.is_whole.format(number)} THEN TRY_CAST({number} AS BIGINT) END"  # null beyond 64 bits

    def amounts(self, number: int) -> str:
        return f"({number})::HUGEINT"

    def lot(self, columns: Sequence[str]) -> str:
        """A hash of 64 bits of a new key and of the columns: all but the last, and then the last, a whole number >= 0.

        The second step is one-to-one, so that two lots with the same keys differ.
        """
        *keys, last = columns
        return f"hash(xor(hash({', '.join(keys)}, {int.from_bytes(key_of_a_choice())}::UBIGINT), ({last})::UBIGINT))"

    def first(self, keys: Sequence[str], value: str, kind: CandidateKind) -> str:
        """Whole numbers stand behind their lots, in 128 bits: `min` takes two thirds of the time of `arg_min`.

        Of texts with the same hash the smaller one is chosen; the hashes of other values differ.
        """
        lot = self.lot([*keys, f"hash({value})"])
        if kind is CandidateKind.INTEGER:
            both = f"({lot}::UHUGEINT << 64) + (({value})::HUGEINT + {2**63}::HUGEINT)::UHUGEINT"
            return f"CAST((min({both}) & {2**64 - 1}::UHUGEINT)::HUGEINT - {2**63}::HUGEINT AS BIGINT)"
        return f"arg_min({value}, {f'row({lot}, {value})' if kind is CandidateKind.TEXT else lot})"

    def one_bit(self, keys: Sequence[str], place: str) -> str:
        """The place is the last six bits of its lot: `min` of 64 bits takes three quarters of the time of 128."""
        return self.bit_of(f"(min(({self.lot([*keys, place])} & {2**64 - 64}::UBIGINT) | ({place})::UBIGINT) & 63)")

    def few(self, rows: str, keys: Sequence[str], by: str, kept: str, most: int) -> str:
        whose, lot = ", ".join(keys), self.lot([*keys, f"hash({by})"])
        drawn = f"SELECT *, {lot} AS lot FROM ({rows})"
        return f"SELECT {whose}, {kept} FROM ({drawn}) QUALIFY {_among_first(most, keys, ['lot', by])}"

    def few_rows(self, rows: str, keys: Sequence[str], most: int) -> str:
        """Only units with more rows draw lots: 64 bits of the operating system's randomness for each of their rows."""
        assert self._connection is not None, "the rows are looked at before the statement is written"
        whose, ask = ", ".join(keys), self._connection.execute
        ask(f"CREATE OR REPLACE TEMP TABLE usable AS {rows}")
        many = f"SELECT {whose}, count(*) AS number FROM usable GROUP BY {whose} HAVING count(*) > {most}"
        ask(f"CREATE OR REPLACE TEMP TABLE crowds AS {many}")
        numbers = "SELECT (SELECT count(*) FROM usable), (SELECT coalesce(sum(number), 0)::BIGINT FROM crowds)"
        ((every, crowded),) = ask(numbers).fetchall()
        if crowded == 0:
            return f"SELECT {whose}, what FROM usable"
        self._connection.register("lots", _lots(crowded))
        crowd = "usable"
        if crowded < every:
            crowd = "crowded"
            ask(f"CREATE OR REPLACE TEMP TABLE crowded AS SELECT usable.* FROM usable SEMI JOIN crowds USING ({whose})")
        if most == 1:  # of two rows with the same lot the values decide, in a fixed order of all numbers
            lot = f"lot::HUGEINT * {2**64}::HUGEINT + hash(what)::HUGEINT"
            few = f"SELECT {whose}, arg_min(what, {lot}) AS what FROM {crowd} POSITIONAL JOIN lots GROUP BY {whose}"
        else:
            first = _among_first(most, keys, ["lot", "what"])
            few = f"SELECT {whose}, what FROM {crowd} POSITIONAL JOIN lots QUALIFY {first}"
        if crowded == every:
            return few
        return f"SELECT {whose}, what FROM usable ANTI JOIN crowds USING ({whose}) UNION ALL ({few})"


DUCKDB = DuckDB()


def _among_first(most: int, keys: Sequence[str], order: Sequence[str]) -> str:
    """SQL for whether a row is among the first `most`, by `order`, of the rows with the same `keys`."""
    over = f"OVER (ORDER BY {', '.join([*keys, *order])})"
    return "(" + " OR ".join(f"lag({key}, {most}) {over} IS DISTINCT FROM {key}" for key in keys) + ")"


def _lots(number: int) -> Any:
    """So many numbers of 64 bits, as a stream."""

    def batches() -> Iterator[RecordBatch]:
        for begin in range(0, number, BATCH_ROWS):
            drawn = os.urandom(8 * min(BATCH_ROWS, number - begin))
            yield pa.RecordBatch.from_arrays([of_numpy(np.frombuffer(drawn, np.int64))], names=["lot"])

    return pa.RecordBatchReader.from_batches(pa.schema([("lot", pa.int64())]), batches())
