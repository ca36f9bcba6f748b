"""The noisy number of units that a question could use, in each group, and what it gives away.

Proof: ``proofs/usable_units.md``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from tests.reference.groups import Data, taking_part

Numbers = tuple[int, ...]
"""A number of units for each group."""


def usable_law(
    data: Data, groups: Sequence[str], candidates: Sequence[str], *, most: int
) -> Mapping[Numbers, Fraction]:
    """The law of the exact numbers of units, which is random only by the choice of groups.

    >>> law = usable_law({"ann": (("a", "x"), ("b", "x")), "bob": (("b", "z"),)}, ["a", "b"], ["x"], most=1)
    >>> sorted(law.items())
    [((0, 1), Fraction(1, 2)), ((1, 0), Fraction(1, 2))]
    """
    rows = [(unit, group, what) for unit, own in data.items() for group, what in own if what in candidates]
    law: defaultdict[Numbers, Fraction] = defaultdict(Fraction)
    for probability, parts in taking_part(rows, groups=groups, most=most):
        law[tuple(len({unit for unit, _ in part}) for part in parts)] += probability
    return law


def weight(law: Mapping[Numbers, Fraction], released: Numbers, *, root: Fraction) -> Fraction:
    """The probability of `released`, up to a factor that is the same for all data; the scale is ``1 / ln root``."""
    return sum(
        (
            probability / root ** sum(abs(noisy - exact) for noisy, exact in zip(released, numbers, strict=True))
            for numbers, probability in law.items()
        ),
        Fraction(0),
    )
