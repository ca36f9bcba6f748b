"""What a question would cost and how accurate it would be, from public arguments, before any data is touched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from dpselect.accounting import Event
from dpselect.accounting.codec import encode
from dpselect.errors import ChargeRefusedError, InvalidParameterError
from dpselect.ledger.records import epsilon_left
from dpselect.privacy import Guarantee
from dpselect.questions import CONFIDENCE, QUESTIONS, NoisyUnits, Terms, wording
from dpselect.questions.query import Query
from dpselect.questions.question import as_text
from dpselect.session.paying import Payer, TableQuestion
from dpselect.session.rows import NothingRead


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What the certificate of an answer would contain, except the answer.

    Attributes:
        asked: the question, planned.
        column: the column it is about.
        unit: the column that identifies who is protected.
        event: what would be charged.
        account: name of the account that would be charged, or None.
        left: the epsilon left in this account, or None.
        set_aside_left: the delta left in it for questions that have a delta of their own, or None.
        is_answered: whether the answer is already stored under the request and would cost nothing; None without a
            ledger.
        fits: whether the account would accept the charge; None without a ledger.

    >>> import dpselect as dps
    >>> dps.DryRun(unit="person_id").median("age", bounds=(0, 120), step=1, epsilon=0.5).error_bound < 19
    True
    """

    asked: Query
    column: str
    unit: str
    event: Event
    account: str | None = None
    left: float | None = None
    set_aside_left: float | None = None
    is_answered: bool | None = None
    fits: bool | None = None

    @property
    def terms(self) -> Terms:
        """The part of a certificate that the question determines."""
        return self.asked.priced.terms

    @property
    def question(self) -> Mapping[str, Any]:
        """The question in words."""
        return self.asked.words

    @property
    def where(self) -> Sequence[Mapping[str, Any]]:
        """The conditions that rows would have to meet to be looked at."""
        return self.asked.where

    @property
    def candidates(self) -> Mapping[str, Any]:
        """What the answer would be drawn from."""
        return self.terms.candidates

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Other arguments of the question."""
        return self.terms.arguments

    @property
    def groups(self) -> Mapping[str, Any] | None:
        """The groups, for a question about groups."""
        return self.terms.groups

    @property
    def usable(self) -> NoisyUnits | None:
        """The accuracy and the cost of a noisy number of units, if one would be released."""
        return self.terms.usable

    @property
    def counted(self) -> NoisyUnits | None:
        """The accuracy and the cost of noisy counts of the answers, if they would be released."""
        return self.terms.counted

    @property
    def task(self) -> str:
        """The name of the question."""
        return self.terms.task

    @property
    def error_bound(self) -> float | None:
        """See `dpselect.Release`."""
        return self.terms.error_bound

    @property
    def confidence(self) -> float:
        """Confidence level of `error_bound`."""
        return CONFIDENCE

    @property
    def guarantee(self) -> Guarantee:
        """What would be promised to each unit."""
        return Guarantee(self.terms.epsilon, self.terms.delta, self.terms.sensitivity.neighbours, self.unit)

    @property
    def accuracy(self) -> str:
        """The error bound in one sentence."""
        return wording.accuracy(QUESTIONS[self.terms.task], self)

    @property
    def basis(self) -> str:
        """The noisy number of units that would be released, with a warning if delta is large; else empty."""
        return " ".join(filter(None, (wording.basis_planned(self), wording.large_delta(self, self.terms.delta))))

    @property
    def count_accuracy(self) -> str:
        """The noisy counts of the answers that would be released, in one sentence; empty if there would be none."""
        return wording.counts_planned(self)

    @property
    def rule(self) -> str:
        """How the noise is chosen, in one sentence; empty if there is no choice."""
        return wording.rule(self)

    @property
    def charge(self) -> str:
        """What would happen to the account, in one sentence."""
        if self.account is None:
            return "Nothing would be charged to a ledger; the costs of releases on the same data add up."
        if self.is_answered:
            return f"Answered before under this request: account {self.account} would be charged nothing."
        verb = "accept" if self.fits else "refuse"
        if self.set_aside_left is not None and self.terms.delta > self.set_aside_left and not self.fits:
            aside = f"delta = {self.set_aside_left!r} left of what it sets aside for such questions"
            said = f"Account {self.account} would {verb} it: it has {aside}, and this needs {self.terms.delta!r}."
            return f"{said} An account with more of it is opened by: dpselect ledger open ... --delta --set-aside."
        return f"Account {self.account} would {verb} it: it has {epsilon_left(self.left or 0.0)} left."

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values: what `to_json` writes."""
        guarantee, sensitivity = self.guarantee, self.terms.sensitivity
        return {
            "question": dict(self.question),
            "guarantee": {
                "epsilon": guarantee.epsilon,
                "delta": guarantee.delta,
                "neighbours": str(guarantee.neighbours),
                "unit": guarantee.unit,
            },
            "event": encode(self.event),
            "mechanism": {
                "name": self.terms.mechanism,
                "rounds": self.terms.rounds,
                "sensitivity": sensitivity.value,
                "monotonic": sensitivity.monotonic,
            },
            "candidates": dict(self.candidates),
            "arguments": dict(self.arguments),
            "groups": None if self.groups is None else dict(self.groups),
            **({} if self.usable is None else {"usable": self.usable.description}),
            **({} if self.counted is None else {"counts": self.counted.description}),
            "error_bound": wording.error_bound(QUESTIONS[self.terms.task], self),
            "account": self.account,
            "left": self.left,
            "is_answered": self.is_answered,
            "fits": self.fits,
        }

    def to_json(self) -> str:
        """As a JSON object with sorted keys, on one line."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False, ensure_ascii=False)

    def _repr_html_(self) -> str:
        about = [
            ("question", f"{self.terms.task.replace('_', ' ')} of {self.column}"),
            ("epsilon", wording.cost(self, self.terms.epsilon)),
            *([("delta", as_text(self.terms.delta))] if self.terms.delta else []),
            ("mechanism", self.terms.mechanism),
        ]
        return wording.html_table(
            ("forecast", "not an answer"), about, wording.promise(self, self.guarantee), *self._sentences, self.charge
        )

    @property
    def _sentences(self) -> tuple[str, ...]:
        missing = wording.basis_missing(QUESTIONS[self.terms.task], self, verb="would not be")
        return wording.scope(self.where), self.accuracy, self.count_accuracy, self.rule, self.basis, missing

    def __str__(self) -> str:
        drawn = self.terms.mechanism + (f", {self.terms.rounds} rounds" if self.terms.rounds > 1 else "")
        origin = wording.provenance(QUESTIONS[self.terms.task], self)
        last = f"To be drawn by {drawn}, {origin}. {self.charge}"
        return "\n".join(filter(None, (wording.promise(self, self.guarantee), *self._sentences, last)))


class Forecasting(Payer[Forecast]):
    """Computes what each question would be charged, and charges nothing."""

    __slots__ = ()

    def answer(self, asked: TableQuestion[Any]) -> Forecast:
        """The forecast, once the columns are checked; nothing is gathered."""
        with suppress(NothingRead):
            asked.gather()
        table, request, run = asked.table, asked.request, asked.run
        forecast = Forecast(asked=asked.asked, column=table.column, unit=table.unit, event=run.event)
        ledger = self.ledger_for(request)
        if ledger is None:
            return forecast
        if request is not None and not table.origin:
            expected = "the source of the Dataset, because a request is given"
            raise InvalidParameterError("source", None, expected)
        known, fits = None, True
        try:
            known = ledger.look(self.account, run, request=request, question=asked.text if request else "")
        except ChargeRefusedError:
            fits = False
        account = ledger.account(self.account)
        return replace(
            forecast,
            account=self.account,
            left=account.left,
            set_aside_left=account.set_aside_left,
            is_answered=known is not None and known.release is not None,
            fits=fits,
        )
