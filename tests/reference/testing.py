"""The most powerful test between two laws, exactly, and the bound on it. Proof: ``proofs/testing.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Law = Sequence[Fraction]


def power_bound(significance: Fraction, exp_epsilon: Fraction, delta: Fraction) -> Fraction:
    """The most power of a test of an (epsilon, delta)-DP release."""
    return min(significance * exp_epsilon + delta, 1 - (1 - delta - significance) / exp_epsilon, Fraction(1))


def most_power(null: Law, alternative: Law, *, significance: Fraction) -> Fraction:
    """The power of the best test: it rejects where the alternative is likeliest against the null; a coin on the edge.

    >>> half = Fraction(1, 2)
    >>> most_power([half, half], [half, half], significance=Fraction(1, 20))
    Fraction(1, 20)
    """
    power, left = Fraction(0), significance
    possible = [i for i in range(len(null)) if alternative[i] + null[i]]
    places = sorted(possible, key=lambda i: alternative[i] / (alternative[i] + null[i]), reverse=True)
    for i in places:
        share = min(Fraction(1), left / null[i]) if null[i] else Fraction(1)
        power += share * alternative[i]
        left -= share * null[i]
    return power


def open_response(exp_epsilon: Fraction, delta: Fraction) -> tuple[Law, Law]:
    """The laws of an answer that is told openly with probability delta, else true with probability e^e / (1 + e^e).

    The outcomes: this openly, that openly, this, that.
    """
    truth = exp_epsilon / (1 + exp_epsilon)
    hidden = [(1 - delta) * truth, (1 - delta) * (1 - truth)]
    return [delta, Fraction(0), *hidden], [Fraction(0), delta, *hidden[::-1]]
