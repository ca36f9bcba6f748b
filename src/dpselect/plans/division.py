"""How a plan's epsilon is divided among its questions: by epsilons, by wanted errors, by shares, and the rest equally.

Everything here follows from public arguments: no row is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpselect.accounting.events import Event
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger.accounts import NewAccount
from dpselect.plans.planned_question import PlannedQuestion
from dpselect.questions.wording import rounded_up
from dpselect.questions.words import Terms, as_text

Price = Callable[[PlannedQuestion, float], Terms]
"""The terms of a question at an epsilon."""

Charge = Callable[[PlannedQuestion, float], Event]
"""The event that it costs."""

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


def divided(
    questions: Sequence[PlannedQuestion], price: Price, charge: Charge, *, epsilon: float, delta: float
) -> Division:
    """The epsilon of each question, so that all together cost at most the plan's epsilon and delta.

    The parts add up to the plan's epsilon. If this leaves some of delta, they may be larger together: as large as an
    account with the plan's epsilon and delta accepts. Then all parts that are not fixed grow by the same factor.

    Args:
        questions: of the plan.
        price: what each would reach.
        charge: what each would cost.
        epsilon: of the plan.
        delta: of the plan.

    Raises:
        InvalidParameterError: they need more than there is, a wanted error cannot be reached, or nothing is left for a
            question that says nothing of its part.

    Proof: ``proofs/ledger.md``.
    """
    refused: InvalidParameterError | None = None
    summed: dict[str, float] = {}
    try:
        summed = _by_sums(questions, price, epsilon=epsilon, delta=delta)
    except InvalidParameterError as error:
        if error.name not in ("epsilon", *(each.place for each in questions)):
            raise
        refused = error
    whole = Fraction(delta)
    own = sum((Fraction(charge(each, epsilon).delta) for each in questions), Fraction(0))
    if whole > own:
        account = NewAccount(epsilon=Fraction(epsilon), delta=whole, set_aside=own)
        composed = _by_composition(questions, price, charge, account, summed, epsilon=epsilon)
        if composed is not None and _is_more(questions, composed, summed):
            spent = account.spent([charge(each, composed[each.name]) for each in questions])
            return Division(composed, fraction_up(spent), delta, is_composed=True)
    if refused is not None:
        raise refused
    cost = _cost(questions, summed, price)
    deltas = sum((Fraction(price(each, summed[each.name]).delta) for each in questions), Fraction(0))
    return Division(summed, fraction_up(cost), fraction_up(deltas))


def _by_composition(
    questions: Sequence[PlannedQuestion],
    price: Price,
    charge: Charge,
    account: NewAccount,
    summed: Mapping[str, float],
    *,
    epsilon: float,
) -> dict[str, float] | None:
    """The largest parts that the account accepts together; None if it does not accept what is fixed."""
    fixed, parts = dict[str, float](), dict[str, float]()
    free = [each for each in questions if each.epsilon is None and each.within is None]
    shares = sum(each.share or 0.0 for each in free)
    silent = sum(each.share is None for each in free)
    for each in questions:
        if each.epsilon is not None:
            fixed[each.name] = each.epsilon
        elif each.within is not None:
            fixed[each.name] = summed.get(each.name) or _reaching(each, price, epsilon)
        elif each.name in summed:
            parts[each.name] = summed[each.name]
        else:
            parts[each.name] = epsilon * (each.share or max(0.0, 1.0 - shares) / silent)

    def at(factor: float) -> dict[str, float]:
        return fixed | {name: factor * part for name, part in parts.items()}

    def fits(factor: float) -> bool:
        chosen = at(factor)
        return account.allows([charge(each, chosen[each.name]) for each in questions])

    if not parts:
        return fixed if fits(1.0) else None
    if min(parts.values()) <= 0.0:
        return None
    enough, too_much = _SMALLEST, 1.0
    if not fits(enough):
        return None
    while fits(too_much):
        enough, too_much = too_much, 2 * too_much
    enough = _nearest(fits, enough, too_much)
    rounded = fixed | {name: _in_few_digits(enough * part, math.floor) for name, part in parts.items()}
    return rounded if account.allows([charge(each, rounded[each.name]) for each in questions]) else at(enough)


def _is_more(questions: Sequence[PlannedQuestion], composed: Mapping[str, float], summed: Mapping[str, float]) -> bool:
    """Whether every question gets at least as much, and one gets more; or there is no other way."""
    if not summed:
        return True
    more = [composed[each.name] - summed[each.name] for each in questions]
    return min(more) >= 0.0 < max(more)


def _by_sums(questions: Sequence[PlannedQuestion], price: Price, *, epsilon: float, delta: float) -> dict[str, float]:
    """The parts, by name, so that they add up to at most the plan's epsilon."""
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
        needs = [(each.name, as_text(price(each, chosen[each.name]).epsilon)) for each in questions if each not in rest]
        parts = ", ".join(f"{name} {part}" for name, part in needs)
        hint = f"The others need all of epsilon = {as_text(epsilon)}: {parts}."
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
