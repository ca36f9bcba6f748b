"""Selection from scores that are distributed over several places: a partial result for each, merged in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast

from dpselect._native import _core
from dpselect.arguments import whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.score_vectors import ScoresLike, native_scores

_PARTITION = "a whole number from 0 to 2**63 - 1"

_MergeableLaw = Literal["exponential", "permute_and_flip"]


@dataclass(frozen=True, slots=True)
class Winner:
    """The winner: the number of its partition and its index within that partition's scores.

    If each partition's number is the number of scores before it, the sum of the two is the index among all scores.
    """

    partition: int
    index: int


class PartialSelection:
    """One selection, drawn from a part of the scores so far: `of` each part, `merged` together, then the `winner`.

    The winner has exactly the mechanism's distribution on all scores together, whatever the parts and the order of
    merging, and everything together costs one selection, `Mechanism.event`. It takes one pass over each part, and only
    about a hundred bytes are sent, whatever the number of scores.

    Only the final winner is a release. A partial selection, its bytes and the winners of parts reveal more than the
    mechanism may: they are as private as the scores, and `repr` shows nothing of them. Each can be used once (`merged`,
    `to_bytes` or `winner`), because nothing is guaranteed for two releases that share random bits. Bytes can be copied;
    the caller has to make sure that only one copy is used.

    For permute-and-flip, the exponential mechanism, and report-noisy-max with exponential or Gumbel noise.

    Proof: ``proofs/partial_selection.md``.

    >>> from dpselect import PermuteAndFlip
    >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> north = PartialSelection.of(mechanism, [12, 730, 41], partition=0)
    >>> south = PartialSelection.of(mechanism, [55, 9], partition=3)
    >>> north.merged(south).winner()
    Winner(partition=0, index=1)
    """

    __slots__ = ("_mechanism", "_partial")
    _mechanism: Mechanism
    _partial: _core.Partial

    def __init__(self) -> None:
        raise TypeError("use PartialSelection.of(mechanism, scores) or PartialSelection.from_bytes(mechanism, data)")

    @classmethod
    def of(cls, mechanism: Mechanism, scores: ScoresLike, *, partition: int = 0) -> PartialSelection:
        """Draw from one part of the scores.

        Args:
            mechanism: how to select, the same for all parts.
            scores: shape ``(n,)``, finite floats or integers, of any type in every part; higher is better. A part
                without scores is allowed and changes nothing. Whether a part is empty is treated as public, like the
                candidates.
            partition: a public number of this part, from 0 to 2**63 - 1, that the winner names.

        Raises:
            InvalidScoresError: not one-dimensional, not finite, or not exactly representable. Nothing is drawn then.
            InvalidParameterError: `mechanism` cannot be merged, or `partition` is out of range.
        """
        name, epsilon, sensitivity, factor = _terms(mechanism)
        number = whole_number(partition, "partition", expected=_PARTITION)
        if not 0 <= number < 2**63:
            raise InvalidParameterError("partition", number, _PARTITION)
        partial = _core.Partial.of(name, epsilon, sensitivity, factor, native_scores(scores), number)
        return cls._wrap(mechanism, partial)

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> PartialSelection:
        """What `to_bytes` wrote, here or elsewhere. Use it once: two selections from the same bytes share noise.

        Raises:
            InvalidDataError: the bytes are invalid, of another version, or drawn by another mechanism (another
                distribution, epsilon or sensitivity, or monotonic or not).
            InvalidParameterError: `mechanism` cannot be merged, or `data` is not bytes.
        """
        terms = _terms(mechanism)
        if not isinstance(cast(object, data), bytes):
            raise InvalidParameterError("data", data, "bytes")
        partial = _core.Partial.from_bytes(data)
        if partial is None:
            got, hint = Shown("<other bytes>"), "They were damaged, or another version of dpselect wrote them."
            raise InvalidDataError("data", got, "a partial selection as this version writes it", hint)
        if not partial.is_drawn_with(*terms):
            got = Shown("<drawn by another mechanism>")
            raise InvalidDataError("data", got, f"a partial selection drawn by {mechanism!r}")
        return cls._wrap(mechanism, partial)

    @classmethod
    def _wrap(cls, mechanism: Mechanism, partial: _core.Partial) -> PartialSelection:
        made = cls.__new__(cls)
        made._mechanism, made._partial = mechanism, partial
        return made

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that drew it."""
        return self._mechanism

    def so_far(self) -> Winner | None:
        """The winner of the parts merged so far, or None without scores; the selection is not used up.

        As private as the selection itself. For callers who send something along with it, such as the candidate's name.

        Raises:
            InvalidParameterError: it was used before.
        """
        found = self._partial.so_far()
        return None if found is None else Winner(*found)

    def merged(self, other: PartialSelection) -> PartialSelection:
        """The selection from the scores of both, which are used up. Every order of merging has the same distribution.

        Raises:
            InvalidParameterError: `other` is of another mechanism or the same object, or one of the two was used
                before.
        """
        if not isinstance(cast(object, other), PartialSelection):
            raise InvalidParameterError("other", other, "a PartialSelection")
        if other is self:
            raise InvalidParameterError("other", Shown("<the same one>"), "the selection from other scores")
        if other._mechanism != self._mechanism:
            expected = f"a selection by {self._mechanism!r}"
            raise InvalidParameterError("other", Shown(f"<by {other._mechanism!r}>"), expected)
        return self._wrap(self._mechanism, self._partial.merged(other._partial))

    def to_bytes(self) -> bytes:
        """The selection as bytes, to be sent to where the others are. The selection is used up; the bytes replace it.

        As private as the scores. About a hundred bytes, and with probability below 2**-40 a few more.

        Raises:
            InvalidParameterError: it was used before.
        """
        return self._partial.to_bytes()

    def winner(self) -> Winner:
        """The selected candidate; the selection is used up. Private unless the scores of *all* candidates were merged.

        Raises:
            InvalidScoresError: there was no score in any part.
            InvalidParameterError: it was used before.
        """
        found = self._partial.winner()
        if found is None:
            raise InvalidScoresError("scores", Shown("<empty>"), "at least one score in all parts together")
        return Winner(*found)

    def __repr__(self) -> str:
        return f"<PartialSelection by {self._mechanism!r}: private>"

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled by accident: a copy would be a second selection with the same random bits."""
        raise TypeError("a PartialSelection is used once and cannot be copied or pickled; send what to_bytes() returns")


def _terms(mechanism: Mechanism) -> tuple[_MergeableLaw, float, float, Literal[1, 2]]:
    expected = "PermuteAndFlip, ExponentialMechanism, or ReportNoisyMax with exponential or Gumbel noise"
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, expected)
    if getattr(mechanism, "weights", None) is not None:
        raise InvalidParameterError("mechanism", Shown("<with weights>"), expected, "Merging them is not built.")
    law, epsilon, sensitivity, factor = mechanism.terms
    if law == "laplace":
        raise InvalidParameterError("mechanism", Shown("<Laplace noise>"), expected)
    return law, epsilon, sensitivity, factor


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateSelection:
    """The selection from all scores, drawn but not read, with the candidate that each part sent. Private.

    Attributes:
        selection: all parts merged.
        sent: the candidate of each part's own winner, by the part's number: that of a partition is
            ``number * 2**32`` and up.

    >>> from dpselect import PermuteAndFlip
    >>> drawn = PartialSelection.of(PermuteAndFlip(epsilon=1.0, sensitivity=1.0), [3.0], partition=5 * 2**32)
    >>> CandidateSelection(drawn, {5: "red"}).winner()
    'red'
    """

    selection: PartialSelection
    sent: Mapping[int, Any]

    def winner(self) -> Any:
        """The selected candidate, at the price of one selection.

        Raises:
            InvalidScoresError: there was no score in any part.
        """
        return self.sent[self.selection.winner().partition >> 32]

    def __repr__(self) -> str:
        return f"CandidateSelection(<{len(self.sent)} private winners>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("CandidateSelection is private and cannot be pickled or copied")
