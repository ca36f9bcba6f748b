"""How the queries of an above-threshold stream change between neighbours, and what a stream costs in each case."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dpselect.accounting import LossIntervalEvent, PureEvent
from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.checks import one_of
from dpselect.errors import InvalidParameterError, Shown
from dpselect.privacy import Neighbours


class Moves(StrEnum):
    """What is public of the changes of all queries, between one data set and a neighbour.

    >>> Moves("suffix") is Moves.SUFFIX
    True
    """

    ANY = "any"
    """Each by at most the sensitivity, up or down."""

    TOGETHER = "together"
    """All of them up, or all of them down."""

    UP = "up"
    """All of them up when a unit is added, such as numbers of units."""

    DOWN = "down"
    """All of them down when a unit is added."""

    SUFFIX = "suffix"
    """When a unit is added, no query falls, and later ones rise at least as much: values below a growing bound.

    So it is before something of the number of units is subtracted, see `Rates.level`.
    """

    INTERVAL = "interval"
    """As `TOGETHER`, where one unit replaces another: values below a growing bound, with one value per unit."""


_REPLACED = (Moves.ANY, Moves.INTERVAL)


def moves_named(moves: object, *, monotonic: bool, neighbours: Neighbours) -> Moves:
    """The moves that the caller promises.

    Raises:
        InvalidParameterError: an unknown word, or one that contradicts the other two arguments.

    >>> moves_named(None, monotonic=True, neighbours=Neighbours.ADD_REMOVE)
    <Moves.TOGETHER: 'together'>
    """
    if moves is None:
        return Moves.TOGETHER if monotonic else Moves.ANY
    found = Moves(one_of(moves, "moves", Moves))
    if monotonic and found is Moves.ANY:
        raise InvalidParameterError("moves", Shown("'any'"), "another one with monotonic=True")
    if neighbours is Neighbours.REPLACE_ONE and found not in _REPLACED:
        hint = "The other moves are about a unit that is added or removed."
        raise InvalidParameterError("moves", Shown(repr(str(found))), "'any' or 'interval' with replace_one", hint)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Two rates of noise: the offset's scale is the sensitivity over `offset`, that of each answer over `answer`.

    Attributes:
        moves: of the queries.
        level: this part of the sensitivity, times the number of units, is subtracted from each query; 0 unless `moves`
            is `Moves.SUFFIX`.
        positives: how often the stream may say yes.
        offset: > 0.
        answer: > 0.

    Proof: ``proofs/above_threshold.md``, claims 2 to 4.

    >>> rates = Rates.within(1.0, moves=Moves.TOGETHER, level=Fraction(0), positives=1)
    >>> rates.offset, rates.answer, rates.event
    (0.5, 0.5, PureEvent(epsilon=1.0))
    >>> Rates.within(1.0, moves=Moves.SUFFIX, level=Fraction(0), positives=1).offset
    1.0
    """

    moves: Moves
    level: Fraction
    positives: int
    offset: float
    answer: float

    @classmethod
    def within(cls, epsilon: float, *, moves: Moves, level: Fraction, positives: int) -> Rates:
        """The rates whose loss is at most `epsilon` and whose noise has the smallest variance, about.

        Raises:
            InvalidParameterError: `epsilon` is too small to be split.
        """
        budget, limits = Fraction(epsilon), _limits(moves, level, positives)
        offset = fraction_down(_best_offset(float(epsilon), limits, budget))
        rest = min((budget - first * Fraction(offset)) / second for first, second in limits if second)
        answer = fraction_down(rest) if rest > 0 else 0.0
        if not (offset > 0.0 and answer > 0.0):
            raise InvalidParameterError("epsilon", epsilon, f"a number large enough to be split into {positives + 1}")
        return cls(moves=moves, level=level, positives=positives, offset=offset, answer=answer)

    @property
    def event(self) -> PureEvent | LossIntervalEvent:
        """What one stream costs, from its first query to its last."""
        offset, answer = Fraction(self.offset), Fraction(self.answer) * self.positives
        if self.moves is Moves.SUFFIX:
            last = Fraction(self.answer) * (self.positives - 1)
            above = max((1 - self.level) * offset + last, self.level * answer)
            return LossIntervalEvent(below=fraction_up(self.level * offset + answer), above=fraction_up(above))
        if self.moves in (Moves.UP, Moves.DOWN):
            rising = LossIntervalEvent(below=fraction_up(answer), above=fraction_up(offset + answer))
            return rising if self.moves is Moves.UP else rising.mirrored
        return PureEvent(epsilon=fraction_up(offset + answer * (2 if self.moves is Moves.ANY else 1)))


def _limits(moves: Moves, level: Fraction, positives: int) -> list[tuple[Fraction, int]]:
    """The coefficients of both rates in each of the losses that have to be at most epsilon."""
    if moves is Moves.SUFFIX:
        return [(level, positives), (1 - level, positives - 1)]
    return [(Fraction(1), 2 * positives if moves is Moves.ANY else positives)]


def _best_offset(epsilon: float, limits: list[tuple[Fraction, int]], budget: Fraction) -> Fraction:
    """Where ``1 / offset^2 + 1 / answer^2`` is smallest within the limits: on one of them, or where both meet."""
    candidates: list[Fraction] = []
    for first, second in limits:
        if first and second:  # answer = offset (first / second)^(1/3), by Lagrange
            share = (float(first) / second) ** (1.0 / 3.0)
            candidates.append(Fraction(epsilon / (float(first) + second * share)))
        elif first:
            candidates.append(budget / first)
    if len(limits) == 2:
        (a, b), (c, d) = limits
        if a * d != b * c:
            candidates.append(budget * (d - b) / (a * d - b * c))

    def variance(offset: Fraction) -> float:
        if offset <= 0:
            return float("inf")
        answer = min((budget - first * offset) / second for first, second in limits if second)
        if answer <= 0 or any(first * offset > budget for first, second in limits if not second):
            return float("inf")
        return float((budget / offset) ** 2 + (budget / answer) ** 2)

    return min(candidates, key=variance)
