"""How a plan's epsilon is divided among its questions: by epsilons, by wanted errors, by shares, and the rest equally.

Everything here follows from public arguments: no row is read.
"""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from dpselect.accounting.filter import Limits
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidParameterError, Shown
from dpselect.plans.planned_question import PlannedQuestion
from dpselect.questions.query import Query
from dpselect.questions.wording import rounded_up
from dpselect.questions.words import as_text

Of = TypeVar("Of", covariant=True)

Planned = Callable[[PlannedQuestion, float], Query]
"""What would be asked at an epsilon: its cost and its error bound."""

_SMALLEST = 2.0**-20
"""Of the plan's epsilon: below this no smaller epsilon is looked for."""

_STEPS = 20
_DIGITS = 4
"""Of an epsilon that was searched for: people read it."""


@dataclass(frozen=True, slots=True)
class Division:
    """How the epsilon of a plan is divided.

    Attributes:
        epsilons: of each question, by name.
        epsilon: privacy loss of all answers together, rounded up.
        delta: probability with which it may fail, rounded up.
        is_composed: whether it is proved by composition, and the parts add up to more.
    """

    epsilons: Mapping[str, float]
    epsilon: float
    delta: float
    is_composed: bool = False


class OfQuestions(Mapping[str, Of]):
    """Something of each question of a plan, by its name; and what all answers cost together."""

    __slots__ = ()

    by_name: Mapping[str, Of]
    division: Division

    def __getitem__(self, name: str) -> Of:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    @property
    def epsilon(self) -> float:
        """Privacy loss of all answers together, rounded up."""
        return self.division.epsilon

    @property
    def delta(self) -> float:
        """Probability with which it may fail, rounded up."""
        return self.division.delta

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON."""

    def to_json(self) -> str:
        """As a JSON object with sorted keys, on one line."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False, ensure_ascii=False)


def divided(questions: Sequence[PlannedQuestion], planned: Planned, *, epsilon: float, delta: float) -> Division:
    """The epsilon of each question, so that all together cost at most the plan's epsilon and delta.

    The parts add up to the plan's epsilon. If this leaves some of delta, they may be larger together: as large as an
    account with the plan's epsilon and delta accepts. Then all parts that are not fixed grow by the same factor.

    Args:
        questions: of the plan.
        planned: each at an epsilon.
        epsilon: of the plan.
        delta: of the plan.

    Raises:
        InvalidParameterError: they need more than there is, a wanted error cannot be reached, or nothing is left for a
            question that says nothing of its part.

    Proof: ``proofs/ledger.md``.
    """
    fixed = {each.name: each.epsilon or _reaching(each, planned, epsilon) for each in questions if each.is_fixed}
    refused: InvalidParameterError | None = None
    summed: dict[str, float] = {}
    try:
        summed = _by_sums(questions, planned, fixed, epsilon=epsilon, delta=delta)
    except InvalidParameterError as error:
        if error.name not in ("epsilon", *(each.place for each in questions)):
            raise
        refused = error
    own = sum((Fraction(planned(each, epsilon).event.delta) for each in questions), Fraction(0))
    if Fraction(delta) > own:
        account = Limits.new(epsilon=Fraction(epsilon), delta=Fraction(delta), set_aside=own)

        def spent(chosen: Mapping[str, float]) -> Any:
            events = [planned(each, chosen[each.name]).event for each in questions]
            return account.charged(Fraction(epsilon), account.nothing, events)[1]

        def accepts(chosen: Mapping[str, float]) -> bool:
            return account.allow(Fraction(epsilon), spent(chosen))

        composed = _by_composition(questions, accepts, fixed, summed, epsilon=epsilon)
        more = [composed[name] - part for name, part in summed.items()] if composed else []
        if composed and (not summed or min(more) >= 0.0 < max(more)):
            return Division(composed, fraction_up(account.spent(spent(composed))), delta, is_composed=True)
    if refused is not None:
        raise refused
    epsilons, deltas = _costs(questions, planned, summed)
    return Division(summed, fraction_up(sum(epsilons, Fraction(0))), fraction_up(sum(deltas, Fraction(0))))


def _by_composition(
    questions: Sequence[PlannedQuestion],
    accepts: Callable[[Mapping[str, float]], bool],
    fixed: Mapping[str, float],
    summed: Mapping[str, float],
    *,
    epsilon: float,
) -> dict[str, float] | None:
    """The largest parts that an account `accepts` together; None if it does not accept what is fixed."""
    free = [each for each in questions if not each.is_fixed]
    rest, silent = max(0.0, 1.0 - sum(each.share or 0.0 for each in free)), sum(each.share is None for each in free)
    parts = {each.name: summed.get(each.name) or epsilon * (each.share or rest / silent) for each in free}

    def at(factor: float) -> dict[str, float]:
        return {**fixed, **{name: factor * part for name, part in parts.items()}}

    def fits(factor: float) -> bool:
        return accepts(at(factor))

    if not parts:
        return at(1.0) if fits(1.0) else None
    if min(parts.values()) <= 0.0 or not fits(_SMALLEST):
        return None
    enough, too_much = _SMALLEST, 1.0
    while fits(too_much):
        enough, too_much = too_much, 2 * too_much
    enough = _nearest(fits, enough, too_much)
    rounded = {**fixed, **{name: _in_few_digits(enough * part, math.floor) for name, part in parts.items()}}
    return rounded if accepts(rounded) else at(enough)


