"""The most an adaptive analyst can get past a filter, by trying every strategy.

A kind of charge is randomised response that tells the truth with odds ``r`` to 1: its loss is ``ln r`` or its negative.
What an analyst may do next depends on the counts of charges so far, what they choose on the answers. No formula of the
product is used, only its decision whether a charge is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

Counts = tuple[int, ...]


def worst_delta(odds: Sequence[Fraction], allowed: Callable[[Counts], bool], exp_epsilon: Fraction) -> Fraction:
    """The largest ``Pr[T] - e^epsilon Pr'[T]`` over all sets of answers and all strategies that keep to `allowed`.

    Args:
        odds: ``r > 1`` of each kind of charge.
        allowed: whether an account may have been charged so many of each kind.
        exp_epsilon: ``e^epsilon``.

    >>> half = Fraction(3)  # of one charge with odds 3: 3/4 against 1/4
    >>> worst_delta([half], lambda counts: counts[0] <= 1, Fraction(1))
    Fraction(1, 2)
    """

    @cache
    def best(counts: Counts, net: Counts) -> Fraction:
        """Of the continuations, when so many more truths than lies (`net`) of each kind were heard."""
        ratio = Fraction(1)
        for r, more in zip(odds, net, strict=True):
            ratio *= r**more
        value = max(Fraction(0), 1 - exp_epsilon / ratio)
        for kind, r in enumerate(odds):
            after = (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])
            if allowed(after):
                truth = best(after, (*net[:kind], net[kind] + 1, *net[kind + 1 :]))
                lie = best(after, (*net[:kind], net[kind] - 1, *net[kind + 1 :]))
                value = max(value, (r * truth + lie) / (r + 1))
        return value

    start = (0,) * len(odds)
    return best(start, start)
