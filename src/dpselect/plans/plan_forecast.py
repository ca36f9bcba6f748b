"""What a plan would cost and how accurate its answers would be, as a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpselect.accounting.rounding import fraction_up
from dpselect.ledger.records import epsilon_left
from dpselect.plans.before import NOTHING, Before, with_lost
from dpselect.plans.division import Division
from dpselect.questions import QUESTIONS
from dpselect.questions.question import as_text
from dpselect.questions.wording import cost_shown, html_table, left_shown, rounded_up, scope
from dpselect.session import Forecast

_HEADS = ("question", "asks", "epsilon", "error (99%)", "mechanism")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanForecast(Mapping[str, Forecast]):
    """The forecast of each question of a plan, by name.

    Attributes:
        forecasts: of each question.
        words: what each asks, in a few words.
        budget: the epsilon of the plan.
        budget_delta: its delta.
        division: how they are divided.
        unchecked: why no column was checked, or empty: see `dpselect.DryRun`.
        account: name of the account that would be charged, or None.
        left: the epsilon left in it, or None.
        before: what the ledger knows of an earlier run of the plan.

    >>> import dpselect as dps
    >>> forecast = dps.Plan.from_toml("examples/questions.toml").forecast()
    >>> forecast["retired"].guarantee.epsilon, forecast.epsilon, forecast.fits is None
    (0.2, 1.0, True)
    """

    forecasts: Mapping[str, Forecast]
    words: Mapping[str, str]
    budget: float
    division: Division
    budget_delta: float = 0.0
    unchecked: str = ""
    account: str | None = None
    left: float | None = None
    before: Before = NOTHING

    def __getitem__(self, name: str) -> Forecast:
        return self.forecasts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.forecasts)

    def __len__(self) -> int:
        return len(self.forecasts)

    @property
    def epsilon(self) -> float:
        """Privacy loss of all answers together, rounded up."""
        return self.division.epsilon

    @property
    def delta(self) -> float:
        """Probability with which it may fail, rounded up."""
        return self.division.delta

    @property
    def answered(self) -> tuple[str, ...]:
        """The questions whose answers are stored already, and would cost nothing."""
        return tuple(name for name in self if name in self.before.stored)

    @property
    def refused(self) -> str:
        """Why the account would refuse the plan, or empty."""
        return with_lost(self.before.refused, self.before) if self.before.refused else ""

    @property
    def fits(self) -> bool | None:
        """Whether the account would accept all charges together; None without an account."""
        return None if self.account is None else not self.refused

    @property
    def charge(self) -> str:
        """What would happen to the account, in one sentence."""
        if self.account is None:
            return "Nothing would be charged to a ledger; the costs of releases on the same data add up."
        if self.refused:
            return f"Refused: {self.refused}"
        if len(self.answered) == len(self):
            return f"All questions were answered before: account {self.account} would be charged nothing."
        return f"Account {self.account} would accept it: it has {epsilon_left(left_shown(self.left or 0.0))} left."

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row of texts for each question, and one for all together."""
        lines = [
            (name, self.words[name], cost_shown(each.guarantee.epsilon), _error(each), each.terms.mechanism)
            for name, each in self.forecasts.items()
        ]
        return [*lines, ("together", f"of {as_text(self.budget)}", cost_shown(self.epsilon), "", "")]

    @property
    def sentences(self) -> list[str]:
        """What the errors are about, a sentence for each question; what was done before; what an account is charged."""
        delta = f"delta = {cost_shown(self.delta)} of {as_text(self.budget_delta)}." if self.budget_delta else ""
        said = [
            f"{name}: {' '.join(filter(None, (scope(each.where), each.accuracy)))}"
            for name, each in self.forecasts.items()
        ]
        composed = ""
        if self.division.is_composed:
            parts = fraction_up(sum((Fraction(each.terms.epsilon) for each in self.forecasts.values()), Fraction(0)))
            composed = f"The parts add up to epsilon = {parts:.4g}; with this delta, they cost less together."
        lost = "" if self.refused else self.before.begun_sentence
        unchecked = f"{self.unchecked}: computed from the arguments alone, no column is checked." * bool(self.unchecked)
        before = (self.before.stored_sentence, lost)
        return [
            *said,
            *filter(
                None,
                (composed, delta, unchecked[:1].upper() + unchecked[1:], *before, self.charge),
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON."""
        return {
            "questions": {name: each.to_dict() for name, each in self.forecasts.items()},
            "epsilon": self.epsilon,
            "delta": self.delta,
            "budget": {"epsilon": self.budget, "delta": self.budget_delta},
            "account": self.account,
            "left": self.left,
            "answered": [*self.answered],
            "fits": self.fits,
        }

    def to_json(self) -> str:
        """As a JSON object with sorted keys, on one line."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        lines = [_HEADS, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*(line.rstrip() for line in table), "", *self.sentences])

    def _repr_html_(self) -> str:
        return html_table(_HEADS, self.rows, *self.sentences)


def _error(forecast: Forecast) -> str:
    """The error bound, with its unit unless it is a count."""
    bound, unit = forecast.error_bound, QUESTIONS[forecast.terms.task].error_unit(forecast)
    if bound is None or not math.isfinite(bound):
        return "no bound"
    if unit is None:
        return f"{math.floor(bound):,}"
    return f"{rounded_up(bound)} ranks" if unit == "ranks" else rounded_up(bound)
