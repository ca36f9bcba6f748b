"""Randomised response in exact fractions. Proof: ``proofs/randomized_response.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from tests.reference.randomness import Randomness

Bits = tuple[bool, ...]


def respond(bits: Sequence[bool], *, odds: Fraction, randomness: Randomness) -> Bits:
    """Each bit turned with probability ``1 / (1 + odds)``; `odds` stands for exp(epsilon / bits_per_unit)."""
    turn = 1 / (1 + odds)
    return tuple(bit != randomness.coin(turn) for bit in bits)


def exponential_law(bits: Sequence[bool], *, odds: Fraction) -> dict[Bits, Fraction]:
    """The exponential mechanism over all vectors, with the number of agreements as score.

    >>> {answer[0]: str(chance) for answer, chance in exponential_law([True], odds=Fraction(3)).items()}
    {False: '1/4', True: '3/4'}
    """
    answers = list(product([False, True], repeat=len(bits)))
    weights = [odds ** sum(a == b for a, b in zip(answer, bits, strict=True)) for answer in answers]
    return {answer: weight / sum(weights) for answer, weight in zip(answers, weights, strict=True)}


def estimated_count(responses: Sequence[bool], *, odds: Fraction) -> Fraction:
    """``(ones - n q) / (1 - 2 q)``.

    >>> estimated_count([True, False, False, False], odds=Fraction(3))
    Fraction(0, 1)
    """
    turn = 1 / (1 + odds)
    return (sum(responses) - len(responses) * turn) / (1 - 2 * turn)
