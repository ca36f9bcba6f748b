"""The k best candidates, in order, by exponential noise once on all scores."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, overload

from dpselect._native import _core
from dpselect.accounting import LaplaceProfileEvent, calibrate_rounds
from dpselect.checks import positive_count, probability
from dpselect.errors import InvalidScoresError, Shown
from dpselect.mechanisms.base import ScaledMechanism, scale_of
from dpselect.mechanisms.candidates import checked_candidates
from dpselect.mechanisms.lead import Leads, public_step
from dpselect.mechanisms.scores import ScoresLike, native_scores, score_count

Candidate = TypeVar("Candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialNoiseTopK(ScaledMechanism):
    r"""Adds exponential noise to each score *once*, and selects the `k` largest in order.

    Its mean is :math:`b = k w / \varepsilon`, with w the sensitivity if monotonic, else twice that.

    It is `epsilon`-DP for all `k` together, and so is the release of the gaps between the noisy scores. At the same
    epsilon its expected error is at most that of `k` rounds of `PermuteAndFlip` in every case that was enumerated, and
    up to a third smaller; for ``k = 1`` it is permute-and-flip.

    Args:
        sensitivity, monotonic, neighbours: see `Mechanism`.
        k: number to select, >= 1.

    Proof: ``proofs/exponential_once.md``.

    >>> mechanism = ExponentialNoiseTopK(epsilon=1.0, sensitivity=1.0, monotonic=True, k=2)
    >>> mechanism.scale, mechanism.event
    (2.0, LaplaceProfileEvent(epsilon=1.0))
    >>> mechanism.select([900, 20, 1800, 30], ["a", "b", "c", "d"])
    ['c', 'a']
    >>> winners, gaps = mechanism.select_with_gaps([900, 20, 1800, 30], ["a", "b", "c", "d"])
    >>> winners, all(gap > 700 for gap in gaps)
    (['c', 'a'], True)
    """

    k: int
    _share: float = field(init=False, repr=False, compare=False)
    _sampler: _core.Sampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ScaledMechanism.__post_init__(self)
        k = positive_count(self.k, "k", at_most=sys.maxsize)
        # So that k shares are at most epsilon: the core divides w by a share, exactly.
        share = calibrate_rounds(epsilon=self.epsilon, delta=0.0, count=k)
        sampler = _core.Sampler("permute_and_flip", share, self.sensitivity, self._factor)
        self._set(k=k, _share=share, _sampler=sampler)

    @property
    def scale(self) -> float:
        """The mean b of the noise, in the unit of the scores.

        That is ``2 * k * sensitivity / epsilon``, half of it if monotonic.

        For reading only, as a double (infinite or 0 if it does not fit): draws use the exact quotient.
        """
        return scale_of(self._share, self.sensitivity, factor=self._factor)

    @property
    def terms(self) -> tuple[float, float, Literal[1, 2], int]:
        """A share of epsilon, the sensitivity and the factor of the scale, and k: on these a draw depends."""
        return self._share, self.sensitivity, self._factor, self.k

    @property
    def event(self) -> LaplaceProfileEvent:
        """What one selection costs, with or without gaps, for accounting."""
        return LaplaceProfileEvent(epsilon=self.epsilon)

    @overload
    def select(self, scores: ScoresLike, candidates: None = None) -> list[int]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: Sequence[Candidate]) -> list[Candidate]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: object) -> list[Any]: ...
    def select(self, scores: ScoresLike, candidates: object = None) -> list[Any]:
        """Draw the `k` candidates, best first, at the cost of `epsilon`.

        Args:
            scores: see `Mechanism.select`; at least `k`.

        Returns:
            `k` different candidates, or indices.

        Raises:
            InvalidScoresError: as for `Mechanism.select`, or there are fewer than `k` scores.

        Proof: ``proofs/exponential_once.md``.
        """
        native = self._enough(scores)
        if candidates is None:
            return self._sampler.once(native, self.k).tolist()
        pick = checked_candidates(candidates, count=score_count(native))
        return [pick(index) for index in self._sampler.once(native, self.k).tolist()]

    def select_with_gaps(self, scores: ScoresLike, candidates: object = None, step: float | None = None) -> Leads:
        """Draw the `k` candidates, and by how much each is ahead of all after it, at the cost of `epsilon`.

        Args:
            scores, candidates: as for `select`.
            step: gaps are rounded down to multiples of it; public, > 0. Default: about a tenth of the scale.

        Returns:
            Winners and gaps, best first; see `Leads`.

        Raises:
            InvalidParameterError: `step` is not a finite number > 0.

        Proof: ``proofs/free_gap.md``.
        """
        step = public_step(step, self.scale)
        native = self._enough(scores)
        pick = None if candidates is None else checked_candidates(candidates, count=score_count(native))
        picks, gaps = self._sampler.once_with_gaps(native, self.k, step)
        winners = picks.tolist() if pick is None else [pick(index) for index in picks.tolist()]
        return Leads(winners=winners, gaps=gaps.tolist(), step=step, scale=self.scale)

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        r"""With probability `confidence`, *every* selected score is this close to the best one left at its turn.

        So the r-th selected score is at most this far below the r-th largest. There is no union over the `k`
        selections: the bound is :math:`-b \ln(1 - (1 - \beta)^{1/(n-1)})` for a failure :math:`\beta`, whatever the
        scores and `k` are. It depends on public arguments only.

        Returns:
            A distance in the unit of the scores; 0 for a single candidate.

        Proof: ``proofs/exponential_once.md``, claim 3.
        """
        n = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        log_confidence = math.log(probability(confidence, "confidence"))
        if n == 1:
            return 0.0
        theta = -math.log(-math.expm1(log_confidence / (n - 1))) * (1.0 + 1e-12)
        return math.nextafter(theta * math.nextafter(self.scale, math.inf), math.inf)

    def _enough(self, scores: ScoresLike) -> Any:
        native = native_scores(scores)
        if 0 < score_count(native) < self.k:
            got = Shown(f"<{type(scores).__name__} of length {score_count(native)}>")
            raise InvalidScoresError("scores", got, f"at least {self.k:,} scores, as many as are selected")
        return native
