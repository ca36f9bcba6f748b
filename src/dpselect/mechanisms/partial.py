"""Selection from scores that are distributed over several places: a partial result for each, merged in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NoReturn, Self, TypeVar, cast

from dpselect._native import _core
from dpselect.checks import positive_count, whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.explained import explained
from dpselect.mechanisms.exponential_once import ExponentialNoiseTopK
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.scores import ScoresLike, native_scores

_PARTITION = "a whole number from 0 to 2**63 - 1"
_AnyMechanism = TypeVar("_AnyMechanism", Mechanism, ExponentialNoiseTopK)
_Terms = tuple[Literal["exponential", "permute_and_flip"], float, float, Literal[1, 2], int]
"""What two partial selections share to be merged: law, epsilon, sensitivity, factor of the scale, number of winners."""


@dataclass(frozen=True, slots=True)
class Winner:
    """The winner: the number of its partition and its index within that partition's scores.

    If each partition's number is the number of scores before it, the sum of the two is the index among all scores.
    """

    partition: int
    index: int


class _Partial(Generic[_AnyMechanism]):
    """The first candidates of a part of the scores with their times, in the core. Private, and good for one use."""

    __slots__ = ("_count", "_mechanism", "_row")
    _mechanism: _AnyMechanism
    _count: int
    _row: _core.Partial

    def __init__(self) -> None:
        raise TypeError(f"use {type(self).__name__}.of(mechanism, scores) or from_bytes(mechanism, data)")

    @classmethod
    def _wrap(cls, mechanism: _AnyMechanism, count: int, row: _core.Partial) -> Self:
        made = cls.__new__(cls)
        made._mechanism, made._count, made._row = mechanism, count, row
        return made

    @classmethod
    def _drawn(cls, mechanism: _AnyMechanism, terms: _Terms, scores: ScoresLike, partition: int) -> Self:
        number = whole_number(partition, "partition", expected=_PARTITION)
        if not 0 <= number < 2**63:
            raise InvalidParameterError("partition", number, _PARTITION)
        return cls._wrap(mechanism, terms[-1], _core.Partial.of(*terms, native_scores(scores), number))

    @classmethod
    def _read(cls, mechanism: _AnyMechanism, terms: _Terms, data: bytes) -> Self:
        if not isinstance(cast(object, data), bytes):
            raise InvalidParameterError("data", data, "bytes")
        row, drawn = _core.Partial.from_bytes(data), f"of {terms[-1]} by {mechanism!r}"
        if row is None:
            got, hint = Shown("<other bytes>"), "They were damaged, or another version of dpselect wrote them."
            raise InvalidDataError("data", got, f"a partial selection {drawn} as this version writes it", hint)
        if not row.is_drawn_with(*terms):
            raise InvalidDataError("data", Shown("<drawn by another mechanism>"), f"a partial selection {drawn}")
        return cls._wrap(mechanism, terms[-1], row)

    @property
    def mechanism(self) -> _AnyMechanism:
        """The mechanism that drew it."""
        return self._mechanism

    def merged(self, other: Self) -> Self:
        """The selection from the scores of both, which are used up. Every order of merging has the same distribution.

        Raises:
            InvalidParameterError: `other` is of another mechanism or number of winners or the same object, or one of
                the two was used before.
        """
        if not isinstance(cast(object, other), type(self)):
            raise InvalidParameterError("other", other, f"a {type(self).__name__}")
        if other is self:
            raise InvalidParameterError("other", Shown("<the same one>"), "the selection from other scores")
        if (other._mechanism, other._count) != (self._mechanism, self._count):
            got = Shown(f"<of {other._count} by {other._mechanism!r}>")
            raise InvalidParameterError("other", got, f"a selection of {self._count} by {self._mechanism!r}")
        return self._wrap(self._mechanism, self._count, self._row.merged(other._row))

    def to_bytes(self) -> bytes:
        """The selection as bytes, to be sent to where the others are. The selection is used up; the bytes replace it.

        As private as the scores. About a hundred bytes for each winner, and with probability below 2**-40 a few more.

        Raises:
            InvalidParameterError: it was used before.
        """
        return self._row.to_bytes()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} by {self._mechanism!r}: private>"

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled by accident: a copy would be a second selection with the same random bits."""
        raise TypeError(f"a {type(self).__name__} is used once, not copied or pickled; send what to_bytes() returns")


