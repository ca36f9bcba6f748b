"""By how much a winner is ahead: the gap of its noisy score, and what it says about the true scores."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from dpselect.checks import probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.explained import explained

Noise = Literal["exponential", "gumbel", "laplace"]

_PARTS_OF_SCALE = 3  # the default step is the largest power of two that is at most the scale over 2 to this power
_HALVINGS = 200
_SMALLEST = math.ulp(0.0)
_DISTANT = 1e15  # so many scales are what no noise makes up for, at any confidence that a double holds


@explained
@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    r"""A selected candidate, and by how much its noisy score is ahead of all others. Both are private releases.

    Unpacks as ``winner, gap``. The gap costs nothing beside the winner under pure differential privacy; the winner's
    noisy score itself is not released.

    Attributes:
        winner: the selected candidate, or its index.
        gap: the difference of the two largest noisy scores, rounded down to a multiple of `step`, in the unit of the
            scores.
        step: public.
        scale: of the noise.
        noise: its distribution.

    Proof: ``proofs/free_gap.md``.

    >>> lead = Lead(winner="dog", gap=30.0, step=0.125, scale=2.0, noise="exponential")
    >>> winner, gap = lead
    >>> f"{winner} is ahead by {lead.lead_at_least(0.99):.4g}; p = {lead.p_value:.1g}"
    'dog is ahead by 22.18; p = 3e-07'
    """

    winner: Any
    gap: float
    step: float
    scale: float
    noise: Noise

    def __iter__(self) -> Iterator[Any]:
        return iter((self.winner, self.gap))

    @property
    def p_value(self) -> float:
        """Bounds the probability of so large a gap if the winner is *not* better than all others."""
        return _at_most_one(2.0 * TAILS[self.noise](_in_scales(self.gap, self.scale))) if self.gap else 1.0

    def lead_at_least(self, confidence: float = 0.99) -> float:
        """With probability `confidence`, the winner's true score is ahead of all others by at least this much.

        Unless it is 0, which says nothing: the winner may then be behind. The probability is over the noise, whichever
        candidate wins.

        Returns:
            A distance in the unit of the scores, at most the gap.

        Proof: ``proofs/free_gap.md``, claim 4.
        """
        failure = 1.0 - probability(confidence, "confidence")
        tail, gap = TAILS[self.noise], self.gap / max(self.scale, _SMALLEST)
        if gap > _DISTANT:
            return self.gap * (1.0 - 1e-12)
        # The chance of so large a gap grows with the true lead; where it reaches the failure lies the bound.
        low, high = 0.0, gap
        if not gap or not tail(gap) <= failure * tail(0.0):
            return 0.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            if tail(gap - middle) <= failure * tail(-middle):
                low = middle
            else:
                high = middle
        return low * self.scale * (1.0 - 1e-12)


@explained
@dataclass(frozen=True, slots=True, kw_only=True)
class Leads:
    """Candidates selected by exponential noise once, best first, and by how much each is ahead of all after it.

    Unpacks as ``winners, gaps``.

    Attributes:
        winners: the candidates, or their indices.
        gaps: one for each winner, as those of `Lead`; if all candidates were selected, the last one has none.
        step: public.
        scale: of the noise.

    Proof: ``proofs/free_gap.md``.

    >>> leads = Leads(winners=["a", "b"], gaps=[40.0, 3.0], step=0.125, scale=2.0)
    >>> [round(lead, 2) for lead in leads.leads_at_least()]
    [32.18, 0.0]
    """

    winners: Sequence[Any]
    gaps: Sequence[float]
    step: float
    scale: float

    def __iter__(self) -> Iterator[Any]:
        return iter((self.winners, self.gaps))

    @property
    def p_values(self) -> list[float]:
        """For each gap: bounds the probability of so large a one if a candidate after it is as good."""
        return [_at_most_one(math.exp(-_in_scales(gap, self.scale))) if gap else 1.0 for gap in self.gaps]

    def leads_at_least(self, confidence: float = 0.99) -> list[float]:
        """For each gap, with probability `confidence`: the true lead over *all* candidates after it is at least this.

        Unless it is 0, which says nothing. Each holds with this probability by itself.

        Proof: ``proofs/free_gap.md``, claim 8.
        """
        each = [Lead(winner=None, gap=gap, step=self.step, scale=self.scale, noise="exponential") for gap in self.gaps]
        return [lead.lead_at_least(confidence) for lead in each]


def default_step(scale: float) -> float:
    """A public step for gaps at this scale of noise: a power of two, from a sixteenth to an eighth of it.

    So rounding takes little from a bound, and gaps are short numbers.

    >>> default_step(2.0), default_step(2.5), default_step(1e-3)
    (0.25, 0.25, 0.0001220703125)
    """
    exponent = math.frexp(min(max(scale, 1e-300), 1e300))[1]
    return math.ldexp(1.0, exponent - 1 - _PARTS_OF_SCALE)


_known_step = lru_cache(maxsize=256)(default_step)


def public_step(step: float | None, scale: float) -> float:
    """The step as a double > 0; the default if there is none.

    Raises:
        InvalidParameterError: it is not a finite number > 0.
    """
    if step is None:
        return _known_step(scale)
    try:
        value = float(step)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if isinstance(step, bool) or not 0.0 < value < math.inf:
        raise InvalidParameterError("step", step, "a finite number > 0, in the unit of the scores")
    return value


def _in_scales(gap: float, scale: float) -> float:
    """A gap in units of the scale, which is 0 where doubles have none so small; cut off where all tails are 0."""
    return min(gap / max(scale, _SMALLEST), _DISTANT)


def _at_most_one(bound: float) -> float:
    """A bound on a probability that is above 0, as it may be too small for doubles."""
    return min(1.0, max(bound, sys.float_info.min))


def _exponential(x: float) -> float:
    return 0.5 * math.exp(-x) if x >= 0.0 else 1.0 - 0.5 * math.exp(x)


def _gumbel(x: float) -> float:
    return math.exp(-x) / (1.0 + math.exp(-x)) if x >= 0.0 else 1.0 / (1.0 + math.exp(x))


def _laplace(x: float) -> float:
    return (2.0 + x) * math.exp(-x) / 4.0 if x >= 0.0 else 1.0 - (2.0 - x) * math.exp(x) / 4.0


TAILS: dict[Noise, Callable[[float], float]] = {"exponential": _exponential, "gumbel": _gumbel, "laplace": _laplace}
"""The probability that the difference of two noises of scale 1 is larger than a number."""
