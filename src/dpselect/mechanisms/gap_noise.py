"""What the gap between two noisy counts says about the true ones, for each kind of noise that selects."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal, get_args

from dpselect.arguments import probability
from dpselect.mechanisms.discrete_gaussian import difference_bound, log_chance_of_noise
from dpselect.mechanisms.lead import TAILS, Noise
from dpselect.mechanisms.noisy_order import difference_above

WholeNoise = Literal["geometric", "discrete gaussian"]
GAP_NOISES: tuple[str, ...] = (*get_args(Noise), *get_args(WholeNoise))
_ROUNDED = 1.0 - 1e-9
"""Of a quotient of two probabilities computed in doubles, so that no bound is too high."""
_HALVINGS = 2100


@dataclass(frozen=True, slots=True)
class GapNoise:
    """Independent noise of one scale on counts, of which the largest are selected.

    Attributes:
        kind: its distribution. The two last are on whole numbers; of equal noisy counts an earlier candidate is better.
        scale: b; of Gaussian noise its standard deviation.

    Proof: ``proofs/free_gap.md``, claims 4, 8 and 9.

    >>> GapNoise("exponential", 2.0).lead_at_least(30.0), GapNoise("geometric", 2.0).lead_at_least(30.0)
    (23, 20)
    >>> f"{GapNoise('exponential', 2.0).p_value(30.0):.1g}"
    '3e-07'
    """

    kind: Noise | WholeNoise
    scale: float

    def p_value(self, gap: float) -> float:
        """Bounds the probability of so large a gap if a candidate after the winner is as good as it, or better."""
        return min(1.0, max(self._quotient(gap, 0), sys.float_info.min)) if gap else 1.0

    def lead_at_least(self, gap: float, confidence: float = 0.99) -> int:
        """With probability `confidence` the winner's true count is ahead of all after it by at least this much.

        Unless it is 0, which says nothing. The probability is over the noise, given which candidate is selected.
        """
        failure = 1.0 - probability(confidence, "confidence")

        def is_excluded(lead: int) -> bool:  # that the true lead is so large, or smaller
            return self._quotient(gap, lead) <= failure

        if not gap or not is_excluded(0):
            return 0
        excluded, possible = 0, math.floor(gap) + 1
        while possible - excluded > 1:
            middle = (excluded + possible) // 2
            excluded, possible = (middle, possible) if is_excluded(middle) else (excluded, middle)
        return possible

    def least_visible(self, step: float, confidence: float = 0.99) -> float:
        """The smallest gap, of the multiples of `step`, from which on a lead is seen with this confidence."""
        low, high = 0.0, step
        while not self.lead_at_least(high, confidence):
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = math.floor((low + high) / 2.0 / step) * step
            if middle <= low:
                break
            low, high = (low, middle) if self.lead_at_least(middle, confidence) else (middle, high)
        return high

    def _quotient(self, gap: float, lead: int) -> float:
        """Bounds the probability of such a gap, given that the candidate is selected and ahead by at most `lead`."""
        if self.kind in get_args(Noise):
            tail = TAILS[self.kind]  # pyright: ignore[reportArgumentType] - checked in the line above
            selected = tail(-lead / self.scale)
            return tail((gap - lead) / self.scale) / selected / _ROUNDED if selected else 1.0
        # Selected it may be with a noisy count equal to that of a later candidate.
        above, selected = self._log_at_least(math.floor(gap) - lead), self._log_at_least(1 - lead, is_upper=False)
        return math.exp(min(above - selected, 0.0)) / _ROUNDED

    def _log_at_least(self, distance: int, *, is_upper: bool = True) -> float:
        """A bound on the logarithm of the probability that one noise is larger than another by `distance`, or more."""
        if distance <= 0:  # the larger part
            beyond = math.exp(self._log_at_least(1 - distance, is_upper=not is_upper))
            return math.log1p(-beyond) if is_upper else math.log(max(0.5, 1.0 - beyond))
        if self.kind == "geometric":
            return difference_above(1.0 / min(max(self.scale, 1e-300), 1e300))(distance - 1)
        if is_upper:
            return difference_bound(self.scale**2, distance - 1)
        # Half of the probability that the two differ, which is asked for 1 only.
        return log_chance_of_noise(self.scale**2) - math.log(2.0) if distance == 1 else -math.inf