@explained
class PartialSelection(_Partial[Mechanism]):
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

    __slots__ = ()

    @classmethod
    def of(cls, mechanism: Mechanism, scores: ScoresLike, *, partition: int = 0) -> PartialSelection:
        """Draw from one part of the scores.

        Args:
            mechanism: how to select, the same for all parts.
            scores: shape ``(n,)``, finite floats or integers, of any type in every part; higher is better. A part
                without scores changes nothing. How many a part has is treated as public, like the candidates.
            partition: a public number of this part, from 0 to 2**63 - 1, that the winner names.

        Raises:
            InvalidScoresError: not one-dimensional, not finite, or not exactly representable. Nothing is drawn then.
            InvalidParameterError: `mechanism` cannot be merged, or `partition` is out of range.
        """
        return cls._drawn(mechanism, _terms_of_one(mechanism), scores, partition)

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> PartialSelection:
        """What `to_bytes` wrote, here or elsewhere. Use it once: two selections from the same bytes share noise.

        Raises:
            InvalidDataError: the bytes are invalid, of another version, or drawn by another mechanism (another
                distribution, epsilon or sensitivity, or monotonic or not).
            InvalidParameterError: `mechanism` cannot be merged, or `data` is not bytes.
        """
        return cls._read(mechanism, _terms_of_one(mechanism), data)

    def so_far(self) -> Winner | None:
        """The winner of the parts merged so far, or None without scores; the selection is not used up.

        As private as the selection itself. For callers who send something along with it, such as the candidate's name.

        Raises:
            InvalidParameterError: it was used before.
        """
        places = self._row.so_far()
        return Winner(*places[0]) if places else None

    def winner(self) -> Winner:
        """The selected candidate; the selection is used up. Private unless the scores of *all* candidates were merged.

        Raises:
            InvalidScoresError: there was no score in any part.
            InvalidParameterError: it was used before.
        """
        if places := self._row.winners():
            return Winner(*places[0])
        raise InvalidScoresError("scores", Shown("<empty>"), "at least one score in all parts together")


@explained
class PartialTopK(_Partial[ExponentialNoiseTopK]):
    """One selection of k candidates, drawn from a part of the scores so far; as `PartialSelection` is for one.

    Only the winners of all parts merged are a release. Each is used once (`merged`, `to_bytes` or `winners`).

    Proof: ``proofs/partial_selection.md``, "Several winners".

    >>> mechanism = ExponentialNoiseTopK(epsilon=1.0, sensitivity=1.0, monotonic=True, k=2)
    >>> north = PartialTopK.of(mechanism, [12, 730, 41], partition=0)
    >>> south = PartialTopK.of(mechanism, [355, 9], partition=3)
    >>> north.merged(south).winners()
    [Winner(partition=0, index=1), Winner(partition=3, index=0)]
    """

    __slots__ = ()

    @classmethod
    def of(
        cls, mechanism: ExponentialNoiseTopK, scores: ScoresLike, *, partition: int = 0, count: int | None = None
    ) -> PartialTopK:
        """Draw from one part of the scores.

        Args:
            mechanism: how to select, the same for all parts.
            scores, partition: as for `PartialSelection.of`.
            count: how many winners, at most one more than ``mechanism.k``: one more only if these are all candidates.
                Default: ``mechanism.k``.

        Raises:
            InvalidScoresError: not one-dimensional, not finite, or not exactly representable. Nothing is drawn then.
            InvalidParameterError: `partition` or `count` is out of range.
        """
        return cls._drawn(mechanism, _terms_of_several(mechanism, count), scores, partition)

    @classmethod
    def from_bytes(cls, mechanism: ExponentialNoiseTopK, data: bytes, *, count: int | None = None) -> PartialTopK:
        """What `to_bytes` wrote, here or elsewhere. Use it once: two selections from the same bytes share noise.

        Raises:
            InvalidDataError: the bytes are invalid, of another version, or drawn by another mechanism or `count`.
            InvalidParameterError: `count` is out of range, or `data` is not bytes.
        """
        return cls._read(mechanism, _terms_of_several(mechanism, count), data)

    @property
    def count(self) -> int:
        """How many winners there are, if there are as many candidates."""
        return self._count

    def so_far(self) -> list[Winner]:
        """The winners of the parts merged so far, best first; as `PartialSelection.so_far`."""
        return [Winner(*place) for place in self._row.so_far()]

    def winners(self) -> list[Winner]:
        """The selected candidates, best first; the selection is used up. Private unless *all* candidates were merged.

        Raises:
            InvalidParameterError: it was used before, or `count` is one more than ``mechanism.k`` and these were more
                candidates, of whom one more winner would cost more.
        """
        if self._count > self._mechanism.k and (candidates := self._row.candidates()) > self._count:
            expected = f"at most {self._mechanism.k}, as there are {candidates:,} candidates"
            raise InvalidParameterError("count", self._count, expected)
        return [Winner(*place) for place in self._row.winners()]


def _terms_of_one(mechanism: Mechanism) -> _Terms:
    expected = "PermuteAndFlip, ExponentialMechanism, or ReportNoisyMax with exponential or Gumbel noise"
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, expected)
    if getattr(mechanism, "weights", None) is not None:
        raise InvalidParameterError("mechanism", Shown("<with weights>"), expected, "Merging them is not built.")
    law, epsilon, sensitivity, factor = mechanism.terms
    if law == "laplace":
        raise InvalidParameterError("mechanism", Shown("<Laplace noise>"), expected)
    return law, epsilon, sensitivity, factor, 1


def _terms_of_several(mechanism: ExponentialNoiseTopK, count: int | None) -> _Terms:
    if not isinstance(cast(object, mechanism), ExponentialNoiseTopK):
        raise InvalidParameterError("mechanism", mechanism, "ExponentialNoiseTopK")
    share, sensitivity, factor, k = mechanism.terms
    count = k if count is None else positive_count(count, "count", at_most=k + 1)
    return "permute_and_flip", share, sensitivity, factor, count


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
