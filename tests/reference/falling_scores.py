"""Scores that fall from tops by a slope and a curvature, drawn by rounds. Proof: ``proofs/falling_scores.md``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import factorial

from tests.reference.precision import exponential


@dataclass(frozen=True)
class Fall:
    """A piece: at the distance t from its top the score is ``score - slope * t - curvature * t**2``."""

    top: Fraction
    is_upward: bool
    length: Fraction | None
    score: Fraction
    slope: Fraction
    curvature: Fraction = Fraction(0)

    def distance(self, x: Fraction) -> Fraction | None:
        """How far x lies from the top, if it is in the piece."""
        t = x - self.top if self.is_upward else self.top - x
        return t if t >= 0 and (self.length is None or t < self.length) else None


def density(falls: Sequence[Fall], x: Fraction, *, scale: Fraction) -> Fraction:
    """The law wanted, up to one factor: ``exp(s(x) / b)``."""
    distances = [(fall, fall.distance(x)) for fall in falls]
    scores = [fall.score - fall.slope * t - fall.curvature * t**2 for fall, t in distances if t is not None]
    return sum((exponential(score / scale) for score in scores), Fraction(0))


def split(fall: Fall, *, reach: Fraction) -> tuple[Fall, ...]:
    """The piece up to `reach` from its top, and the rest with a top of its own."""
    if fall.curvature == 0 or (fall.length is not None and fall.length <= reach):
        return (fall,)
    sign = 1 if fall.is_upward else -1
    far = Fall(
        top=fall.top + sign * reach,
        is_upward=fall.is_upward,
        length=None if fall.length is None else fall.length - reach,
        score=fall.score - fall.slope * reach - fall.curvature * reach**2,
        slope=fall.slope + 2 * fall.curvature * reach,
        curvature=fall.curvature,
    )
    return replace(fall, length=reach), far


def is_gentle(part: Fall, *, scale: Fraction) -> bool:
    return part.length is not None and part.slope * part.length <= scale


def bound_of_mass(part: Fall, *, scale: Fraction) -> Fraction:
    """The top's density times the part's length, or times the distance over which the line falls by a scale."""
    if is_gentle(part, scale=scale) and part.length is not None:
        return exponential(part.score / scale) * part.length
    return exponential(part.score / scale) * scale / part.slope


def proposed(part: Fall, t: Fraction, *, scale: Fraction) -> Fraction:
    """Density of a proposal at the distance t: uniform, or exponential (of which some lie beyond the end)."""
    if is_gentle(part, scale=scale) and part.length is not None:
        return 1 / part.length
    rate = part.slope / scale
    return rate * exponential(-rate * t)


def kept(part: Fall, t: Fraction, *, scale: Fraction) -> Fraction:
    """Probability with which a proposal at the distance t is kept."""
    linear = part.slope * t if is_gentle(part, scale=scale) else Fraction(0)
    return exponential(-(linear + part.curvature * t**2) / scale)


def density_of_a_round(falls: Sequence[Fall], x: Fraction, *, scale: Fraction, reach: Fraction) -> Fraction:
    """Density of what one round returns, up to one factor: a part by its bound, a proposal, and whether it is kept."""
    total = Fraction(0)
    for fall in falls:
        for part in split(fall, reach=reach):
            t = part.distance(x)
            if t is not None:
                chances = proposed(part, t, scale=scale) * kept(part, t, scale=scale)
                total += bound_of_mass(part, scale=scale) * chances
    return total


def run_is_even(v: Fraction, *, longest: int) -> Fraction:
    """Probability that of uniforms, each below the one before and the first below v, there are an even number.

    There are n or more with probability ``v**n / n!``; runs of more than `longest` are left out.

    >>> float(run_is_even(Fraction(1), longest=20))
    0.36787944117144233
    """
    at_least = [v**n / factorial(n) for n in range(longest + 2)]
    return sum((at_least[n] - at_least[n + 1] for n in range(0, longest + 1, 2)), Fraction(0))
