"""Noise once on scores in several places: a partial result for each, merged in any order to the k winners of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast

from dpselect._native import _core
from dpselect.arguments import positive_count, whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms.exponential_once import ExponentialNoiseTopK
from dpselect.mechanisms.partial import Winner
from dpselect.mechanisms.score_vectors import ScoresLike, native_scores

_NUMBER = 8
"""Bytes of the number of candidates, behind those of the core."""

_PARTITION = "a whole number from 0 to 2**63 - 1"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartialTopK:
    """One selection of k candidates, drawn from a part of the scores so far; as `PartialSelection` is for one.

    Only the winners of all parts merged are a release. Each object can be used once (`merged`, `to_bytes` or
    `winners`).

    Proof: ``proofs/partial_selection.md``, "Several winners".

    >>> mechanism = ExponentialNoiseTopK(epsilon=1.0, sensitivity=1.0, monotonic=True, k=2)
    >>> north = PartialTopK.of(mechanism, [12, 730, 41], partition=0)
    >>> south = PartialTopK.of(mechanism, [355, 9], partition=3)
    >>> north.merged(south).winners()
    [Winner(partition=0, index=1), Winner(partition=3, index=0)]
    """

    mechanism: ExponentialNoiseTopK
    count: int
    _partial: _core.PartialOnce
    _candidates: int

    @classmethod
    def of(
        cls, mechanism: ExponentialNoiseTopK, scores: ScoresLike, *, partition: int = 0, count: int | None = None
    ) -> PartialTopK:
        """Draw from one part of the scores.

        Args:
            mechanism: how to select, the same for all parts.
            scores: as for `PartialSelection.of`.
            partition: a public number of this part, from 0 to 2**63 - 1, that winners name.
            count: how many winners, at most one more than ``mechanism.k``: one more only if these are all candidates.
                Default: ``mechanism.k``.

        Raises:
            InvalidScoresError: not one-dimensional, not finite, or not exactly representable. Nothing is drawn then.
            InvalidParameterError: `partition` or `count` is out of range.
        """
        terms = _terms(mechanism)
        count = mechanism.k if count is None else positive_count(count, "count", at_most=mechanism.k + 1)
        number = whole_number(partition, "partition", expected=_PARTITION)
        if not 0 <= number < 2**63:
            raise InvalidParameterError("partition", number, _PARTITION)
        native = native_scores(scores)
        return cls(mechanism, count, _core.PartialOnce.of(*terms, count, native, number), native.size)

    @classmethod
    def from_bytes(cls, mechanism: ExponentialNoiseTopK, data: bytes, *, count: int | None = None) -> PartialTopK:
        """What `to_bytes` wrote, here or elsewhere. Use it once: two selections from the same bytes share noise.

        Raises:
            InvalidDataError: the bytes are invalid, of another version, or drawn by another mechanism or `count`.
        """
        count = mechanism.k if count is None else count
        is_whole = isinstance(cast(object, data), bytes) and len(data) > _NUMBER
        partial = _core.PartialOnce.from_bytes(data[:-_NUMBER]) if is_whole else None
        if partial is None or not partial.is_drawn_with(*_terms(mechanism), count):
            got, hint = (
                Shown("<other bytes>"),
                "They were damaged, or drawn by another mechanism or version of dpselect.",
            )
            raise InvalidDataError("data", got, f"a partial selection drawn by {mechanism!r}", hint)
        return cls(mechanism, count, partial, int.from_bytes(data[-_NUMBER:], "little"))

    def so_far(self) -> list[Winner]:
        """The winners of the parts merged so far, best first; the selection is not used up. Private.

        Raises:
            InvalidParameterError: it was used before.
        """
        return [Winner(*place) for place in self._partial.so_far()]

    def merged(self, other: PartialTopK) -> PartialTopK:
        """The selection from the scores of both, which are used up.

        Raises:
            InvalidParameterError: `other` is of another mechanism or count or the same object, or one of the two was
                used before.
        """
        if other is self:
            raise InvalidParameterError("other", Shown("<the same one>"), "the selection from other scores")
        if (other.mechanism, other.count) != (self.mechanism, self.count):
            got = Shown(f"<{other.count} by {other.mechanism!r}>")
            raise InvalidParameterError("other", got, f"a selection of {self.count} by {self.mechanism!r}")
        merged = self._partial.merged(other._partial)
        return PartialTopK(self.mechanism, self.count, merged, self._candidates + other._candidates)

    def to_bytes(self) -> bytes:
        """The selection as bytes, as private as the scores: about a hundred for each winner. The selection is used up.

        Raises:
            InvalidParameterError: it was used before.
        """
        return self._partial.to_bytes() + self._candidates.to_bytes(_NUMBER, "little")

    def winners(self) -> list[Winner]:
        """The selected candidates, best first; the selection is used up. Private unless *all* candidates were merged.

        Raises:
            InvalidParameterError: it was used before, or `count` is one more than ``mechanism.k`` and these were more
                candidates, of whom one more winner would cost more.
        """
        if self.count > self.mechanism.k and self._candidates > self.count:
            expected = f"at most {self.mechanism.k}, as there are {self._candidates:,} candidates"
            raise InvalidParameterError("count", self.count, expected)
        return [Winner(*place) for place in self._partial.winners()]

    def __repr__(self) -> str:
        return f"<PartialTopK by {self.mechanism!r}: private>"

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled by accident: a copy would be a second selection with the same random bits."""
        raise TypeError("a PartialTopK is used once and cannot be copied or pickled; send what to_bytes() returns")


def _terms(mechanism: ExponentialNoiseTopK) -> tuple[float, float, Literal[1, 2]]:
    if not isinstance(cast(Any, mechanism), ExponentialNoiseTopK):
        raise InvalidParameterError("mechanism", mechanism, "ExponentialNoiseTopK")
    share, sensitivity, factor, _ = mechanism.terms
    return share, sensitivity, factor
