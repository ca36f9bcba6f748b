"""By how much the selected candidates are ahead: what is released of it, and what it says of the true counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dpselect.arguments import boolean
from dpselect.errors import InvalidParameterError
from dpselect.questions.fields import wrong

if TYPE_CHECKING:
    from dpselect.mechanisms import NoisyOrder, PermuteAndFlip
    from dpselect.mechanisms.gap_noise import GapNoise
    from dpselect.mechanisms.top_k import TopKPlan

GAP_CONFIDENCE = 0.99
"""Confidence level of what releases say of a lead."""

GAP_PROOF = "proofs/free_gap.md"


Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedGap:
    """By how much each selected candidate's noisy count is ahead of the next one's: ``release.gap``.

    The next one is the best of all that are selected later or not at all. The gap is that of the noise that selects,
    and so costs nothing.

    Attributes:
        value: the gap, a multiple of `step`, rounded down; a list for a list of candidates; with groups, a dictionary
            with such a number or list for each group. None before the draw. If all candidates are selected, the last
            one has none.
        step: public.
        noise: the kind of noise on each count.
        scale: of the noise.

    Proof: ``proofs/free_gap.md``.

    >>> gap = ReleasedGap(value=[40.0, 3.0], step=0.25, noise="exponential", scale=2.0)
    >>> gap.lead, [f"{each:.1g}" for each in gap.p_value]
    ([33, 0], ['2e-09', '0.2'])
    """

    value: Any = None
    step: float
    noise: str
    scale: float

    @property
    def lead(self) -> Any:
        """With 99% confidence each true count is ahead of all others, or of all after it, by at least this much.

        In the shape of `value`. 0 says nothing. Each holds with this confidence by itself.
        """
        return self.lead_at_least(GAP_CONFIDENCE)

    def lead_at_least(self, confidence: float) -> Any:
        """`lead`, at another confidence, strictly between 0 and 1."""
        noise = self.of_noise
        return _mapped(lambda gap: noise.lead_at_least(gap, confidence), self.value)

    @property
    def p_value(self) -> Any:
        """For each gap: bounds the probability of so large a one if a candidate after it is as good, or better."""
        return _mapped(self.of_noise.p_value, self.value)

    @property
    def numbers(self) -> list[float]:
        """All gaps, one after another."""
        value: Any = self.value
        parts = [*cast("dict[Any, Any]", value).values()] if isinstance(value, dict) else [value]
        return [gap for part in parts for gap in (cast("list[float]", part) if isinstance(part, list) else [part])]

    @property
    def of_noise(self) -> GapNoise:
        """What a gap says."""
        from dpselect.mechanisms.gap_noise import GapNoise

        return GapNoise(cast(Any, self.noise), self.scale)

    @property
    def least_visible(self) -> float:
        """The smallest gap from which on a lead is sure with 99% confidence; public, before the draw."""
        return self.of_noise.least_visible(self.step, GAP_CONFIDENCE)

    @property
    def description(self) -> dict[str, Any]:
        """What is known of it before the draw, as in a certificate."""
        return {"step": self.step, "noise": self.noise, "scale": self.scale, "confidence": GAP_CONFIDENCE}


def _mapped(said: Callable[[float], Any], gaps: Any) -> Any:
    if isinstance(gaps, dict):
        return {group: _mapped(said, each) for group, each in cast("dict[Any, Any]", gaps).items()}
    if isinstance(gaps, list):
        return [said(gap) for gap in cast("list[float]", gaps)]
    return None if gaps is None else said(gaps)


def planned_gap(selects: PermuteAndFlip | TopKPlan | NoisyOrder, step: float | None = None) -> ReleasedGap:
    """What is public of the gaps of this noise."""
    from dpselect.mechanisms import GeometricMechanism, NoisyOrder
    from dpselect.mechanisms.lead import default_step
    from dpselect.mechanisms.top_k import TopKPlan

    if isinstance(selects, NoisyOrder):
        kind = "geometric" if isinstance(selects.noise, GeometricMechanism) else "discrete gaussian"
        return ReleasedGap(step=1.0, noise=kind, scale=selects.noise.scale)
    mechanism = selects.mechanism if isinstance(selects, TopKPlan) else selects
    scale = mechanism.scale
    return ReleasedGap(step=default_step(scale) if step is None else step, noise="exponential", scale=scale)


def stated_gap(selects: PermuteAndFlip | TopKPlan | NoisyOrder, step: float | None, n: int) -> ReleasedGap | None:
    """The same with the step of a certificate; None if it has none.

    Raises:
        InvalidCertificateError: these are no draws that have gaps.
    """
    from dpselect.mechanisms.top_k import TopKPlan

    if step is None:
        return None
    if n == 1 or (isinstance(selects, TopKPlan) and selects.has_no_gaps):
        raise wrong("gap", "none for such a selection")
    return planned_gap(selects, step)


def checked_with_gap(with_gap: object, n_candidates: int) -> bool:
    """The argument, if it is one or the other, and there are two candidates.

    Raises:
        InvalidParameterError: it is not True or False, or there is a single candidate.
    """
    is_asked = boolean(with_gap, "with_gap")
    if is_asked and n_candidates == 1:
        raise InvalidParameterError("with_gap", True, "False: a single candidate is ahead of nobody")
    return is_asked


def gaps_of(answers: int, n_candidates: int) -> int:
    """How many gaps so many answers have: if all candidates are selected, the last one has none."""
    return min(answers, n_candidates - 1)
