"""Permute-and-flip for scores that are expensive: it stops asking for scores once the rest cannot change the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from dpselect._native import _core
from dpselect.accounting import LaplaceProfileEvent
from dpselect.checks import exact_number, function
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.base import ScaledMechanism, native_fraction
from dpselect.mechanisms.candidates import checked_candidates
from dpselect.mechanisms.explained import explained
from dpselect.privacy import Neighbours, neighbouring_relation

Candidate = TypeVar("Candidate")


@explained
def select_lazily(
    score: Callable[[Candidate], float | Fraction],
    candidates: Sequence[Candidate],
    *,
    ceiling: float | Fraction,
    epsilon: float,
    sensitivity: float,
    monotonic: bool = False,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> Candidate:
    r"""Draw one candidate by permute-and-flip, calling `score` only as often as the answer needs.

    For scores that cost a training run or a query each, and have a known ceiling, such as an accuracy of 1. Candidates
    are visited in random order, and each one's coin is first compared with :math:`e^{-(ceiling - score)/b}`. The first
    heads ends the draw. Only if there is none, all scores are known, and the same coins are compared with
    :math:`e^{-(best - score)/b}`. The distribution is exactly that of `dpselect.PermuteAndFlip`, for any ceiling; the
    closer it is to the best score, the fewer calls.

    Args:
        score: called with a candidate, at most once each; returns a finite number, higher is better.
        ceiling: no score is above it. Clamp the scores, ``min(score, ceiling)``, if you are not certain.

    Raises:
        InvalidParameterError: an argument is out of range, or `monotonic` does not go with `neighbours`. Nothing was
            drawn, and `score` was not called.
        InvalidCandidatesError: there are no candidates, or duplicates. Nothing was drawn.
        InvalidScoresError: a score is above the ceiling, or no finite number. There is no answer, and what was
            charged stays spent: that a draw failed says something about the scores.

    The number of calls, and so the time, depends on the scores. Whoever can see it learns more than the answer.

    Proof: ``proofs/early_stop.md``.

    >>> trained = []
    >>> def accuracy(depth):
    ...     trained.append(depth)
    ...     return {1: 512, 2: 871, 3: 893, 4: 902}.get(depth, 905)      # right answers, of 1,000
    >>> depth = select_lazily(accuracy, range(1, 41), ceiling=1000, epsilon=0.05, sensitivity=1, monotonic=True)
    >>> 0 < depth < 41, len(trained) <= 40
    (True, True)
    """
    lazy = LazySelection(
        epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic, neighbours=neighbours, ceiling=ceiling
    )
    return lazy.select(score, candidates)


class LazySelection:
    """`select_lazily` as an object, whose cost is known before: `event`.

    >>> LazySelection(ceiling=1, epsilon=0.5, sensitivity=0.1).event
    LaplaceProfileEvent(epsilon=0.5)
    """

    __slots__ = ("_ceiling", "_terms")

    def __init__(
        self,
        *,
        ceiling: float | Fraction,
        epsilon: float,
        sensitivity: float,
        monotonic: bool = False,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    ) -> None:
        relation = neighbouring_relation(neighbours)
        self._terms = ScaledMechanism(
            epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic, neighbours=relation
        )
        self._ceiling = exact_number(ceiling, "ceiling")

    @property
    def event(self) -> LaplaceProfileEvent:
        """What one selection costs: that of permute-and-flip."""
        return LaplaceProfileEvent(epsilon=self._terms.epsilon)

    def select(self, score: Callable[[Candidate], float | Fraction], candidates: Sequence[Candidate]) -> Candidate:
        """See `select_lazily`."""
        function(score, "score", expected="a function of a candidate")
        try:
            count = len(candidates)
        except TypeError:
            raise InvalidCandidatesError("candidates", candidates, "a sequence") from None
        if count == 0:
            raise InvalidCandidatesError("candidates", Shown("<none>"), "at least one candidate")
        candidate_of = checked_candidates(candidates, count=count)
        terms = self._terms
        flips = _core.LazyFlips(count, terms.epsilon, terms.sensitivity, 1 if terms.monotonic else 2)
        return candidate_of(self._winner(flips, lambda item: score(candidate_of(item))))

    def _winner(self, flips: _core.LazyFlips, score: Callable[[int], object]) -> int:
        """The first heads below the ceiling, or else the first heads below the best score."""
        order = [int(item) for item in flips.order()]
        known: list[Fraction] = []
        for item in order:
            known.append(self._checked(score(item)))
            if flips.is_head(item, native_fraction(self._ceiling - known[-1])):
                return item
        best = max(known)
        return next(
            item for item, each in zip(order, known, strict=True) if flips.is_head(item, native_fraction(best - each))
        )

    def _checked(self, score: object) -> Fraction:
        """A score, or an error that does not show it."""
        try:
            exact = exact_number(score, "score")
        except InvalidParameterError:
            exact = None
        if exact is None:
            hint = "There is no answer, and the charge stands. Decide by a public rule what such a candidate scores."
            raise InvalidScoresError("score", Shown("<not a finite number>"), "a finite number", hint)
        if exact > self._ceiling:
            hint = "There is no answer, and the charge stands. Clamp the scores: min(score, ceiling)."
            raise InvalidScoresError("score", Shown("<above the ceiling>"), "at most the ceiling", hint)
        return exact
