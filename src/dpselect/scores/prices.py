"""The revenue score of a price: the price times the number of offers that are at least as high."""

from __future__ import annotations

from fractions import Fraction

from dpselect.arguments import decimal_fraction, positive_sensitivity
from dpselect.privacy import Neighbours, Sensitivity


def price_sensitivity(
    highest: float | Fraction, *, max_rows_per_unit: int, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    r"""How much all rows of one unit can change the revenue of any price of a list.

    A unit adds :math:`j \le m` offers, of which :math:`k \le j` are at least the price :math:`p`: its revenue rises by
    :math:`k p`, and none falls: monotone. The difference between two revenues never changes by all of this, so the
    scale is less than this divided by epsilon (``dpselect.PriceListMechanism.score_range``).

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
    return Sensitivity(
        value, monotonic=neighbours is Neighbours.ADD_REMOVE, neighbours=neighbours, proof="proofs/best_price.md"
    )


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
    return Sensitivity(
        value, monotonic=neighbours is Neighbours.ADD_REMOVE, neighbours=neighbours, proof="proofs/prices.md"
    )
