"""Shortens long text before it reaches the engine, without changing its meaning.

The engine collects rows until it has 2048 of them, and does not count these bytes towards its limit. So texts of 1 MiB
would take 2 GiB, however low the limit is. Yet the meaning of a long text is always short: it is no candidate, or a
number with many zeros, or a unit, which a digest can replace.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, cast

import numpy as np

from dpselect.rows.duckdb.arrow import Array, of_numpy, pa, pc
from dpselect.rows.row_rules import LONGEST_NAME, MOST_DIGITS
from dpselect.summaries import CandidateKind, PublicCandidates

LONG = LONGEST_NAME
"""Bytes; longer text does not reach the engine."""

_DIGEST_BYTES = 32

_BYTES_OF_A_CHARACTER = 4
"""The most in UTF-8."""

_WHOLE_NUMBER = re.compile(r"([+-]?)([0-9]+)(\.0*)?")
_DECIMAL_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGEST_WORD, _LONGEST_WHOLE_NUMBER = 10, 19
"""Characters of a date; digits of a number of 64 bits, without leading zeros."""


def short_units(column: Array) -> Array:
    """Units, with a digest in place of each that is longer than `LONG` bytes.

    A digest is padded to just more than `LONG` bytes, so that it equals no unit that is not replaced. Two long units
    become one only if their 256-bit BLAKE2b digests collide.

    Proof: ``proofs/counting.md``.

    Args:
        column: Arrow array; if it is neither text nor bytes, it is returned unchanged.

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
    """Shortens the values of a column that are read as candidates or as numbers.

    Attributes:
        kind: the kind that the values are read as.
        longest: in bytes; no longer text is a candidate.

    >>> long = pa.array(["x" * 2000, " " * 2000 + "7." + "0" * 2000, "0" * 2000 + "8", "9"], pa.large_string())
    >>> ShortValues.of(PublicCandidates.given([7, 8]))(long).to_pylist()
    [None, '7', '8', '9']
    >>> ShortValues.of(PublicCandidates.given(["7", "9"]))(long).to_pylist()
    [None, None, None, '9']
    """

    kind: CandidateKind
    longest: int

    @classmethod
    def of(cls, candidates: PublicCandidates | CandidateKind | None) -> ShortValues:
        """For a column of candidates, or of unknown names of a kind; None: for a column of numbers."""
        if not isinstance(candidates, PublicCandidates):
            return cls(CandidateKind.NUMBER if candidates is None else candidates, LONG)
        longest = LONG
        if candidates.kind is CandidateKind.TEXT:
            texts = cast("tuple[str, ...]", candidates.values)
            longest = max(LONG, _BYTES_OF_A_CHARACTER * max(map(len, texts)))
        return cls(candidates.kind, longest)

    def __call__(self, column: Array) -> Array:
        """A column from which the same values are read; null where a long text cannot be of the kind."""
        if not pa.types.is_large_string(column.type):
            return column
        return _replaced(column, _SHORTENED.get(self.kind), longer_than=self.longest)


def _replaced(column: Array, by: Callable[[Any], object] | None, *, longer_than: int) -> Array:
    """Replace each long value by the result of `by`, or by null."""
    if not len(column):
        return column
    taken = np.diff(np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1])
    if taken.max() <= longer_than:
        return column
    long = of_numpy(taken > longer_than)
    if by is None:
        return pc.if_else(long, pa.scalar(None, column.type), column)
    values = [None if value is None else by(value) for value in column.filter(long).to_pylist()]
    return pc.replace_with_mask(column, long, pa.array(values, column.type))


def _digest(unit: bytes) -> bytes:
    return blake2b(unit, digest_size=_DIGEST_BYTES).digest().rjust(LONG + 1, b"0")


def _digest_of_text(unit: str) -> str:
    return blake2b(unit.encode(), digest_size=_DIGEST_BYTES).hexdigest().rjust(LONG + 1, "0")


def _whole_number(text: str, *, longest: int = _LONGEST_WHOLE_NUMBER) -> str | None:
    found = _WHOLE_NUMBER.fullmatch(text.strip(" \t"))
    if found is None:
        return None
    digits = found[2].lstrip("0") or "0"
    return found[1] + digits if len(digits) <= longest else None


def _number(text: str) -> str | None:
    """The digits of a whole number, or the shortest text of the same double; what is beyond all doubles stays so."""
    if (whole := _whole_number(text, longest=MOST_DIGITS)) is not None:
        return whole
    stripped = text.strip(" \t")
    if _DECIMAL_NUMBER.fullmatch(stripped) is None:
        return None
    return repr(float(stripped)).replace("inf", "1e999")


def _trimmed(text: str, blanks: str) -> str | None:
    """The text without surrounding blanks, or None if it is too long for a date or a boolean."""
    trimmed = text.strip(blanks)
    return trimmed if len(trimmed) <= _LONGEST_WORD else None


_SHORTENED: dict[CandidateKind, Callable[[str], str | None]] = {
    CandidateKind.INTEGER: _whole_number,
    CandidateKind.NUMBER: _number,
    CandidateKind.DATE: partial(_trimmed, blanks=" \t"),
    CandidateKind.BOOLEAN: partial(_trimmed, blanks=" \t\n\v\f\r"),
}
