"""All questions, without a row."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dpselect.formats import Format, declared
from dpselect.privacy import EachRow, Neighbours, neighbouring_relation
from dpselect.rows.opening import open_table, origin_of
from dpselect.rows.table import Table
from dpselect.session.asking import Asking
from dpselect.session.forecast import Forecast, Forecasting
from dpselect.session.methods import with_questions
from dpselect.session.rows import Rows, UnopenedTable, UnreadEngine

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


class DryRun(Asking):
    """The questions of a `dpselect.Dataset` without the data: what they would cost, and how accurate they would be.

    It reads no row and writes to no ledger. Its results are not private: they follow from the arguments and from the
    types of the columns.

    Args:
        unit: name of the column that would identify whom a row belongs to.
        ledger: a `dpselect.Ledger` or its URL, which is only read. Requires `account`.
        account: name of the account that would be charged.
        neighbours: as for `dpselect.Dataset`.
        source, table: as for the `dpselect.Dataset`. Of a file or a frame the columns are then checked as for an
            answer: their names and, where the format has types, the types. A server is not asked. Needed only with a
            `request`, to find out whether it was answered.
        format: as for the `dpselect.Dataset`.

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
        self._spending = Forecasting(ledger, account)
        origin = "" if source is None else origin_of(source, table=table)
        said = declared(format)
        self.unchecked = _unchecked(source)
        if self.unchecked:
            columns: Table = UnopenedTable()
        else:
            columns = Table(UnreadEngine.over(open_table(source, table=table, format=said).engine))
        self._rows = Rows(columns, origin=origin, unit=unit, format=said)

    if TYPE_CHECKING:

        def __getattr__(self, question: str) -> Callable[..., Forecast]: ...

    def __repr__(self) -> str:
        return f"DryRun(unit={self._rows.unit!r})"


with_questions(DryRun, of="DryRun", returns=Forecast)


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
