"""What a question of a plan says, and how epsilon is divided: by epsilons, wanted errors, shares, the rest equally.

Everything here follows from public arguments: no row is read.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, cast

from dpselect import public
from dpselect.accounting.filter import Cost, Limits
from dpselect.checks import fraction_up, positive_epsilon
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.ledger.accounts import epsilon_left
from dpselect.plans.answers import OfQuestions
from dpselect.questions.query import Query
from dpselect.questions.wording import bound_shown, cost_shown, html_table, rounded_up, scope, text_table
from dpselect.questions.words import as_text
from dpselect.session.asking import PlainQuestions, rows_of
from dpselect.session.dataset import ASK, arguments_of, check_described
from dpselect.session.paying import Forecast

BUDGET_KEYS = ("share", "epsilon", "within")
"""At most one of them says which part of the budget a question gets."""

GIVEN_BY_PLAN = frozenset({"epsilon", "request"})

_NAME = re.compile(r"[\w-]{1,60}")
_IS_RANGE = re.compile(r"\s*[+-]?[0-9]+\s*\.\.\s*[+-]?[0-9]+\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedQuestion:
    """A question of a plan: its method, its arguments but those of `GIVEN_BY_PLAN`, and at most one budget key."""

    name: str
    method: str
    arguments: Mapping[str, Any]
    share: float | None = None
    epsilon: float | None = None
    within: float | None = None

    @property
    def place(self) -> str:
        """Where errors find it."""
        return f"questions.{self.name}"

    @property
    def is_fixed(self) -> bool:
        """Whether it says its epsilon, or what it has to reach."""
        return self.epsilon is not None or self.within is not None

    @classmethod
    def of(cls, name: object, described: object) -> PlannedQuestion:
        """The question that a table of the file describes."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            got = typed(name)
            raise InvalidParameterError("questions", got, "names of letters, digits, - and _, of at most 60 characters")
        place = f"questions.{name}"
        method = check_described(described, place, other=BUDGET_KEYS, elsewhere=GIVEN_BY_PLAN)
        held = cast("Mapping[str, Any]", described)
        stated = {key: _budget(held[key], key, f"{place}.{key}") for key in BUDGET_KEYS if key in held}
        if len(stated) > 1:
            raise InvalidParameterError(place, Shown(" and ".join(stated)), f"at most one of {', '.join(BUDGET_KEYS)}")
        arguments = {key: value for key, value in held.items() if key not in (ASK, *BUDGET_KEYS)}
        return cls(name=name, method=method, arguments=arguments, **stated)

    def with_lists(self, table: PlainQuestions, source: object, folder: Path) -> PlannedQuestion:
        """The question with lists in place of the texts that name them; their paths start from `folder`.

        No list may come from the `source`, the table as the plan names it.
        """
        held = dict(self.arguments)
        for key, each in arguments_of(self.method).items():
            text: object = held.get(key)
            if not each.names_members or not isinstance(text, str):
                continue
            if not text.startswith("@") and not _IS_RANGE.fullmatch(text):
                expected = 'a list such as [1, 2, 3], a range "1..100" or the file "@list.txt"'
                raise InvalidParameterError(f"{self.place}.{key}", typed(text), expected)
            written = "@" + in_folder(text[1:], folder) if text.startswith("@") else text
            private = source if isinstance(source, str) else ""
            try:
                held[key] = public.value_of(each, [written], held, rows_of(table).candidate_kinds, private=private)
            except InvalidParameterError as error:
                if error.name != key:
                    raise
                hint = "" if "--" in error.hint else error.hint  # which would name an option of the command line
                hint = hint or 'Or list them: [1, 2] are numbers, and ["1", "2"] are texts.'
                raise type(error)(f"{self.place}.{key}", typed(text), error.expected, hint) from None
        return replace(self, arguments=held)


def _budget(value: object, key: str, name: str) -> float:
    if key == "epsilon":
        return positive_epsilon(value, name)
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if key == "share" and not 0 < number <= 1:
        raise InvalidParameterError(name, value, "a part of the plan's epsilon, above 0 and at most 1")
    if not 0 <= number < math.inf:
        raise InvalidParameterError(name, value, "an error bound, at least 0")
    return float(number)


Planned = Callable[[PlannedQuestion, float], Query]
"""What would be asked at an epsilon: its cost and its error bound."""

_SMALLEST = 2.0**-20
"""Factor: nothing is made smaller than this, or larger than its inverse."""


