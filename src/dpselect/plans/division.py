"""What a question of a plan says, and how epsilon is divided: by epsilons, wanted errors, shares, the rest equally.

Everything here follows from public arguments: no row is read.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, cast

from dpselect.accounting.filter import Cost, Limits
from dpselect.checks import fraction_up, in_digits, number_within, target_error
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.plans.answers import OfQuestions
from dpselect.privacy import as_text
from dpselect.questions.records import Planned
from dpselect.questions.wording import bound_shown, cost_shown, html_table, rounded_up, scope, text_table
from dpselect.session.answering import Forecast, TableQuestion
from dpselect.session.dataset import check_described

BUDGET_KEYS = ("share", "epsilon", "within")  # at most one of them says which part of the budget a question gets

GIVEN_BY_PLAN = frozenset({"epsilon", "request"})

Planning = Callable[[str, float], TableQuestion]  # what would be asked by the question of this name at an epsilon


def described(questions: object) -> dict[str, dict[str, Any]]:
    """The questions of a plan, by name: what the table of each says, with at most one of `BUDGET_KEYS`."""
    is_table, hint = isinstance(questions, Mapping), "Each has a name: [questions.typical_age] in a file."
    if not (is_table and questions):
        got, expected = (Shown("<none>"), "at least one") if is_table else (questions, "a mapping of names")
        raise InvalidParameterError("questions", got, expected, hint)
    found = dict[str, dict[str, Any]]()
    for name, keys in cast("Mapping[object, object]", questions).items():
        if not isinstance(name, str) or not re.fullmatch(r"[\w-]{1,60}", name):
            expected = "names of letters, digits, - and _, of at most 60 characters"
            raise InvalidParameterError("questions", typed(name), expected)
        if name.casefold() in map(str.casefold, found):
            expected = "names that differ by more than capitals"
            hint = "Each has a file of its own, and some systems do not tell capitals apart."
            raise InvalidParameterError("questions", Shown(repr(name)), expected, hint)
        place = f"questions.{name}"
        check_described(keys, place, other=BUDGET_KEYS, elsewhere=GIVEN_BY_PLAN)
        held = dict(cast("Mapping[str, Any]", keys))
        stated = {key: _budget(held[key], key, f"{place}.{key}") for key in BUDGET_KEYS if key in held}
        if len(stated) > 1:
            raise InvalidParameterError(place, Shown(" and ".join(stated)), f"at most one of {', '.join(BUDGET_KEYS)}")
        found[name] = held | stated
    return found


def _budget(value: object, key: str, name: str) -> float:
    if key == "share":
        expected = "a part of the plan's epsilon, above 0 and at most 1"
        return number_within(value, name, math.nextafter(0.0, 1.0), 1.0, expected)
    if key == "within":
        return target_error(value, name, zero_allowed=True, expected="an error bound, at least 0")
    return target_error(value, name)


def divided(
    questions: Mapping[str, Mapping[str, Any]], planned: Planning, *, epsilon: float, delta: float
) -> tuple[Mapping[str, float], float, float]:
    """The epsilon of each question, and what all cost together, rounded up: at most the plan's epsilon and delta.

    The parts add up to the plan's epsilon. If this leaves some of delta, they may be larger together: as large as an
    account with the plan's epsilon and delta accepts. Then all parts that are not fixed grow by the same factor.

    Proof: ``proofs/ledger.md``.
    """
    limit = Fraction(epsilon)
    is_free = {name: "epsilon" not in each and "within" not in each for name, each in questions.items()}

    def terms(chosen: Mapping[str, float]) -> dict[str, Planned]:
        """Those of each question that has a part."""
        return {name: planned(name, chosen[name]).asked.terms for name in questions if name in chosen}

    def cost(chosen: Mapping[str, float]) -> Fraction:
        return sum((Fraction(each.epsilon) for each in terms(chosen).values()), Fraction(0))

    def needs(chosen: Mapping[str, float], between: str) -> str:
        return between.join(f"{name} {as_text(each.epsilon)}" for name, each in terms(chosen).items())

    deltas = sum((Fraction(planned(name, epsilon).asked.terms.event.delta) for name in questions), Fraction(0))
    if deltas > Fraction(delta):
        hint = "The plan's delta is at least the sum of its questions' deltas."
        raise InvalidParameterError("delta", delta, f"at least {fraction_up(deltas)!r}, for all questions", hint)
    account = Limits.new(epsilon=limit, delta=Fraction(delta), set_aside=deltas)
    is_composing = Fraction(delta) > deltas

    shares = {name: Fraction(repr(each["share"])) for name, each in questions.items() if "share" in each}
    if sum(shares.values()) > 1:
        got = Shown(" + ".join(as_text(questions[name]["share"]) for name in shares))
        hint = "Shares are parts of the plan's epsilon."
        raise InvalidParameterError("share", got, "shares that add up to at most 1", hint)
    chosen = {name: each["epsilon"] for name, each in questions.items() if "epsilon" in each}
    chosen |= {name: _reaching(name, each, planned, epsilon) for name, each in questions.items() if "within" in each}
    chosen |= {name: _of_part(name, questions[name], share * limit) for name, share in shares.items()}
    if silent := [name for name in questions if name not in chosen]:
        left = limit - cost(chosen)
        if left <= 0 and is_composing:  # then the others may need less than their sum
            left = limit * (1 - sum(shares.values()))
        if left <= 0:
            name = f"questions.{silent[0]}"
            hint = f"The others need all of epsilon = {as_text(epsilon)}: {needs(chosen, ', ')}."
            raise InvalidParameterError(name, Shown("<nothing left>"), "a part of the plan's epsilon", hint)
        chosen |= {name: _of_part(name, questions[name], left / len(silent)) for name in silent}
    # Rounding to doubles, which adds hardly anything, may have made it too much.
    while limit < cost(chosen) < limit * (1 + Fraction(1, 10**12)) and any(is_free.values()):
        largest = max((name for name in chosen if is_free[name]), key=lambda name: chosen[name])
        chosen[largest] = math.nextafter(chosen[largest], 0)

    def total(chosen: Mapping[str, float]) -> Cost:
        return account.charged(limit, account.nothing, [each.event for each in terms(chosen).values()])[1]

    def accepts(parts: Mapping[str, float]) -> bool:
        return account.allow(limit, total(parts))

    def scaled(factor: float, rounded: Callable[[float], float] = float) -> dict[str, float]:
        return {name: rounded(factor * part) if is_free[name] else part for name, part in chosen.items()}

    fits = cost(chosen) <= limit
    if is_composing and (factor := _largest(lambda factor: accepts(scaled(factor)))):
        rounded = scaled(factor, partial(in_digits, digits=4))
        grown = rounded if accepts(rounded) else scaled(factor)
        more = [part - chosen[name] for name, part in grown.items()]
        if not fits or min(more) >= 0.0 < max(more):
            return grown, fraction_up(account.spent(total(grown))), delta
    if not fits:
        hint = f"They need {needs(chosen, ' + ')}."
        expected = f"at least {fraction_up(cost(chosen))!r}, for all questions"
        raise InvalidParameterError("epsilon", epsilon, expected, hint)
    return chosen, fraction_up(cost(chosen)), fraction_up(deltas)


def _largest(accepts: Callable[[float], bool]) -> float:
    """The largest factor that is accepted, as all smaller ones are, within a millionth of it; 0 if none is."""
    powers = range(-20 << 20, 20 << 20)  # of two, in parts of a 2^20th; the middle, which is tried first, is 0
    first = bisect_left(powers, True, key=lambda power: not accepts(2.0 ** (power / 2**20)))
    return 2.0 ** (powers[first - 1] / 2**20) if first else 0.0


def _of_part(name: str, question: Mapping[str, Any], part: Fraction) -> float:
    """The epsilon with which the question costs `part`, also with the number of units that it releases."""
    usable: object = question.get("usable_epsilon")
    if not isinstance(usable, int | float) or not 0 < usable < math.inf:
        return float(part)  # if it is no number, the question refuses it
    if Fraction(usable) >= part:
        hint = f"The part of this question is epsilon = {float(part)!r}."
        raise InvalidParameterError(f"questions.{name}.usable_epsilon", usable, "less than its part", hint)
    return float(part - Fraction(usable))


def _reaching(name: str, question: Mapping[str, Any], planned: Planning, epsilon: float) -> float:
    """The smallest epsilon, of a few digits, with which the error bound of the question is what it wants."""
    place, wanted = f"questions.{name}.within", question["within"]

    def bound(at: float) -> float:
        found = planned(name, at).asked.terms.error_bound
        if found is None:
            hint = "Give its epsilon or share instead."
            raise InvalidParameterError(place, wanted, "no wanted error, as no bound holds for all data here", hint)
        return found

    if not bound(epsilon) <= wanted:
        least = rounded_up(bound(epsilon)) if math.isfinite(bound(epsilon)) else "infinity"
        hint = f"With all of epsilon = {as_text(epsilon)} it is {least}. Allow a larger error, or more epsilon."
        raise InvalidParameterError(place, wanted, "an error that the plan's epsilon reaches", hint)
    enough = epsilon / _largest(lambda factor: bound(epsilon / factor) <= wanted)
    rounded = in_digits(enough, 4, up=True)
    return rounded if rounded <= epsilon and bound(rounded) <= wanted else enough


_HEADS = ("question", "asks", "epsilon", "error (99%)", "mechanism")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanForecast(OfQuestions[Forecast]):
    """The forecast of each question of a plan, by name.

    Attributes:
        budget, budget_delta: the epsilon and the delta of the plan.
        unchecked: why no column was checked, or empty: see `dpselect.DryRun`.

    >>> import dpselect as dps
    >>> forecast = dps.Plan.from_toml("examples/questions.toml").forecast()
    >>> forecast["retired"].guarantee.epsilon, forecast.epsilon, forecast.fits is None
    (0.2, 1.0, True)
    """

    budget: float
    budget_delta: float = 0.0
    unchecked: str = ""

    @property
    def first(self) -> Forecast:
        """That of the first question: of the account it says what all others say."""
        return next(iter(self.values()))

    @property
    def fits(self) -> bool | None:
        """Whether the account would accept all charges together; None without an account."""
        return self.first.fits

    @property
    def charge(self) -> str:
        """What would happen to the account, in one sentence."""
        if len(self.stored) == len(self):
            return f"All questions were answered before: account {self.first.account} would be charged nothing."
        return replace(self.first, answered_on="").charge

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row of texts for each question, and one for all together."""
        lines: list[tuple[str, ...]] = []
        for name, each in self.items():
            bound = bound_shown(each.error_bound, each.error_unit) or "no bound"
            lines.append((name, each.asks, cost_shown(each.epsilon), bound, each.mechanism))
        return [*lines, ("together", f"of {as_text(self.budget)}", cost_shown(self.epsilon), "", "")]

    @property
    def sentences(self) -> list[str]:
        """What the errors are about, a sentence for each question; what was done before; what an account is charged."""
        said = [f"{name}: {' '.join(filter(None, (scope(each.where), each.accuracy)))}" for name, each in self.items()]
        parts = fraction_up(sum((Fraction(each.epsilon) for each in self.values()), Fraction(0)))
        if parts > self.epsilon:
            said.append(f"The parts add up to epsilon = {cost_shown(parts)}; with this delta, they cost less together.")
        if self.budget_delta:
            said.append(f"delta = {cost_shown(self.delta)} of {as_text(self.budget_delta)}.")
        if why := self.unchecked:
            said.append(f"{why[0].upper()}{why[1:]}: computed from the arguments alone, no column is checked.")
        return [*said, *filter(None, (self.stored_sentence, self.charge))]

    def to_dict(self) -> dict[str, Any]:
        return {
            "questions": {name: each.to_dict() for name, each in self.items()},
            "epsilon": self.epsilon,
            "delta": self.delta,
            "budget": {"epsilon": self.budget, "delta": self.budget_delta},
            "account": self.first.account,
            "left": self.first.left,
            "answered": [*self.stored],
            "fits": self.fits,
        }

    def __str__(self) -> str:
        return "\n".join([text_table(_HEADS, self.rows), "", *self.sentences])

    def _repr_html_(self) -> str:
        return html_table(_HEADS, self.rows, *self.sentences)
