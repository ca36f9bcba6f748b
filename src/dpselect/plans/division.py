"""How a plan's epsilon is divided among its questions: by epsilons, by wanted errors, by shares, and the rest equally.

Everything here follows from public arguments: no row is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from dpselect.accounting.filter import Cost, Limits
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidParameterError, Shown
from dpselect.plans.planned_question import PlannedQuestion
from dpselect.questions.query import Query
from dpselect.questions.wording import rounded_up
from dpselect.questions.words import Terms, as_text

Planned = Callable[[PlannedQuestion, float], Query]
"""What would be asked at an epsilon: its cost and its error bound."""

_SMALLEST = 2.0**-20
"""Factor: nothing is made smaller than this, or larger than its inverse."""

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
    limit, is_free = Fraction(epsilon), {each.name: not each.is_fixed for each in questions}

    def terms(chosen: Mapping[str, float]) -> list[Terms]:
        """What is said of each question that has a part; its epsilon and delta cover the number of units, too."""
        return [planned(each, chosen[each.name]).terms for each in questions if each.name in chosen]

    def cost(chosen: Mapping[str, float]) -> Fraction:
        return sum((Fraction(each.epsilon) for each in terms(chosen)), Fraction(0))

    def needs(chosen: Mapping[str, float], between: str) -> str:
        named = zip((each.name for each in questions if each.name in chosen), terms(chosen), strict=True)
        return between.join(f"{name} {as_text(each.epsilon)}" for name, each in named)

    deltas = sum((Fraction(planned(each, epsilon).event.delta) for each in questions), Fraction(0))
    if deltas > Fraction(delta):
        hint = "The plan's delta is at least the sum of its questions' deltas."
        raise InvalidParameterError("delta", delta, f"at least {fraction_up(deltas)!r}, for all questions", hint)
    account = Limits.new(epsilon=limit, delta=Fraction(delta), set_aside=deltas)
    is_composing = Fraction(delta) > deltas

    shares = {each.name: Fraction(repr(each.share)) for each in questions if each.share is not None}
    if sum(shares.values()) > 1:
        got = Shown(" + ".join(as_text(each.share) for each in questions if each.share is not None))
        hint = "Shares are parts of the plan's epsilon."
        raise InvalidParameterError("share", got, "shares that add up to at most 1", hint)
    chosen = {each.name: each.epsilon or _reaching(each, planned, epsilon) for each in questions if each.is_fixed}
    chosen |= {each.name: _of_part(each, shares[each.name] * limit) for each in questions if each.share}
    if silent := [each for each in questions if each.name not in chosen]:
        left = limit - cost(chosen)
        if left <= 0 and is_composing:  # then the others may need less than their sum
            left = limit * (1 - sum(shares.values()))
        if left <= 0:
            hint = f"The others need all of epsilon = {as_text(epsilon)}: {needs(chosen, ', ')}."
            raise InvalidParameterError(silent[0].place, Shown("<nothing left>"), "a part of the plan's epsilon", hint)
        chosen |= {each.name: _of_part(each, left / len(silent)) for each in silent}
    while limit < cost(chosen) < limit * _HARDLY and any(is_free.values()):  # rounding to doubles made it too much
        largest = max((name for name in chosen if is_free[name]), key=lambda name: chosen[name])
        chosen[largest] = math.nextafter(chosen[largest], 0)

    def total(chosen: Mapping[str, float]) -> Cost:
        events = [planned(each, chosen[each.name]).event for each in questions]
        return account.charged(limit, account.nothing, events)[1]

    def scaled(factor: float, rounded: Callable[[float], float] = float) -> dict[str, float]:
        return {name: rounded(factor * part) if is_free[name] else part for name, part in chosen.items()}

    fits = cost(chosen) <= limit
    if is_composing:
        grown = _grown(scaled, lambda parts: account.allow(limit, total(parts)))
        more = [part - chosen[name] for name, part in grown.items()]
        if grown and (not fits or min(more) >= 0.0 < max(more)):
            return Division(grown, fraction_up(account.spent(total(grown))), delta, is_composed=True)
    if not fits:
        hint = f"They need {needs(chosen, ' + ')}."
        expected = f"at least {fraction_up(cost(chosen))!r}, for all questions"
        raise InvalidParameterError("epsilon", epsilon, expected, hint)
    return Division(chosen, fraction_up(cost(chosen)), fraction_up(deltas))


def _grown(scaled: Callable[..., dict[str, float]], accepts: Callable[[dict[str, float]], bool]) -> dict[str, float]:
    """The parts, scaled by the largest factor with which they are accepted; empty if they never are."""
    factor = _largest(lambda factor: accepts(scaled(factor)))
    if not factor:
        return {}
    rounded = scaled(factor, partial(_in_few_digits, rounded=math.floor))
    return rounded if accepts(rounded) else scaled(factor)


def _largest(accepts: Callable[[float], bool]) -> float:
    """The largest factor that is accepted, as all smaller ones are, within a millionth of it; 0 if none is."""
    yes, no = (1.0, 2.0) if accepts(1.0) else (_SMALLEST, 1.0)
    if yes < 1.0 and not accepts(yes):
        return 0.0
    while 1.0 < no < 1.0 / _SMALLEST and accepts(no):
        yes, no = no, 2.0 * no
    for _ in range(_STEPS):
        middle = (yes + no) / 2.0
        yes, no = (middle, no) if accepts(middle) else (yes, middle)
    return yes


def _of_part(question: PlannedQuestion, part: Fraction) -> float:
    """The epsilon with which the question costs `part`, also with the number of units that it releases."""
    usable: object = question.arguments.get("usable_epsilon")
    if not isinstance(usable, int | float) or not 0 < usable < math.inf:
        return float(part)  # if it is no number, the question refuses it
    if Fraction(usable) >= part:
        hint = f"The part of this question is epsilon = {float(part)!r}."
        raise InvalidParameterError(f"{question.place}.usable_epsilon", usable, "less than its part", hint)
    return float(part - Fraction(usable))


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
    enough = epsilon / _largest(lambda factor: reaches(epsilon / factor))
    rounded = _in_few_digits(enough, math.ceil)
    return rounded if rounded <= epsilon and reaches(rounded) else enough


def _in_few_digits(epsilon: float, rounded: Callable[[Fraction], int]) -> float:
    """A double of a few digits.

    >>> _in_few_digits(0.182399, math.floor), _in_few_digits(0.182312, math.ceil), _in_few_digits(0.5, math.ceil)
    (0.1823, 0.1824, 0.5)
    """
    power = Fraction(10) ** (_DIGITS - 1 - math.floor(math.log10(epsilon)))
    return float(rounded(Fraction(epsilon) * power) / power)
