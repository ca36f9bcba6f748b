"""All questions, without a table."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dpselect.backends.opening import origin_of
from dpselect.ledger import Ledger
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.session.choices import ChoiceQuestions
from dpselect.session.forecast import Forecast, Forecasting
from dpselect.session.numbers import NumberQuestions
from dpselect.session.rows import Rows, UnopenedTable
from dpselect.summaries import CandidateKind


class DryRun(ChoiceQuestions[Forecast], NumberQuestions[Forecast]):
    """The questions of a `dpselect.Dataset` without the data: what they would cost, and how accurate they would be.

    It reads no table and writes to no ledger. Its results are not private: they follow from the arguments alone.

    Args:
        unit: name of the column that would identify whom a row belongs to.
        ledger: a `dpselect.Ledger` or its URL, which is only read. Requires `account`.
        account: name of the account that would be charged.
        neighbours: as for `dpselect.Dataset`.
        source, table: as for the `dpselect.Dataset`; needed only with a `request`, to find out whether it was answered.

    Raises:
        InvalidParameterError: only one of `ledger` and `account` is given, or `neighbours` is unknown.

    >>> forecast = DryRun(unit="session").most_common("page", candidates=range(1, 41271), epsilon=0.5)
    >>> print(forecast)
    Differentially private: epsilon = 0.5, when one session is added or removed.
    With 99% confidence the count of the released page is within 29 of the best.
    To be drawn by PermuteAndFlip, out of 41,270 candidates given by the caller. Nothing would be charged to a ledger;
    the costs of releases on the same data add up.
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        unit: str,
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        neighbours: Neighbours | Literal["add_remove", "replace_one"] = Neighbours.ADD_REMOVE,
        source: object = None,
        table: str | None = None,
    ) -> None:
        self._neighbours = neighbouring_relation(neighbours)
        self._spending = Forecasting(ledger, account)
        origin = "" if source is None else origin_of(source, table=table)
        self._rows = Rows(UnopenedTable(), origin=origin, unit=unit)

    def __repr__(self) -> str:
        return f"DryRun(unit={self._rows.unit!r})"

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """Empty: the contents of a column are not examined."""
        del column
        return ()
