"""Long text, made short before it reaches the engine, and meaning the same.

The engine collects rows until it has 2048 of them and counts no byte of that towards its limit, so that texts of 1 MiB
would take 2 GiB however little it may use. Yet what a long text names is short: no candidate at all, a number written
with many zeros, or a unit, for which a digest can stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, cast

import numpy as np

from dpselect.backends.rows.arrow import Array, pa, pc
from dpselect.summaries import CandidateKind, PublicCandidates

LONG = 1 << 10
"""Bytes; what is longer does not reach the engine."""

_DIGEST_BYTES = 32

_BYTES_OF_A_CHARACTER = 4
"""At most."""

_WHOLE_NUMBER = re.compile(r"([+-]?)([0-9]+)(\.0*)?")
_DECIMAL_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGEST_WORD, _LONGEST_WHOLE_NUMBER = 10, 19
"""Characters of a date; digits of a number of 64 bits, without zeros before the first."""


def short_units(column: Array) -> Array:
    """Units with a digest in place of each that is longer than `LONG` bytes.

    A digest is written with just more than `LONG` bytes, so that no unit that stands for itself looks like one. Two
    long units become one only if BLAKE2b with 256 bits takes them for one.

    Proof: ``proofs/counting.md``.

    Args:
        column: Arrow array; one that is neither text nor bytes is returned as it is.

    >>> found = short_units(pa.array(["ann", "x" * 2000, "y" * 2000, None], pa.large_string()))
    >>> found[0].as_py(), found[3].as_py(), pc.binary_length(found).to_pylist(), len(found.unique())
    ('ann', None, [3, 1025, 1025, None], 4)
    """
    if pa.types.is_large_binary(column.type):
        return _replaced(column, _digest, longer_than=LONG)
    if pa.types.is_large_string(column.type):
        return _replaced(column, _digest_of_text, longer_than=LONG)
    return column


@dataclass(frozen=True, slots=True)
class ShortValues:
    """Values with nothing in them much longer than what they are read as: one of some candidates, or a number.

    Attributes:
        kind: what they are read as.
        longest: bytes; no text that is longer is a candidate.

    >>> long = pa.array(["x" * 2000, " " * 2000 + "7." + "0" * 2000, "0" * 2000 + "8", "9"], pa.large_string())
    >>> ShortValues.of(PublicCandidates.given([7, 8]))(long).to_pylist()
    [None, '7', '8', '9']
    >>> ShortValues.of(PublicCandidates.given(["7", "9"]))(long).to_pylist()
    [None, None, None, '9']
    """

    kind: CandidateKind
    longest: int

    @classmethod
    def of(cls, candidates: PublicCandidates | None) -> ShortValues:
        """For a column that names candidates; None: numbers."""
        if candidates is None:
            return cls(CandidateKind.NUMBER, LONG)
        longest = LONG
        if candidates.kind is CandidateKind.TEXT:
            texts = cast("tuple[str, ...]", candidates.values)
            longest = max(LONG, _BYTES_OF_A_CHARACTER * max(map(len, texts)))
        return cls(candidates.kind, longest)

    def __call__(self, column: Array) -> Array:
        """A column from which the same is read, row by row; null where a long text can be nothing of the kind."""
        if not pa.types.is_large_string(column.type):
            return column
        return _replaced(column, _SHORTENED.get(self.kind), longer_than=self.longest)


def _replaced(column: Array, by: Callable[[Any], object] | None, *, longer_than: int) -> Array:
    """Long values replaced by what `by` makes of each, or by null."""
    if not len(column):
        return column
    taken = np.diff(np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1])
    if taken.max() <= longer_than:
        return column
    long = pa.array(taken > longer_than)
    if by is None:
        return pc.if_else(long, pa.scalar(None, column.type), column)
    values = [None if value is None else by(value) for value in column.filter(long).to_pylist()]
    return pc.replace_with_mask(column, long, pa.array(values, column.type))


def _digest(unit: bytes) -> bytes:
    return blake2b(unit, digest_size=_DIGEST_BYTES).digest().rjust(LONG + 1, b"0")


def _digest_of_text(unit: str) -> str:
    return blake2b(unit.encode(), digest_size=_DIGEST_BYTES).hexdigest().rjust(LONG + 1, "0")


def _whole_number(text: str) -> str | None:
    found = _WHOLE_NUMBER.fullmatch(text.strip(" \t"))
    if found is None:
        return None
    digits = found[2].lstrip("0") or "0"
    return found[1] + digits if len(digits) <= _LONGEST_WHOLE_NUMBER else None


def _number(text: str) -> str | None:
    """As the shortest text of the same double; one beyond all doubles stays so."""
    stripped = text.strip(" \t")
    if _DECIMAL_NUMBER.fullmatch(stripped) is None:
        return None
    return repr(float(stripped)).replace("inf", "1e999")


def _trimmed(text: str, blanks: str) -> str | None:
    """Without the blanks around it; no date and no word for a boolean is long."""
    trimmed = text.strip(blanks)
    return trimmed if len(trimmed) <= _LONGEST_WORD else None


_SHORTENED: dict[CandidateKind, Callable[[str], str | None]] = {
    CandidateKind.INTEGER: _whole_number,
    CandidateKind.NUMBER: _number,
    CandidateKind.DATE: partial(_trimmed, blanks=" \t"),
    CandidateKind.BOOLEAN: partial(_trimmed, blanks=" \t\n\v\f\r"),
}
