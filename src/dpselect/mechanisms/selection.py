"""Mechanisms that select one candidate by its score: their laws, their draws, and draws from parts of the scores."""

from __future__ import annotations

import abc
import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn, cast

import numpy as np
from numpy import ndarray
from numpy.typing import NDArray

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent, LogisticProfileEvent
from dpselect.checks import positive_count, positive_sensitivity, probability, whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.mechanism import ScaledMechanism, SelectsOne, explained
from dpselect.mechanisms.numbers import FloatArray, Gaps
from dpselect.mechanisms.scores import (
    ScoreRows,
    ScoresLike,
    checked_candidates,
    finite_scores,
    named_matrix,
    native_rows,
    native_scores,
    score_count,
)

Curve = Callable[[float, int], float]
"""Takes theta and n and returns a probability."""

_MARGIN = 1.0 + 2.0**-40
"""Added to a probability, to be on the safe side: far above the rounding of the curves, and far too small to matter."""

_ROUNDING = 2.0**-44
_SMALLEST = 5e-324


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The worst case of one law: the probability that the best of n loses to the n - 1 others, theta scales below."""

    best_loses: Curve
    """With a small relative error where it is small."""

    best_wins: Curve
    """The complement, with a small relative error where *it* is small."""

    @functools.lru_cache(maxsize=256)  # noqa: B019 - there are four of them, and most services ask for few sizes
    def error_quantile(self, n: int, failure: float, confidence: float) -> float:
        """The smallest theta with ``Pr[error > theta] <= failure`` on every vector of `n` scores, rounded up.

        By at most `_ROUNDING` of it. `failure` and `confidence` sum to 1 and are both given, so that neither has to be
        subtracted from 1. 0 if a blind guess among `n` reaches the confidence.
        """
        if Fraction(confidence) * n <= 1:
            return 0.0
        if confidence >= 0.5:
            return _crossing(lambda theta: math.log(max(self.best_loses(theta, n), _SMALLEST) * _MARGIN / failure))
        return _crossing(lambda theta: math.log(confidence * _MARGIN / self.best_wins(theta, n)))

    @functools.lru_cache(maxsize=256)  # noqa: B019
    def expected_error(self, n: int) -> float:
        """The largest expected error over vectors of `n` scores with one best and the others equal, in scales.

        The worst case over all vectors for the exponential mechanism and permute-and-flip. Golden-section search for
        the single maximum of ``theta * best_loses(theta)``.
        """
        low, high = 0.0, 2.0 * math.log(n) + 4.0
        shrink = (math.sqrt(5.0) - 1.0) / 2.0
        for _ in range(48):
            left, right = high - shrink * (high - low), low + shrink * (high - low)
            if left * self.best_loses(left, n) < right * self.best_loses(right, n):
                low = left
            else:
                high = right
        return low * self.best_loses(low, n)


def _crossing(excess: Callable[[float], float]) -> float:
    """Where a falling function reaches 0, rounded up.

    Args:
        excess: the logarithm of how many times too likely an error is; above 0 where theta is too small.
    """
    fails, works = 0.0, 1.0
    while excess(works) > 0.0:
        fails, works = works, 2.0 * works
    while works - fails > works * _ROUNDING:
        middle = fails + (works - fails) / 2.0
        fails, works = (middle, works) if excess(middle) > 0.0 else (fails, middle)
    return works


@dataclass(frozen=True, slots=True)
class Law:
    """How the winner is distributed, given the scaled gaps.

    Attributes:
        name: its name in the compiled core.
        probabilities: from scaled gaps, shape ``(n,)``, to probabilities, shape ``(n,)``.
        worst_case: the errors for the worst scores.
        privacy: the event of one run at the scale for epsilon.
    """

    name: Literal["exponential", "permute_and_flip", "laplace"]
    probabilities: Callable[[FloatArray], FloatArray]
    worst_case: WorstCase
    privacy: type[BoundedRangeEvent] | type[LaplaceProfileEvent]


class Lead(NamedTuple):
    """A selected candidate, and by how much its noisy score is ahead of all others. Both are private releases.

    The gap costs nothing beside the winner under pure differential privacy; the winner's noisy score itself is not
    released. What the gap says of the true scores: `dpselect.planning.lead_shown`.

    Attributes:
        winner: the selected candidate, or its index.
        gap: the difference of the two largest noisy scores, rounded down to a multiple of the step, in the unit of the
            scores.

    Proof: ``proofs/free_gap.md``.

    >>> Lead("dog", 30.0)
    Lead(winner='dog', gap=30.0)
    """

    winner: Any
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism(SelectsOne, ScaledMechanism, abc.ABC):
    """A selection mechanism with its arguments: a value object without random state, compared by its arguments.

    Use one of its subclasses: `ExponentialMechanism`, `PermuteAndFlip`, `ReportNoisyMax`.
    """

    _law: ClassVar[Law]
    _sampler: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ScaledMechanism.__post_init__(self)
        self._set(_sampler=_core.Sampler(*self.terms))

    @property
    def law(self) -> Law:
        """The distribution of the winner, in units of the scale."""
        return self._law

    @property
    def terms(self) -> tuple[Literal["exponential", "permute_and_flip", "laplace"], float, float, Literal[1, 2]]:
        """Name of the distribution, epsilon, sensitivity and the factor of the scale, on which a draw depends."""
        return self.law.name, self.epsilon, self.sensitivity, self._factor

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        return self.law.privacy(epsilon=self.epsilon)

    def _index(self, scores: ScoresLike) -> int:
        if type(scores) is ndarray:
            try:
                return self._sampler.select(scores)
            except InvalidScoresError:
                pass  # nothing was drawn; below, it is converted to what the core reads in place, or refused
        return self._sampler.select(native_scores(scores))

    def select_with_gap(self, scores: ScoresLike, candidates: object = None, *, step: float) -> Lead:
        """Draw one candidate, and by how much its noisy score is ahead of all others, at the cost of `epsilon`.

        The gap is that of the same noise that selects. Under pure differential privacy it costs nothing; with a delta,
        it costs what `event_with_gap` says.

        Args:
            scores, candidates: as for `select`; at least two scores.
            step: the gap is rounded down to a multiple of it; public, > 0. A tenth of the scale loses little.

        Returns:
            Winner and gap; see `Lead`.

        Raises:
            InvalidScoresError: as for `select`, or there is a single score.

        Proof: ``proofs/free_gap.md``.

        >>> from dpselect import PermuteAndFlip
        >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
        >>> winner, gap = mechanism.select_with_gap([12, 730, 41], ["cat", "dog", "eel"], step=1.0)
        >>> winner, gap > 600
        ('dog', True)
        """
        step = positive_sensitivity(step, "step")
        native = native_scores(scores)
        if score_count(native) == 1:
            got = Shown(f"<{type(scores).__name__} of length 1>")
            raise InvalidScoresError("scores", got, "at least two scores: a single candidate is ahead of nobody")
        pick = None if candidates is None else checked_candidates(candidates, count=score_count(native))
        index, gap = self._sampler.select_with_gap(native, step)
        return Lead(index if pick is None else pick(index), gap)

    @property
    def event_with_gap(self) -> LogisticProfileEvent | LaplaceProfileEvent:
        """What `select_with_gap` costs, for accounting: with Gumbel noise more than `event`, but for pure epsilon.

        Proof: ``proofs/free_gap.md``, claim 3.

        >>> from dpselect import ExponentialMechanism
        >>> ExponentialMechanism(epsilon=0.5, sensitivity=1.0).event_with_gap
        LogisticProfileEvent(epsilon=0.5)
        """
        event = self.event
        return LogisticProfileEvent(epsilon=self.epsilon) if isinstance(event, BoundedRangeEvent) else event

    def select_many(self, scores: ScoresLike, size: int) -> NDArray[np.int64]:
        """Draw `size` indices independently of each other, *each* at the cost of `epsilon`.

        For simulation. Winners are not removed: see `peel`.

        Returns:
            Shape ``(size,)``, indices of `scores`.
        """
        size = positive_count(size, "size", at_most=sys.maxsize)
        return self._sampler.select_many(native_scores(scores), size)

    def select_rows(self, matrix: ScoreRows) -> NDArray[np.int64]:
        """Draw one index for each row of a matrix, independently of each other, *each* at the cost of `epsilon`.

        For simulations, and for decoding a table of logits. Long matrices are drawn from on all cores. All
        rows together cost as many selections as there are rows that one unit may change (``proofs/groups.md``).

        Args:
            matrix: shape ``(rows, n)``, finite floats or integers of any type up to 64 bits and in any order in memory.
                NumPy arrays are read in place, and so are arrays that NumPy can look at (PyTorch, JAX).

        Returns:
            Shape ``(rows,)``: for each row an index of its scores.

        Raises:
            InvalidScoresError: `matrix` is empty, not two-dimensional, not finite, or not exactly representable.
                No draw is returned then, of any row.

        Proof: ``proofs/exact_sampling.md``.

        >>> from dpselect import PermuteAndFlip
        >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
        >>> mechanism.select_rows([[0, 500, 10], [700, 20, 30]])
        array([1, 0])
        """
        native = native_rows(matrix)
        try:
            return self._sampler.select_rows(native)
        except InvalidScoresError as error:
            raise named_matrix(error) from None

    def peel(self, scores: ScoresLike, k: int) -> NDArray[np.int64]:
        """Draw `k` different indices one after another, each round without the earlier winners.

        Each round costs `epsilon`; for `k` rounds within a total epsilon, see `dpselect.top_k`.

        Returns:
            Shape ``(k,)``, the first winner first.

        Raises:
            InvalidParameterError: `k` is not a whole number from 1 to the number of scores.

        Proof: ``proofs/top_k.md``.
        """
        native = native_scores(scores)
        k = positive_count(k, "k", at_most=score_count(native), at_most_what="the number of scores")
        return self._sampler.peel(native, k)

    def pmf(self, scores: ScoresLike) -> NDArray[np.float64]:
        """Probability of each candidate. For planning with public scores and for tests: it depends on every score.

        Returns:
            Shape ``(n,)``, summing to 1 within 1e-12, each entry accurate to ten digits or better (entries below
            about 1e-300 may underflow; the draw itself never rounds a probability).
        """
        return self.probabilities(Gaps.below_best(finite_scores(scores)))

    def expected_error(self, scores: ScoresLike) -> float:
        """Expected distance of the selected score below the best, in the unit of the scores; depends on the scores."""
        gaps = Gaps.below_best(finite_scores(scores))
        return gaps.mean(self.probabilities(gaps))

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        """With probability `confidence` the selected score is at most this far below the best, whatever the scores.

        So a candidate that leads all others by this much, for votes rounded up, is selected with that probability.
        Exact for the worst scores (one best, all others equal and this far below it), rounded up. It depends on
        public arguments only, so it may be published.

        Returns:
            A distance in the unit of the scores; 0 if even a blind guess among `n_candidates` reaches the confidence.

        Proof: ``proofs/error_bounds.md``.
        """
        n_candidates = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        confidence = probability(confidence, "confidence")
        return self.worst_error(n_candidates, failure=1.0 - confidence, confidence=confidence)

    def worst_error(self, n_candidates: int, *, failure: float, confidence: float) -> float:
        """`error_bound` for a `failure` and a `confidence` that sum to 1; neither is computed from the other."""
        theta = self.law.worst_case.error_quantile(n_candidates, failure, confidence)
        if theta == 0.0:
            return 0.0
        return math.nextafter(theta * math.nextafter(self.scale, math.inf), math.inf)

    def probabilities(self, gaps: Gaps) -> NDArray[np.float64]:
        """`pmf` from gaps computed before: ``proofs/exponential_mechanism.md``, ``proofs/permute_and_flip.md``."""
        return self.law.probabilities(
            gaps.scaled(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor)
        )


_PARTITION = "a whole number from 0 to 2**63 - 1"


@dataclass(frozen=True, slots=True)
class Winner:
    """The winner: the number of its partition and its index within that partition's scores.

    If each partition's number is the number of scores before it, the sum of the two is the index among all scores.
    """

    partition: int
    index: int


@explained
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
            scores: shape ``(n,)``, finite floats or integers, of any type in every part; higher is better. A part
                without scores changes nothing. How many a part has is treated as public, like the candidates.
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
            got = Shown(f"<by {other._mechanism!r}>")
            raise InvalidParameterError("other", got, f"a selection by {self._mechanism!r}")
        return self._wrap(self._mechanism, self._row.merged(other._row))

    def to_bytes(self) -> bytes:
        """The selection as bytes, to be sent to where the others are. The selection is used up; the bytes replace it.

        As private as the scores. About a hundred bytes, and with probability below 2**-40 a few more.

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


def _terms(
    mechanism: Mechanism,
) -> tuple[Literal["exponential", "permute_and_flip"], float, float, Literal[1, 2], int]:
    """What two partial selections share to be merged: law, epsilon, sensitivity, factor of the scale, winners."""
    expected = "PermuteAndFlip, ExponentialMechanism, or ReportNoisyMax with exponential or Gumbel noise"
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, expected)
    if getattr(mechanism, "weights", None) is not None:
        raise InvalidParameterError("mechanism", Shown("<with weights>"), expected, "Merging them is not built.")
    law, epsilon, sensitivity, factor = mechanism.terms
    if law == "laplace":
        raise InvalidParameterError("mechanism", Shown("<Laplace noise>"), expected)
    return law, epsilon, sensitivity, factor, 1
