"""Selection from scores that are distributed over several places: a partial result for each, merged in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn, cast

from dpselect._native import _core
from dpselect.checks import whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.mechanism import Mechanism, explained
from dpselect.mechanisms.scores import ScoresLike, native_scores

_PARTITION = "a whole number from 0 to 2**63 - 1"


@dataclass(frozen=True, slots=True)
class Winner:
    """The winner: the number of its partition and its index within that partition's scores."""

    partition: int
    index: int


@explained
class PartialSelection:
    """One selection, drawn from a part of the scores so far: `of` each part, `merged` together, then the `winner`.

    The winner has exactly the mechanism's distribution on all scores together, whatever the parts and the order of
    merging, and everything together costs one selection, `Mechanism.event`.

    Only the final winner is a release. A partial selection, its bytes and the winners of parts are as private as the
    scores. Each can be used once (`merged`, `to_bytes` or `winner`), because nothing is guaranteed for two releases
    that share random bits; that only one copy of its bytes is used is up to the caller.

    For permute-and-flip, the exponential mechanism, and report-noisy-max with exponential or Gumbel noise.

    Proof: ``proofs/partial_selection.md``.

    >>> from dpselect import PermuteAndFlip
    >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> north = PartialSelection.of(mechanism, [12, 730, 41], partition=0)
    >>> south = PartialSelection.of(mechanism, [55, 9], partition=3)
    >>> north.merged(south).winner()
    Winner(partition=0, index=1)
    """

    __slots__ = ("_mechanism", "_row")
    _mechanism: Mechanism
    _row: _core.Partial

    def __init__(self) -> None:
        raise TypeError("use PartialSelection.of(mechanism, scores) or from_bytes(mechanism, data)")

    @classmethod
    def _wrap(cls, mechanism: Mechanism, row: _core.Partial) -> PartialSelection:
        made = cls.__new__(cls)
        made._mechanism, made._row = mechanism, row
        return made

    @classmethod
    def of(cls, mechanism: Mechanism, scores: ScoresLike, *, partition: int = 0) -> PartialSelection:
        """Draw from one part of the scores.

        Args:
            mechanism: how to select, the same for all parts.
            scores: shape ``(n,)``, finite floats or integers; higher is better. A part without scores changes nothing.
                How many a part has is treated as public.
            partition: a public number of this part, from 0 to 2**63 - 1, that the winner names.

        Raises:
            InvalidScoresError: not one-dimensional, not finite, or not exactly representable. Nothing is drawn then.
            InvalidParameterError: `mechanism` cannot be merged, or `partition` is out of range.
        """
        number = whole_number(partition, "partition", expected=_PARTITION)
        if not 0 <= number < 2**63:
            raise InvalidParameterError("partition", number, _PARTITION)
        return cls._wrap(mechanism, _core.Partial.of(*_terms(mechanism), native_scores(scores), number))

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> PartialSelection:
        """What `to_bytes` wrote, here or elsewhere. Use it once: two selections from the same bytes share noise.

        Raises:
            InvalidDataError: the bytes are invalid, of another version, or drawn by another mechanism (another
                distribution, epsilon or sensitivity, or monotonic or not).
            InvalidParameterError: `mechanism` cannot be merged, or `data` is not bytes.
        """
        if not isinstance(cast(object, data), bytes):
            raise InvalidParameterError("data", data, "bytes")
        terms, row = _terms(mechanism), _core.Partial.from_bytes(data)
        if row is None:
            got, hint = Shown("<other bytes>"), "They were damaged, or another version of dpselect wrote them."
            expected = f"a partial selection by {mechanism!r} as this version writes it"
            raise InvalidDataError("data", got, expected, hint)
        if not row.is_drawn_with(*terms):
            got = Shown("<drawn by another mechanism>")
            raise InvalidDataError("data", got, f"a partial selection by {mechanism!r}")
        return cls._wrap(mechanism, row)

    def merged(self, other: PartialSelection) -> PartialSelection:
        """The selection from the scores of both, which are used up.

        Raises:
            InvalidParameterError: `other` is of another mechanism or the same object, or one of the two was used
                before.
        """
        if not isinstance(cast(object, other), PartialSelection):
            raise InvalidParameterError("other", other, "a PartialSelection")
        if other is self:
            raise InvalidParameterError("other", Shown("<the same one>"), "the selection from other scores")
        if other._mechanism != self._mechanism:
            got = Shown(f"<by {other._mechanism!r}>")
            raise InvalidParameterError("other", got, f"a selection by {self._mechanism!r}")
        return self._wrap(self._mechanism, self._row.merged(other._row))

    def to_bytes(self) -> bytes:
        """About a hundred bytes, as private as the scores, to be sent to where the others are. They use it up.

        Raises:
            InvalidParameterError: it was used before.
        """
        return self._row.to_bytes()

    def winner(self) -> Winner:
        """The selected candidate; the selection is used up. Private unless the scores of *all* candidates were merged.

        Raises:
            InvalidScoresError: there was no score in any part.
            InvalidParameterError: it was used before.
        """
        if places := self._row.winners():
            return Winner(*places[0])
        raise InvalidScoresError("scores", Shown("<empty>"), "at least one score in all parts together")

    def __repr__(self) -> str:
        return f"<PartialSelection by {self._mechanism!r}: private>"

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled by accident: a copy would be a second selection with the same random bits."""
        raise TypeError("a PartialSelection is used once, not copied or pickled; send what to_bytes() returns")


def _terms(mechanism: Mechanism) -> tuple[Literal["exponential", "permute_and_flip"], float, float, Literal[1, 2], int]:
    expected = "PermuteAndFlip, ExponentialMechanism, or ReportNoisyMax with exponential or Gumbel noise"
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, expected)
    if getattr(mechanism, "weights", None) is not None:
        raise InvalidParameterError("mechanism", Shown("<with weights>"), expected, "Merging them is not built.")
    law, epsilon, sensitivity, factor = mechanism.terms
    if law == "laplace":
        raise InvalidParameterError("mechanism", Shown("<Laplace noise>"), expected)
    return law, epsilon, sensitivity, factor, 1
