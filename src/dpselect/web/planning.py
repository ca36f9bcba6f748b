"""Before anything is spent: how accurate an answer would be, what it costs, and what an account has left.

Everything here follows from public arguments alone: no row is read.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from dpselect.accounting.rounding import fraction_down
from dpselect.ledger.accounts import Account, as_written, left_shown
from dpselect.plans.report import in_words
from dpselect.privacy import EACH_ROW
from dpselect.questions.question import QUESTIONS
from dpselect.questions.wording import bound_shown, rounded_up
from dpselect.questions.words import as_text
from dpselect.session.forecast import Forecast
from dpselect.web.forms import Form
from dpselect.web.words import in_two


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPlan:
    """What an answer would be worth and would cost.

    Attributes:
        forecast: all that is known of it.
        within: how far it may be from the truth, in its own unit; empty if the bound is about something else.
        accuracy, promise, why: sentences.
        budget: what it leaves of the account; None without one.
    """

    forecast: Forecast
    within: str
    accuracy: str
    promise: str
    why: str
    budget: Budget | None


def planned(form: Form) -> ShownPlan | None:
    """The plan of what was typed; None if there is none yet, with errors kept in the form."""
    epsilon = form.epsilon
    if epsilon is None or not form.is_complete:
        return None
    forecast = form.forecast(epsilon, paying=True)
    if forecast is None:
        return None
    within, accuracy = accuracy_of(form, forecast)
    held, rounds = form.site.held, f", in {forecast.rounds} rounds" if forecast.rounds > 1 else ""
    return ShownPlan(
        forecast=forecast,
        within=within,
        accuracy=accuracy,
        promise=in_words(forecast.guarantee),
        why=f"Drawn by {forecast.mechanism}{rounds}. {forecast.rule}".rstrip(),
        budget=None if held is None else budget_of(held, forecast),
    )


def accuracy_of(form: Form, forecast: Forecast) -> tuple[str, str]:
    """How far an answer may be from the truth, as a number in its own unit, and in a sentence.

    The number is empty where the bound is about something else, such as ranks. Where it depends on how many people
    have a value, it is that for the number that was guessed; of a standard deviation it is that of a value of 0, which
    is the largest.
    """
    kind, people, unit = QUESTIONS[forecast.task], form.people, forecast.unit
    bound = kind.value_bound(forecast, people, 0.0) if kind.bounds_value else forecast.error_bound
    within = bound_shown(bound, kind.error_unit(forecast))
    many = "" if people is None else f"If {people:,} {'rows' if unit == EACH_ROW else f'units ({unit})'} are counted"
    many += "" if forecast.groups is None else f" in each {forecast.groups['column']}"
    if kind.bounds_value and forecast.error_bound is not None and kind.value_bound(forecast, None, 0.0) is None:
        name = cast(Any, kind).called
        if people is None:
            return "", f"How close the {name} comes depends on how many people have a value: guess their number."
        sure = f"with {forecast.confidence:.0%} confidence the {name} is within {within} of the true one"
        return within, f"{many}, {sure}."
    said, counts = forecast.accuracy, within and kind.error_unit(forecast) in (None, "ranks")
    if people is not None and bound is not None and counts and forecast.arguments.get("max_rows_per_unit", 1) == 1:
        whole = math.ceil(bound) if kind.error_unit(forecast) == "ranks" else math.floor(bound)
        said += f" {many}, that is {rounded_up(min(100.0, 100 * whole / people))}% of them."
    return within if kind.bounds_value else "", said


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What an account has left, and what an answer would leave of it, for a bar of 100 units.

    Attributes:
        account: what it is about.
        limit, left, after: epsilon in all, before and after the answer; as text.
        spent, cost: parts of 100.
        refused: why the account would refuse the answer; empty if it would accept it.
        is_free: whether it was answered before.
    """

    account: Account
    limit: str
    left: str
    after: str
    spent: float
    cost: float
    refused: str
    is_free: bool


_WHOLE = re.compile(r"(?<=[0-9])\.0(?= )")
"""What pages leave out of a number, such as of 0.0."""


def budget_of(account: Account, forecast: Forecast | None = None) -> Budget:
    """The bar of an account, for a forecast that looked at it."""
    limit, is_free = account.epsilon, forecast is not None and bool(forecast.is_answered)
    cost = Fraction(0) if forecast is None or is_free else Fraction(forecast.guarantee.epsilon)
    left = max(limit - account.spent, Fraction(0))

    def part(of: Fraction) -> float:
        return round(float(100 * of / limit), 2) if limit else 0.0

    spent = part(limit - left)
    return Budget(
        account=account,
        limit=as_text(as_written(limit)),
        left=left_shown(account.left if forecast is None or forecast.left is None else forecast.left),
        after=left_shown(fraction_down(max(left - cost, Fraction(0)))),
        spent=spent,
        cost=min(part(cost), round(100 - spent, 2)),
        refused="" if forecast is None or forecast.fits else _WHOLE.sub("", in_two(forecast.charge)[0]),
        is_free=is_free,
    )
