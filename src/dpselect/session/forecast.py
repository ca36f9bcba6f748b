"""All questions, without a row: what they would cost and how accurate they would be, from public arguments."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dpselect.certificates.release import canonical_json, claims
from dpselect.errors import ChargeRefusedError, InvalidParameterError
from dpselect.formats import Format, declared
from dpselect.ledger.accounts import epsilon_left
from dpselect.privacy import EachRow, Neighbours, neighbouring_relation
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.words import Planned, as_text
from dpselect.rows.opening import open_table, origin_of
from dpselect.rows.table import Rows, UnopenedTable
from dpselect.session.asking import Asking
from dpselect.session.paying import Spending, TableQuestion

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Planned):
    """What the certificate of an answer would contain, except the answer; its fields are those of a `Release`.

    Attributes:
        account: name of the account that would be charged; this and the rest is None without a ledger.
        left: the epsilon left in this account.
        set_aside_left: the delta left in it for questions that have a delta of their own, if any is.
        is_answered: whether the answer is already stored under the request and would cost nothing.
        fits: whether the account would accept the charge.

    >>> import dpselect as dps
    >>> dps.DryRun(unit="person_id").median("age", bounds=(0, 120), step=1, epsilon=0.5).error_bound < 19
    True
    """

    account: str | None = None
    left: float | None = None
    set_aside_left: float | None = None
    is_answered: bool | None = None
    fits: bool | None = None

    @property
    def accuracy(self) -> str:
        """The error bound in one sentence."""
        return wording.accuracy(QUESTIONS[self.task], self)

    @property
    def basis(self) -> str:
        """The noisy number of units that would be released, and a warning if delta is large."""
        return " ".join(filter(None, (wording.basis_planned(self), wording.large_delta(self, self.delta))))

    @property
    def count_accuracy(self) -> str:
        """The noisy counts that would be released, in one sentence; empty if there would be none."""
        return wording.counts_planned(self)

    @property
    def charge(self) -> str:
        """What would happen to the account, in one sentence."""
        if self.account is None:
            return "Nothing would be charged to a ledger; the costs of releases on the same data add up."
        if self.is_answered:
            return f"Answered before under this request: account {self.account} would be charged nothing."
        verb = "accept" if self.fits else "refuse"
        if self.set_aside_left is not None and self.delta > self.set_aside_left and not self.fits:
            aside = f"delta = {self.set_aside_left!r} left of what it sets aside for such questions"
            said = f"Account {self.account} would {verb} it: it has {aside}, and this needs {self.delta!r}."
            return f"{said} An account with more of it is opened by: dpselect ledger open ... --delta --set-aside."
        return f"Account {self.account} would {verb} it: it has {epsilon_left(self.left or 0.0)} left."

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values: what `to_json` writes."""
        return {
            **claims(self),
            "arguments": dict(self.arguments),
            "groups": None if self.groups is None else dict(self.groups),
            **({} if self.usable is None else {"usable": self.usable.description}),
            **({} if self.counted is None else {"counts": self.counted.description}),
            "account": self.account,
            "left": self.left,
            "is_answered": self.is_answered,
            "fits": self.fits,
        }

    def to_json(self) -> str:
        """As a JSON object with sorted keys, on one line."""
        return canonical_json(self.to_dict())

    def _repr_html_(self) -> str:
        about = [("question", self.asks), ("epsilon", wording.cost(self, self.epsilon))]
        about += [("delta", as_text(self.delta))] if self.delta else []
        about.append(("mechanism", self.mechanism))
        said = wording.promise(self, self.guarantee), *self._sentences, self.charge
        return wording.html_table(("forecast", "not an answer"), about, *said)

    @property
    def _sentences(self) -> tuple[str, ...]:
        missing = wording.basis_missing(QUESTIONS[self.task], self, verb="would not be")
        return wording.scope(self.where), self.accuracy, self.count_accuracy, self.rule, self.basis, missing

    def __str__(self) -> str:
        drawn = self.mechanism + (f", {self.rounds} rounds" if self.rounds > 1 else "")
        origin = wording.provenance(QUESTIONS[self.task], self)
        last = f"To be drawn by {drawn}, {origin}. {self.charge}"
        return "\n".join(filter(None, (wording.promise(self, self.guarantee), *self._sentences, last)))


