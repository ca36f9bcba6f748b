"""How a plan's epsilon is divided among its questions: by epsilons, by wanted errors, by shares, and the rest equally.

Everything here follows from public arguments: no row is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidParameterError, Shown
from dpselect.plans.planned_question import PlannedQuestion
from dpselect.questions import Terms
from dpselect.questions.wording import as_text, rounded_up

Price = Callable[[PlannedQuestion, float], Terms]
"""The terms of a question at an epsilon."""

_SMALLEST = 2.0**-20
"""Of the plan's epsilon: below this no smaller epsilon is looked for."""

_STEPS = 20
_DIGITS = 4
"""Of an epsilon that was searched for: people read it."""


def divided(questions: Sequence[PlannedQuestion], price: Price, *, epsilon: float, delta: float) -> dict[str, float]:
    """The epsilon of each question, by name, so that all together cost at most the plan's.

    Args:
        questions: of the plan.
        price: what each would cost and reach.
        epsilon: of the plan.
        delta: of the plan.

    Raises:
        InvalidParameterError: they need more than there is, a wanted error cannot be reached, or nothing is left for a
            question that says nothing of its part.
    """
    whole = Fraction(epsilon)
    shares = {each.name: Fraction(repr(each.share)) for each in questions if each.share is not None}
    if sum(shares.values()) > 1:
        got = Shown(" + ".join(as_text(each.share) for each in questions if each.share is not None))
        hint = "Shares are parts of the plan's epsilon."
        raise InvalidParameterError("share", got, "shares that add up to at most 1", hint)
    chosen: dict[str, float] = {}
    for each in questions:
        if each.epsilon is not None:
            chosen[each.name] = each.epsilon
        elif each.within is not None:
            chosen[each.name] = _reaching(each, price, epsilon)
        elif each.share is not None:
            chosen[each.name] = _of_part(each, shares[each.name] * whole)
    cost = _cost(questions, chosen, price)
    rest = [each for each in questions if each.name not in chosen]
    if rest and cost >= whole:
        hint = f"The others need epsilon = {fraction_up(cost)!r} of {epsilon!r}."
        raise InvalidParameterError(rest[0].place, Shown("<nothing left>"), "a part of the plan's epsilon", hint)
    for each in rest:
        chosen[each.name] = _of_part(each, (whole - cost) / len(rest))
    return _rounded_to_fit(questions, chosen, price, epsilon=whole, delta=delta)


def _cost(questions: Sequence[PlannedQuestion], chosen: Mapping[str, float], price: Price) -> Fraction:
    known = [each for each in questions if each.name in chosen]
    return sum((Fraction(price(each, chosen[each.name]).epsilon) for each in known), Fraction(0))


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
    questions: Sequence[PlannedQuestion], chosen: dict[str, float], price: Price, *, epsilon: Fraction, delta: float
) -> dict[str, float]:
    """The same, less the last digit of the largest parts if rounding to doubles made them too large together."""
    free = [each.name for each in questions if each.epsilon is None and each.within is None]
    cost = _cost(questions, chosen, price)
    while cost > epsilon and free and cost < epsilon * (1 + Fraction(1, 10**12)):
        largest = max(free, key=lambda name: chosen[name])
        chosen[largest] = math.nextafter(chosen[largest], 0)
        cost = _cost(questions, chosen, price)
    if cost > epsilon:
        parts = " + ".join(f"{each.name} {as_text(price(each, chosen[each.name]).epsilon)}" for each in questions)
        hint = f"They need {parts}."
        raise InvalidParameterError(
            "epsilon", float(epsilon), f"at least {fraction_up(cost)!r}, for all questions", hint
        )
    deltas = sum((Fraction(price(each, chosen[each.name]).delta) for each in questions), Fraction(0))
    if deltas > Fraction(delta):
        hint = "The plan's delta is at least the sum of its questions' deltas."
        raise InvalidParameterError("delta", delta, f"at least {fraction_up(deltas)!r}, for all questions", hint)
    return chosen


def _reaching(question: PlannedQuestion, price: Price, epsilon: float) -> float:
    """The smallest epsilon, of a few digits, with which the error bound of the question is what it wants."""
    wanted = question.within
    assert wanted is not None

    def reaches(at: float) -> bool:
        bound = price(question, at).error_bound
        if bound is None:
            hint = "Give its epsilon or share instead."
            raise InvalidParameterError(name, wanted, "no wanted error, as no bound holds for all data here", hint)
        return bound <= wanted

    name = f"{question.place}.within"
    if not reaches(epsilon):
        bound = price(question, epsilon).error_bound or 0.0
        least = rounded_up(bound) if math.isfinite(bound) else "infinity"
        hint = f"With all of epsilon = {as_text(epsilon)} it is {least}. Allow a larger error, or more epsilon."
        raise InvalidParameterError(name, wanted, "an error that the plan's epsilon reaches", hint)
    enough = epsilon
    while enough > _SMALLEST * epsilon and reaches(enough / 2):
        enough /= 2
    too_small = enough / 2
    for _ in range(_STEPS):
        middle = (enough + too_small) / 2
        if reaches(middle):
            enough = middle
        else:
            too_small = middle
    rounded = _up(enough)
    return rounded if rounded <= epsilon and reaches(rounded) else enough


def _up(epsilon: float) -> float:
    """A double of a few digits that is not smaller.

    >>> _up(0.182312), _up(0.5)
    (0.1824, 0.5)
    """
    digits = _DIGITS - 1 - math.floor(math.log10(epsilon))
    scaled = math.ceil(Fraction(epsilon) * Fraction(10) ** digits)
    return float(Fraction(scaled) / Fraction(10) ** digits)
