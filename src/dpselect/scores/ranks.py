r"""The rank score of a quantile: minus the distance of a number's rank among the values from the target rank."""

from __future__ import annotations

from fractions import Fraction

from dpselect.arguments import positive_sensitivity
from dpselect.mechanisms.quantile import moves_one_way
from dpselect.privacy import Neighbours, Sensitivity


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
    exact = Fraction(level)
    most = max(exact, 1 - exact) if neighbours is Neighbours.ADD_REMOVE else 1
    value = positive_sensitivity(max_rows_per_unit * most)
    monotonic = moves_one_way(level, neighbours)
    return Sensitivity(value, monotonic=monotonic, neighbours=neighbours, proof="proofs/unit_values.md")