def _by_sums(
    questions: Sequence[PlannedQuestion], planned: Planned, fixed: Mapping[str, float], *, epsilon: float, delta: float
) -> dict[str, float]:
    """The parts, by name, so that they add up to at most the plan's epsilon."""
    whole = Fraction(epsilon)
    shares = {each.name: Fraction(repr(each.share)) for each in questions if each.share is not None}
    if sum(shares.values()) > 1:
        got = Shown(" + ".join(as_text(each.share) for each in questions if each.share is not None))
        hint = "Shares are parts of the plan's epsilon."
        raise InvalidParameterError("share", got, "shares that add up to at most 1", hint)
    chosen = {**fixed, **{each.name: _of_part(each, shares[each.name] * whole) for each in questions if each.share}}
    said = [each for each in questions if each.name in chosen]
    cost = sum(_costs(said, planned, chosen)[0], Fraction(0))
    rest = [each for each in questions if each.name not in chosen]
    if rest and cost >= whole:
        hint = f"The others need all of epsilon = {as_text(epsilon)}: {_listed(said, planned, chosen, ', ')}."
        raise InvalidParameterError(rest[0].place, Shown("<nothing left>"), "a part of the plan's epsilon", hint)
    chosen |= {each.name: _of_part(each, (whole - cost) / len(rest)) for each in rest}
    return _rounded_to_fit(questions, planned, chosen, epsilon=whole, delta=delta)


def _costs(
    questions: Sequence[PlannedQuestion], planned: Planned, chosen: Mapping[str, float]
) -> tuple[list[Fraction], list[Fraction]]:
    """The epsilon and the delta of each, with the number of units that it releases."""
    terms = [planned(each, chosen[each.name]).terms for each in questions]
    return [Fraction(each.epsilon) for each in terms], [Fraction(each.delta) for each in terms]


def _listed(questions: Sequence[PlannedQuestion], planned: Planned, chosen: Mapping[str, float], between: str) -> str:
    needs = ((each.name, planned(each, chosen[each.name]).terms.epsilon) for each in questions)
    return between.join(f"{name} {as_text(need)}" for name, need in needs)


def _of_part(question: PlannedQuestion, part: Fraction) -> float:
    """The epsilon with which the question costs `part`, also with the number of units that it releases."""
    usable: object = question.arguments.get("usable_epsilon")
    if not isinstance(usable, int | float) or not 0 < usable < math.inf:
        return float(part)  # if it is no number, the question refuses it
    if Fraction(usable) >= part:
        hint = f"The part of this question is epsilon = {float(part)!r}."
        raise InvalidParameterError(f"{question.place}.usable_epsilon", usable, "less than its part", hint)
    return float(part - Fraction(usable))


def _rounded_to_fit(
    questions: Sequence[PlannedQuestion], planned: Planned, chosen: dict[str, float], *, epsilon: Fraction, delta: float
) -> dict[str, float]:
    """The same, less the last digit of the largest parts if rounding to doubles made them too large together."""
    free = [each.name for each in questions if not each.is_fixed]
    while (cost := sum(_costs(questions, planned, chosen)[0])) > epsilon and free and cost < epsilon * _HARDLY:
        largest = max(free, key=lambda name: chosen[name])
        chosen[largest] = math.nextafter(chosen[largest], 0)
    if cost > epsilon:
        hint = f"They need {_listed(questions, planned, chosen, ' + ')}."
        expected = f"at least {fraction_up(Fraction(cost))!r}, for all questions"
        raise InvalidParameterError("epsilon", float(epsilon), expected, hint)
    deltas = sum(_costs(questions, planned, chosen)[1], Fraction(0))
    if deltas > Fraction(delta):
        hint = "The plan's delta is at least the sum of its questions' deltas."
        raise InvalidParameterError("delta", delta, f"at least {fraction_up(deltas)!r}, for all questions", hint)
    return chosen


_HARDLY = 1 + Fraction(1, 10**12)
"""More than rounding adds."""


def _reaching(question: PlannedQuestion, planned: Planned, epsilon: float) -> float:
    """The smallest epsilon, of a few digits, with which the error bound of the question is what it wants."""
    wanted, name = question.within, f"{question.place}.within"
    assert wanted is not None

    def bound(at: float) -> float:
        found = planned(question, at).terms.error_bound
        if found is None:
            hint = "Give its epsilon or share instead."
            raise InvalidParameterError(name, wanted, "no wanted error, as no bound holds for all data here", hint)
        return found

    def reaches(at: float) -> bool:
        return bound(at) <= wanted

    if not reaches(epsilon):
        least = rounded_up(bound(epsilon)) if math.isfinite(bound(epsilon)) else "infinity"
        hint = f"With all of epsilon = {as_text(epsilon)} it is {least}. Allow a larger error, or more epsilon."
        raise InvalidParameterError(name, wanted, "an error that the plan's epsilon reaches", hint)
    enough = epsilon
    while enough > _SMALLEST * epsilon and reaches(enough / 2):
        enough /= 2
    enough = _nearest(reaches, enough, enough / 2)
    rounded = _in_few_digits(enough, math.ceil)
    return rounded if rounded <= epsilon and reaches(rounded) else enough


def _nearest(holds: Callable[[float], bool], yes: float, no: float) -> float:
    """The number nearest to where it stops holding, on the side where it holds, between one of each."""
    for _ in range(_STEPS):
        middle = (yes + no) / 2
        yes, no = (middle, no) if holds(middle) else (yes, middle)
    return yes


def _in_few_digits(epsilon: float, rounded: Callable[[Fraction], int]) -> float:
    """A double of a few digits.

    >>> _in_few_digits(0.182399, math.floor), _in_few_digits(0.182312, math.ceil), _in_few_digits(0.5, math.ceil)
    (0.1823, 0.1824, 0.5)
    """
    power = Fraction(10) ** (_DIGITS - 1 - math.floor(math.log10(epsilon)))
    return float(rounded(Fraction(epsilon) * power) / power)
