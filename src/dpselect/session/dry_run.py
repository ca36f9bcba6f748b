"""All questions, asked of no table."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dpselect.backends.opening import origin_of
from dpselect.ledger import Ledger
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.session.forecast import Forecast, Forecasting
from dpselect.session.no_table import NoTable
from dpselect.session.questions import Questions
from dpselect.session.rows import Rows
from dpselect.summaries import CandidateKind


class DryRun(Questions[Forecast]):
    """The questions of a `dpselect.Dataset` without the data: what would be charged, and how far off would it be?

    Touches no table, writes to no ledger, and needs no privacy: everything it says follows from the arguments.

    Args:
        unit: name of the column that would say whose row it is.
        ledger: a `dpselect.Ledger` or its URL, which is only read. Goes together with `account`.
        account: name of the account that would be charged.
        neighbours: as for `dpselect.Dataset`.
        source, table: of the `dpselect.Dataset` that is meant; only a `request` needs them, to tell whether it was
            answered.

    Raises:
        InvalidParameterError: only one of `ledger` and `account`, or no such `neighbours`.

    >>> forecast = DryRun(unit="session").most_common("page", candidates=range(1, 41271), epsilon=0.5)
    >>> print(forecast)
    Differentially private: epsilon = 0.5, when one session is added or removed.
    With 99% confidence the count of the released page is within 29 of the best.
    To be drawn by PermuteAndFlip, out of 41,270 candidates given by the caller. Nothing would be charged to a ledger:
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
        self._rows = Rows(NoTable(), origin=origin, unit=unit)

    def __repr__(self) -> str:
        return f"DryRun(unit={self._rows.unit!r})"

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """None: what a column holds is not looked at."""
        del column
        return ()
