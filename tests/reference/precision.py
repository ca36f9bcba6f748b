"""Real scores as exact fractions: the exponential rounded once, at many digits, and exact from there on."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 60


def exponential(exponent: Fraction, *, digits: int = DIGITS) -> Fraction:
    """``exp(exponent)`` with relative error below ``10 ** (1 - digits)``.

    >>> float(exponential(Fraction(-1)))
    0.36787944117144233
    """
    with localcontext() as context:  # decimal's exp and ln are correctly rounded; the spare digits are for the argument
        context.prec = digits + 5 + len(str(abs(int(exponent))))
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def logarithm(argument: Fraction, *, digits: int = DIGITS) -> Fraction:
    """``ln(argument)`` with error below ``10 ** (1 - digits)`` times ``1 + |ln(argument)|``.

    >>> float(logarithm(Fraction(2)))
    0.6931471805599453
    """
    with localcontext() as context:
        context.prec = digits + 5
        return Fraction((Decimal(argument.numerator) / Decimal(argument.denominator)).ln())


def flip_probabilities(scores: Sequence[float | Fraction], *, scale: Fraction) -> tuple[Fraction, ...]:
    """``p_i = exp(-(max(scores) - scores[i]) / scale)``, the scores taken exactly as the doubles they are.

    >>> flip_probabilities([3.0, 3.0], scale=Fraction(1, 2))
    (Fraction(1, 1), Fraction(1, 1))
    >>> [round(float(p), 3) for p in flip_probabilities([3.0, 2.0], scale=Fraction(1, 2))]
    [1.0, 0.135]
    """
    exact = [Fraction(score) for score in scores]
    return tuple(exponential((score - max(exact)) / scale) for score in exact)
