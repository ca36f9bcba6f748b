"""The most powerful test between two laws, exactly, and the bound on it. Proof: ``proofs/testing.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Law = Sequence[Fraction]


def power_bound(significance: Fraction, exp_epsilon: Fraction) -> Fraction:
    """The most power of a test of an epsilon-DP release."""
    return min(significance * exp_epsilon, 1 - (1 - significance) / exp_epsilon)


def most_power(null: Law, alternative: Law, *, significance: Fraction) -> Fraction:
    """The power of the best test: it rejects where the alternative is likeliest against the null; a coin on the edge.

    >>> half = Fraction(1, 2)
    >>> most_power([half, half], [half, half], significance=Fraction(1, 20))
    Fraction(1, 20)
    """
    power, left = Fraction(0), significance
    places = sorted(range(len(null)), key=lambda i: alternative[i] / (alternative[i] + null[i]), reverse=True)
    for i in places:
        share = min(Fraction(1), left / null[i]) if null[i] else Fraction(1)
        power += share * alternative[i]
        left -= share * null[i]
    return power


def randomized_response(exp_epsilon: Fraction) -> tuple[Law, Law]:
    """The laws of an answer that is true with probability e^epsilon / (1 + e^epsilon)."""
    truth = exp_epsilon / (1 + exp_epsilon)
    return [truth, 1 - truth], [1 - truth, truth]
