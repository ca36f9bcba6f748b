"""Counts of selected candidates that were counted after the selection, combined with the gaps of the selection."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from dpselect.mechanisms import GeometricMechanism
from dpselect.questions.gap import GAP_CONFIDENCE, ReleasedGap


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedCounts:
    """The best linear estimate of the counts from noisy counts and gaps, at no further cost: a function of both.

    Attributes:
        counts: in the shape of the answer; not whole, and possibly below 0.
        variance_ratio: the variance of each over that of the noisy count alone, where the selected candidates are far
            ahead of all others and of each other, so that the noise did not decide who they are.
        within: with 99% confidence all of them (in one group, with groups) are at most this far from the truth,
            whatever the counts are. It may be larger than the bound of the noisy counts, which is for one noise only.

    Candidates near the last place are selected for their noise, and then tend to be estimated too high.

    Proof: ``proofs/free_gap.md``, claim 10.
    """

    counts: Any
    variance_ratio: float
    within: int


def combined(numbers: Sequence[int], gaps: Sequence[float], *, share: float, step: float) -> list[float]:
    r"""The estimate for one list of answers.

    Args:
        numbers: the k noisy counts, best first.
        gaps: between each and the next; the last one may be missing, and is not used.
        share: :math:`\lambda`, the variance of the noise that selects over that of the noisy counts.
        step: gaps were rounded down to multiples of it.

    >>> [round(each, 6) for each in combined([100, 90], [12.0], share=1.0, step=0.0)]
    [100.5, 89.5]
    """
    k = len(numbers)
    ahead = [0.0] * k  # of the last one; what rounding took is half a step on average
    for place in range(k - 2, -1, -1):
        ahead[place] = ahead[place + 1] + gaps[place] + step / 2.0
    mean, middle = sum(numbers) / k, sum(ahead) / k
    pairs = zip(numbers, ahead, strict=True)
    return [mean + (share * (number - mean) + (lead - middle)) / (1.0 + share) for number, lead in pairs]


def combined_counts(
    numbers: Any, gap: ReleasedGap, noise: GeometricMechanism, *, k: int, n_candidates: int
) -> CombinedCounts:
    """The estimate of all lists of answers, and its accuracy, from public numbers.

    Args:
        numbers: the noisy counts: a list, or one for each group.
        gap: of the exponential noise that selected.
        noise: of the counts.
        k: how many candidates were selected, at least 2.
        n_candidates: out of how many.
    """
    ratio = math.exp(-1.0 / min(noise.scale, 1e150))
    of_counts = 2.0 * ratio / (1.0 - ratio) ** 2 if ratio else 0.0
    # Where the counts have no noise, nothing is to be gained.
    share = gap.scale**2 / of_counts if of_counts else math.inf
    if not share < 1e300:
        exact = GeometricMechanism.error_bound(noise, GAP_CONFIDENCE, size=k)
        return CombinedCounts(counts=numbers, variance_ratio=1.0, within=exact)
    is_one = not isinstance(numbers, dict)
    values: dict[Any, list[int]] = {None: numbers} if is_one else cast("dict[Any, list[int]]", numbers)
    gaps: dict[Any, list[float]] = {None: gap.value} if is_one else gap.value
    found = {group: combined(each, gaps[group], share=share, step=gap.step) for group, each in values.items()}
    half = (1.0 - GAP_CONFIDENCE) / 2.0
    largest = -gap.scale * math.log(-math.expm1(math.log1p(-half) / n_candidates))
    spread = (1.0 - 1.0 / k) * largest + (k - 1) * gap.step / 2.0
    within = noise.error_bound(1.0 - half, size=k) + spread / (1.0 + share)
    return CombinedCounts(
        counts=found[None] if is_one else found,
        variance_ratio=(1.0 + k * share) / (k * (1.0 + share)),
        within=math.ceil(within * (1.0 + 1e-12)),
    )