def forecasted(asked: TableQuestion, payer: Spending) -> Forecast:
    """What the answer would be charged, once the columns are checked; nothing is gathered or charged."""
    for scan in asked.asked.scans:
        asked.rows.statement(scan, asked.asked.groups)()
    request = asked.request
    forecast = Forecast(**asked.asked.stated(column=asked.column, unit=asked.unit))
    ledger = payer.ledger_for(request)
    if ledger is None:
        return forecast
    if request is not None and not asked.origin:
        raise InvalidParameterError("source", None, "the source of the Dataset, because a request is given")
    known, fits = None, True
    try:
        (known,) = ledger.look(payer.account, [(asked.run, request, asked.text if request else "")])
    except ChargeRefusedError:
        fits = False
    account = ledger.account(payer.account)
    return replace(
        forecast,
        account=payer.account,
        left=account.left,
        set_aside_left=account.set_aside_left,
        is_answered=known is not None and known.release is not None,
        fits=fits,
    )


class DryRun(Asking, of="DryRun", returns=Forecast):
    """The questions of a `dpselect.Dataset` without the data: what they would cost, and how accurate they would be.

    It reads no row and writes to no ledger: all follows from the arguments and the types of the columns.

    Args:
        unit, ledger, account, neighbours, format: as for `dpselect.Dataset`; the ledger is only read.
        source, table: likewise. Of a file or a frame the columns are then checked as for an answer: their names and,
            where the format has types, the types. A server is not asked. Needed only with a `request`, to find out
            whether it was answered.

    Attributes:
        unchecked: why no column is checked: there is no source, no such file, or it is on a server. Empty if they are.

    Raises:
        InvalidParameterError: only one of `ledger` and `account` is given, or `neighbours` is unknown.
        InvalidDataError: there is such a file, but it is not what its name implies, or has no such column.

    >>> forecast = DryRun(unit="session").most_common("page", candidates=range(1, 41271), epsilon=0.5)
    >>> print(forecast)
    Differentially private: epsilon = 0.5, when one session is added or removed.
    With 99% confidence the count of the released page is within 29 of the best.
    How many units (session) had usable rows would not be released: usable_epsilon=0.05 would tell.
    To be drawn by PermuteAndFlip, out of 41,270 candidates given by the caller. Nothing would be charged to a ledger;
    the costs of releases on the same data add up.
    """

    __slots__ = ("unchecked",)

    def __init__(
        self,
        *,
        unit: str | EachRow,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        neighbours: Neighbours | Literal["add_remove", "replace_one"] = Neighbours.ADD_REMOVE,
        source: object = None,
        table: str | None = None,
        format: Format | None = None,
    ) -> None:
        self._groups, self._neighbours = None, neighbouring_relation(neighbours)
        self._reply = partial(forecasted, payer=Spending(ledger, account))
        said = declared(format)
        self.unchecked = _unchecked(source)
        opened = None if self.unchecked else open_table(source, table=table, format=said)
        origin = origin_of(source, opened, table=table)
        self._rows = Rows(opened or UnopenedTable(), origin=origin, unit=unit, format=said)

    if TYPE_CHECKING:

        def __getattr__(self, question: str) -> Callable[..., Forecast]: ...

    def __repr__(self) -> str:
        return f"DryRun(unit={self._rows.unit!r})"


def _unchecked(source: object) -> str:
    """Why there are no columns to check; empty if there are."""
    if source is None:
        return "no source is given"
    if not isinstance(source, str | Path) or "\0" in str(source):
        return ""  # a frame, or what is refused when it is opened
    text = str(source)
    if text.startswith(("postgresql://", "postgres://")):
        return "no server is asked"
    return "" if os.path.exists(text) or glob.glob(text, recursive=True) else "there is no such file"
