"""What a plan would cost and how accurate its answers would be; and what a ledger knows of an earlier run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from dpselect.accounting.rounding import fraction_up
from dpselect.errors import ChargeRefusedError
from dpselect.ledger import Ledger, Receipt
from dpselect.ledger.accounts import epsilon_left
from dpselect.plans.division import Division, OfQuestions
from dpselect.questions.wording import cost_shown, html_table, left_shown, rounded_up, scope
from dpselect.questions.words import as_text
from dpselect.session.forecast import Forecast
from dpselect.session.paying import TableQuestion

_HEADS = ("question", "asks", "epsilon", "error (99%)", "mechanism")


@dataclass(frozen=True, slots=True)
class Before:
    """What a ledger knows of a plan before it is run.

    Attributes:
        stored: the day on which each question with a stored answer was asked, by its name.
        lost: the number of the latest charge of each question whose draw has begun, and that has no stored answer: the
            answer is lost, unless another run is still drawing.
        refused: why the account would refuse the plan, or empty.
    """

    stored: Mapping[str, str]
    lost: Mapping[str, int]
    refused: str = ""

    @property
    def stored_sentence(self) -> str:
        """From when the stored answers are; empty if there are none."""
        days = {day: [name for name in self.stored if self.stored[name] == day] for day in sorted(self.stored.values())}
        listed = "; ".join(f"{', '.join(names)} on {day}" for day, names in days.items())
        said = f"Answered before, and stored in the ledger: {listed}. The table is not compared with that of then."
        return said if self.stored else ""

    @property
    def lost_sentence(self) -> str:
        """Which questions cost again; empty if none does."""
        said = f"Charged before, without a stored answer: {self._lost}. Unless another run is still drawing, this costs"
        return f"{said} again." if self.lost else ""

    @property
    def charged_again(self) -> str:
        """The same after the run; empty if none did."""
        return f"Charged before, without a stored answer, and charged again: {self._lost}." if self.lost else ""

    @property
    def _lost(self) -> str:
        return ", ".join(f"{name} (entry {number})" for name, number in self.lost.items())

    def explained(self, refused: str) -> str:
        """The text of a refusal, with the charges that may have lost their answers."""
        helps = "To ask again, raise the limit of the account (dpselect ledger limit), or start an account anew."
        return f"{refused} {self.lost_sentence} {helps}" if self.lost else refused

    def after(self, charged: Mapping[str, int]) -> Before:
        """The same after the run, whose answers were paid for by these entries: what another run stored is not lost."""
        return replace(self, lost={name: at for name, at in self.lost.items() if charged.get(name) != at})


NOTHING = Before({}, {})


def looked_up(ledger: Ledger, account: str, asked: Mapping[str, TableQuestion]) -> Before:
    """What the ledger has under the requests of these questions; nothing is charged.

    Raises:
        InvalidAccountError, RequestReusedError, LedgerError: as `Ledger.look`, but no ChargeRefusedError.
    """
    known: Sequence[Receipt | None] = [None] * len(asked)
    refused = ""
    try:
        known = ledger.look(account, [(each.run, str(each.request), each.text) for each in asked.values()])
    except ChargeRefusedError as refusal:
        refused = refusal.what
    stored: dict[str, str] = {}
    lost: dict[str, int] = {}
    for (name, question), receipt in zip(asked.items(), known, strict=True):
        if receipt is not None:  # stored or kept by this process, or charged and not drawn for
            stored |= {} if receipt.release is None else {name: _day(receipt.release)}
            continue
        entries = ledger.under(account, str(question.request))
        begun = {each.body["begins"] for each in entries if each.kind == "begin"}
        answers = [each.release for each in entries if each.release is not None]
        charges = [each for each in entries if each.kind == "charge"]
        drawn = [each.sequence for each in charges if "ahead" not in each.body or each.sequence in begun]
        if answers:
            stored[name] = _day(answers[0])
        elif drawn and len(drawn) == len(charges):
            lost[name] = drawn[-1]
    return Before(stored, lost, refused)


def _day(release: str) -> str:
    return datetime.fromisoformat(json.loads(release)["time"]).astimezone(UTC).date().isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanForecast(OfQuestions[Forecast]):
    """The forecast of each question of a plan, by name.

    Attributes:
        by_name: the forecasts.
        budget, budget_delta: the epsilon and the delta of the plan.
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

    by_name: Mapping[str, Forecast]
    budget: float
    division: Division
    budget_delta: float = 0.0
    unchecked: str = ""
    account: str | None = None
    left: float | None = None
    before: Before = NOTHING

    @property
    def answered(self) -> tuple[str, ...]:
        """The questions whose answers are stored already, and would cost nothing."""
        return tuple(name for name in self if name in self.before.stored)

    @property
    def refused(self) -> str:
        """Why the account would refuse the plan, or empty."""
        return self.before.explained(self.before.refused) if self.before.refused else ""

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
        if len(self.answered) == len(self):
            return f"All questions were answered before: account {self.account} would be charged nothing."
        return f"Account {self.account} would accept it: it has {epsilon_left(left_shown(self.left or 0.0))} left."

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row of texts for each question, and one for all together."""
        lines = [
            (name, each.asks, cost_shown(each.guarantee.epsilon), _error(each), each.mechanism)
            for name, each in self.items()
        ]
        return [*lines, ("together", f"of {as_text(self.budget)}", cost_shown(self.epsilon), "", "")]

    @property
    def sentences(self) -> list[str]:
        """What the errors are about, a sentence for each question; what was done before; what an account is charged."""
        said = [f"{name}: {' '.join(filter(None, (scope(each.where), each.accuracy)))}" for name, each in self.items()]
        if self.division.is_composed:
            parts = fraction_up(sum((Fraction(each.epsilon) for each in self.values()), Fraction(0)))
            said.append(f"The parts add up to epsilon = {parts:.4g}; with this delta, they cost less together.")
        if self.budget_delta:
            said.append(f"delta = {cost_shown(self.delta)} of {as_text(self.budget_delta)}.")
        if why := self.unchecked:
            said.append(f"{why[0].upper()}{why[1:]}: computed from the arguments alone, no column is checked.")
        lost = "" if self.refused else self.before.lost_sentence  # which a refusal says already
        return [*said, *filter(None, (self.before.stored_sentence, lost, self.charge))]

    def to_dict(self) -> dict[str, Any]:
        return {
            "questions": {name: each.to_dict() for name, each in self.items()},
            "epsilon": self.epsilon,
            "delta": self.delta,
            "budget": {"epsilon": self.budget, "delta": self.budget_delta},
            "account": self.account,
            "left": self.left,
            "answered": [*self.answered],
            "fits": self.fits,
        }

    def __str__(self) -> str:
        lines = [_HEADS, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*(line.rstrip() for line in table), "", *self.sentences])

    def _repr_html_(self) -> str:
        return html_table(_HEADS, self.rows, *self.sentences)


def _error(forecast: Forecast) -> str:
    """The error bound, with its unit unless it is a count."""
    bound, unit = forecast.error_bound, forecast.error_unit
    if bound is None or not math.isfinite(bound):
        return "no bound"
    if unit is None:
        return f"{math.floor(bound):,}"
    return f"{rounded_up(bound)} ranks" if unit == "ranks" else rounded_up(bound)