def divided(
    questions: Sequence[PlannedQuestion], planned: Planned, *, epsilon: float, delta: float
) -> tuple[Mapping[str, float], float, float]:
    """The epsilon of each question, and what all cost together, rounded up: at most the plan's epsilon and delta.

    The parts add up to the plan's epsilon. If this leaves some of delta, they may be larger together: as large as an
    account with the plan's epsilon and delta accepts. Then all parts that are not fixed grow by the same factor.

    Proof: ``proofs/ledger.md``.
    """
    limit, is_free = Fraction(epsilon), {each.name: not each.is_fixed for each in questions}

    def costs(chosen: Mapping[str, float]) -> dict[str, float]:
        """What each question that has a part costs, with the number of units."""
        asked = (each for each in questions if each.name in chosen)
        return {each.name: planned(each, chosen[each.name]).terms.epsilon for each in asked}

    def cost(chosen: Mapping[str, float]) -> Fraction:
        return sum(map(Fraction, costs(chosen).values()), Fraction(0))

    def needs(chosen: Mapping[str, float], between: str) -> str:
        return between.join(f"{name} {as_text(epsilon)}" for name, epsilon in costs(chosen).items())

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

    def accepts(parts: Mapping[str, float]) -> bool:
        return account.allow(limit, total(parts))

    def scaled(factor: float, rounded: Callable[[float], float] = float) -> dict[str, float]:
        return {name: rounded(factor * part) if is_free[name] else part for name, part in chosen.items()}

    fits = cost(chosen) <= limit
    if is_composing and (factor := _largest(lambda factor: accepts(scaled(factor)))):
        rounded = scaled(factor, partial(_in_few_digits, rounded=math.floor))
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
    yes, no = (1.0, 2.0) if accepts(1.0) else (_SMALLEST, 1.0)
    if yes < 1.0 and not accepts(yes):
        return 0.0
    while 1.0 < no < 1.0 / _SMALLEST and accepts(no):
        yes, no = no, 2.0 * no
    for _ in range(20):
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
    """A double of four digits: people read it.

    >>> _in_few_digits(0.182399, math.floor), _in_few_digits(0.182312, math.ceil), _in_few_digits(0.5, math.ceil)
    (0.1823, 0.1824, 0.5)
    """
    power = Fraction(10) ** (3 - math.floor(math.log10(epsilon)))
    return float(rounded(Fraction(epsilon) * power) / power)


def in_folder(path: str, folder: Path) -> str:
    """A path that is not absolute, from `folder`; what is absolute, or the URL of a server, stays as it is.

    >>> in_folder("people.csv", Path("/plans")), in_folder("sqlite:///budget.db", Path("/plans"))
    ('/plans/people.csv', 'sqlite:////plans/budget.db')
    """
    scheme, separator, rest = path.partition("sqlite:///")
    if separator and not scheme:
        return separator + (rest if os.path.isabs(rest) else str(folder / rest))
    return path if "://" in path else str(folder / path)


_HEADS = ("question", "asks", "epsilon", "error (99%)", "mechanism")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanForecast(OfQuestions[Forecast]):
    """The forecast of each question of a plan, by name.

    Attributes:
        budget, budget_delta: the epsilon and the delta of the plan.
        unchecked: why no column was checked, or empty: see `dpselect.DryRun`.
        account: name of the account that would be charged, or None.
        left: the epsilon left in it, or None.
        refused: why the account would refuse the plan, or empty.

    >>> import dpselect as dps
    >>> forecast = dps.Plan.from_toml("examples/questions.toml").forecast()
    >>> forecast["retired"].guarantee.epsilon, forecast.epsilon, forecast.fits is None
    (0.2, 1.0, True)
    """

    budget: float
    budget_delta: float = 0.0
    unchecked: str = ""
    account: str | None = None
    left: float | None = None
    refused: str = ""

    @property
    def fits(self) -> bool | None:
        """Whether the account would accept all charges together; None without an account."""
        return None if self.account is None else not self.refused

    @property
    def charge(self) -> str:
        """What would happen to the account, in one sentence."""
        if self.account is None:
            return next(iter(self.values())).charge
        if self.refused:
            return f"Refused: {self.refused}"
        if len(self.stored) == len(self):
            return f"All questions were answered before: account {self.account} would be charged nothing."
        return f"Account {self.account} would accept it: it has {epsilon_left(self.left or 0.0)} left."

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
            said.append(f"The parts add up to epsilon = {parts:.4g}; with this delta, they cost less together.")
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
            "account": self.account,
            "left": self.left,
            "answered": [*self.stored],
            "fits": self.fits,
        }

    def __str__(self) -> str:
        return "\n".join([text_table(_HEADS, self.rows), "", *self.sentences])

    def _repr_html_(self) -> str:
        return html_table(_HEADS, self.rows, *self.sentences)
