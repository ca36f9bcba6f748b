r"""From a summary to a score per candidate, with how far one unit can move any score, and the page that proves it.

Counts of units, sums of their clipped amounts, ranks among their values, revenues of prices, and rows that a rule on a
feature gets right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from dpselect import mechanisms
from dpselect.checks import decimal_fraction, positive_sensitivity
from dpselect.privacy import Neighbours, Sensitivity, neighbouring_relation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpselect.mechanisms import DiscreteGaussianMechanism, GeometricMechanism
    from dpselect.summaries import CandidateCounts, CandidateTotals, PublicClip, RuleCounts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores:
    """One score per candidate, higher is better. Private: shown by no ``repr``, kept by no pickle.

    Attributes:
        values: shape ``(n,)``, in the candidates' order.
        sensitivity: how much they can change between neighbours, and the page that proves it.
    """

    values: NDArray[np.int64]
    sensitivity: Sensitivity

    def __repr__(self) -> str:
        return f"Scores(<{self.values.shape[0]} private scores>, sensitivity={self.sensitivity.value})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Scores are private and cannot be pickled or copied")


DISTINCT_UNITS = Sensitivity(1.0, monotonic=True, neighbours=Neighbours.ADD_REMOVE, proof="proofs/counting.md")
"""All rows of one more unit raise each count by 0 or 1, however many candidates the unit touches: b = 1/epsilon."""

REPLACED_UNITS = Sensitivity(1.0, monotonic=False, neighbours=Neighbours.REPLACE_ONE, proof="proofs/counting.md")
"""Replacing a unit changes counts in both directions at once: b = 2/epsilon."""


def _if_added(value: float, neighbours: Neighbours | str, *, proof: str) -> Sensitivity:
    """Of scores that all move in the same direction if a unit is added or removed."""
    relation = neighbouring_relation(neighbours)
    return Sensitivity(value, monotonic=relation is Neighbours.ADD_REMOVE, neighbours=relation, proof=proof)


def count_sensitivity(neighbours: Neighbours) -> Sensitivity:
    """How much one unit can change the counts, and so their negatives.

    Proof: ``proofs/counting.md``, claims 1 and 2.

    >>> count_sensitivity(Neighbours.REPLACE_ONE).monotonic
    False
    """
    return DISTINCT_UNITS if neighbouring_relation(neighbours) is Neighbours.ADD_REMOVE else REPLACED_UNITS


def noise_sensitivity(noise: GeometricMechanism | DiscreteGaussianMechanism) -> Sensitivity:
    """How much one unit can change all counts that get this noise: in sum, or by the root of the sum of squares.

    Proof: ``proofs/counting.md``, claim 6, and ``proofs/discrete_gaussian.md``, claim 2.

    >>> from dpselect import DiscreteGaussianMechanism, GeometricMechanism
    >>> noise_sensitivity(GeometricMechanism(epsilon=1.0, sensitivity=4)).value
    4.0
    >>> noise_sensitivity(DiscreteGaussianMechanism(epsilon=1.0, delta=1e-6, squared_sensitivity=4)).value
    2.0
    """
    if isinstance(noise, mechanisms.GeometricMechanism):
        moved = float(noise.sensitivity)
    else:
        root = math.sqrt(noise.squared_sensitivity)
        moved = root if root.is_integer() else math.nextafter(root, math.inf)
    return _if_added(moved, noise.neighbours, proof="proofs/counting.md")


def count_scores(summary: CandidateCounts, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Scores:
    """The counts themselves as scores.

    Args:
        summary: distinct units per candidate.
        neighbours: which data sets are compared.

    Returns:
        Scores in units of people (or whatever the unit is), with sensitivity 1, monotone under add/remove.

    Proof: ``proofs/counting.md``.

    >>> import numpy as np
    >>> from dpselect.summaries import CandidateCounts
    >>> count_scores(CandidateCounts(np.array([3, 0])))
    Scores(<2 private scores>, sensitivity=1.0)
    """
    return Scores(summary.counts, count_sensitivity(neighbours))


def rarity_scores(summary: CandidateCounts, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Scores:
    """The negative counts as scores: best is the candidate that the fewest units have.

    One more unit lowers each by 0 or 1, so they are as monotone as the counts.

    Proof: ``proofs/counting.md``, claim 4.

    >>> import numpy as np
    >>> from dpselect.summaries import CandidateCounts
    >>> rarity_scores(CandidateCounts(np.array([3, 0]))).values
    array([-3,  0])
    """
    return Scores(-summary.counts, count_sensitivity(neighbours))


def sum_sensitivity(clip: PublicClip, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Sensitivity:
    """How much one unit can change any sum, in scaled whole numbers.

    A unit adds an amount from `lower` to `upper` to some candidates and nothing to the others. If one unit is added
    that is the larger of the two bounds' magnitudes, and monotone if they have one sign; if one is replaced, sums also
    move by the distance from one amount to another, and 0 is an amount, too.

    Proof: ``proofs/clipped_sums.md``.

    >>> from dpselect.summaries import PublicClip
    >>> sum_sensitivity(PublicClip.given("paid", (-2, 5))).value
    5.0
    >>> sum_sensitivity(PublicClip.given("paid", (-2, 5)), Neighbours.REPLACE_ONE).value
    7.0
    """
    relation = neighbouring_relation(neighbours)
    if relation is Neighbours.REPLACE_ONE:
        return Sensitivity(float(_spread(clip)), monotonic=False, neighbours=relation, proof="proofs/clipped_sums.md")
    most = max(abs(clip.lower), abs(clip.upper))
    one_way = clip.lower >= 0 or clip.upper <= 0
    return Sensitivity(float(most), monotonic=one_way, neighbours=relation, proof="proofs/clipped_sums.md")


def sum_range(clip: PublicClip, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> int:
    """How much one unit can change the difference between two sums, in scaled whole numbers; the noise is scaled to it.

    It is less than twice the sensitivity if the bounds have opposite signs: one sum then gains at most `upper`, and
    another loses at most the magnitude of `lower`.

    Proof: ``proofs/clipped_sums.md``.

    >>> from dpselect.summaries import PublicClip
    >>> clip = PublicClip.given("paid", (-2, 5))
    >>> sum_range(clip), sum_range(clip, Neighbours.REPLACE_ONE)
    (7, 14)
    """
    return _spread(clip) * (1 if neighbouring_relation(neighbours) is Neighbours.ADD_REMOVE else 2)


def _spread(clip: PublicClip) -> int:
    """The width of the range of amounts that a unit may add to a candidate, including 0."""
    return max(clip.upper, 0) - min(clip.lower, 0)


def sum_scores(summary: CandidateTotals, clip: PublicClip, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Scores:
    """The sums themselves as scores, in scaled whole numbers.

    Proof: ``proofs/clipped_sums.md``.

    >>> import numpy as np
    >>> from dpselect.summaries import CandidateTotals, PublicClip
    >>> sum_scores(CandidateTotals(np.array([12, -5])), PublicClip.given("paid", (-2, 5)))
    Scores(<2 private scores>, sensitivity=5.0)
    """
    return Scores(summary.totals, sum_sensitivity(clip, neighbours))


def rank_sensitivity(
    level: float, *, max_rows_per_unit: int, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    r"""How much all rows of one unit can change the rank score of any number.

    With :math:`n` values, of which :math:`L` lie below a number, that number's score is
    :math:`-|L - \text{level} \cdot n|`, or on a grid the negative distance of :math:`\text{level} \cdot n` from the
    ranks the number has. A unit adds :math:`j \le m` values, so :math:`L - \text{level} \cdot n` moves by between
    :math:`-\text{level} \cdot j` and :math:`(1 - \text{level}) j`. Scores on the two sides of the quantile change in
    opposite directions: not monotone, and the scale is twice this divided by epsilon. At levels 0 and 1 there is only
    one side, all scores fall when a unit is added, and the scale is half of that.

    Args:
        level: of the quantile, from 0 to 1.
        max_rows_per_unit: :math:`m \ge 1`, the most values one unit has.
        neighbours: which data sets are compared.

    Returns:
        :math:`m \max(\text{level}, 1 - \text{level})` in ranks, rounded up; :math:`m` if a unit is replaced.

    Proof: ``proofs/unit_values.md``.

    >>> rank_sensitivity(0.5, max_rows_per_unit=1).value, rank_sensitivity(0.25, max_rows_per_unit=4).value
    (0.5, 3.0)
    >>> rank_sensitivity(0.5, max_rows_per_unit=1).monotonic, rank_sensitivity(1.0, max_rows_per_unit=1).monotonic
    (False, True)
    """
    exact, relation = Fraction(level), neighbouring_relation(neighbours)
    most = max(exact, 1 - exact) if relation is Neighbours.ADD_REMOVE else 1
    value = positive_sensitivity(max_rows_per_unit * most)
    from dpselect.mechanisms.quantiles import moves_one_way

    monotonic = moves_one_way(level, relation)
    return Sensitivity(value, monotonic=monotonic, neighbours=relation, proof="proofs/unit_values.md")


def price_sensitivity(
    highest: float | Fraction, *, max_rows_per_unit: int, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    r"""How much all rows of one unit can change the revenue of any price of a list.

    A unit adds :math:`j \le m` offers, of which :math:`k \le j` are at least the price :math:`p`: its revenue rises by
    :math:`k p`, and none falls: monotone. The difference between two revenues never changes by all of this, so the
    scale is less than this divided by epsilon (``dpselect.mechanisms.PriceListMechanism.score_range``).

    Args:
        highest: the highest price of the public list, as the decimal it is written as.
        max_rows_per_unit: :math:`m \ge 1`, the most offers one unit has.
        neighbours: which data sets are compared.

    Returns:
        :math:`m` times the highest price, rounded up; the same if a unit is replaced, but then not monotone.

    Proof: ``proofs/best_price.md``.

    >>> price_sensitivity(9.5, max_rows_per_unit=1).value, price_sensitivity(100, max_rows_per_unit=4).value
    (9.5, 400.0)
    """
    exact = decimal_fraction(highest, "highest", expected="a finite number > 0")
    value = positive_sensitivity(max_rows_per_unit * exact)
    return _if_added(value, neighbours, proof="proofs/best_price.md")


def price_range_sensitivity(
    upper: float, *, max_rows_per_unit: int, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    """How much all rows of one unit can change the revenue of any price up to `upper`.

    Args:
        upper: the public upper bound of the prices, > 0, as the double it is.
        max_rows_per_unit: the most offers one unit has, >= 1.
        neighbours: which data sets are compared.

    Returns:
        The product of the two, rounded up. With all numbers as prices, the difference between two revenues can change
        by nearly as much.

    Proof: ``proofs/prices.md``.

    >>> price_range_sensitivity(9.5, max_rows_per_unit=2).value
    19.0
    """
    value = positive_sensitivity(max_rows_per_unit * Fraction(upper))
    return _if_added(value, neighbours, proof="proofs/prices.md")


def rule_sensitivity(highest_weight: int, *, neighbours: Neighbours) -> Sensitivity:
    r"""How much one row can change the score of any feature.

    Args:
        highest_weight: the most a row counts for, a whole number >= 1; 1 without weights.
        neighbours: under add/remove all scores change in the same direction; under replace-one they need not.

    Returns:
        The highest weight, in weighted rows.

    Proof: ``proofs/feature_scores.md``.

    >>> rule_sensitivity(1, neighbours=Neighbours.ADD_REMOVE).monotonic
    True
    >>> rule_sensitivity(20, neighbours=Neighbours.REPLACE_ONE).value
    20.0
    """
    return _if_added(positive_sensitivity(highest_weight), neighbours, proof="proofs/feature_scores.md")


def rule_scores(summary: RuleCounts, weights: Sequence[int], *, neighbours: Neighbours) -> Scores:
    """The counts themselves as scores, one for each feature; a row of a class counts for its weight.

    Proof: ``proofs/feature_scores.md``.
    """
    return Scores(summary.right, rule_sensitivity(max(weights), neighbours=neighbours))
