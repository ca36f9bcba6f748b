"""Numbers that a column of numbers leads to."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from dpselect.cli import candidates as public
from dpselect.cli.options import AccountName, Bounds, Json, LedgerUrl, Number, RequestId, Whole
from dpselect.cli.output import show
from dpselect.cli.progress import scan_progress

Prices = Annotated[str, Parameter(allow_leading_hyphen=True)]


def quantile(
    source: str,
    column: str,
    level: Number,
    /,
    *,
    unit: str,
    bounds: Bounds,
    epsilon: Number,
    step: Number | None = None,
    max_rows_per_unit: Whole = 1,
    ledger: LedgerUrl = None,
    account: AccountName = None,
    request: RequestId = None,
    as_json: Json = False,
) -> None:
    """A number that about the share LEVEL of the values is below; 0.5 is the median.

    dpselect quantile adult.csv age 0.5 \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV or Parquet file, or a quoted glob such as 'people/*.csv'.
        column: Column of numbers.
        level: Share of the values, from 0 to 1.
        unit: Column that says whose row it is: who is protected.
        bounds: Smallest and largest answer, public and not taken from the column; values beyond count as the bound.
        epsilon: Privacy loss of this answer; smaller is more private and less accurate.
        step: Answer in steps of this from the smallest on, such as 1 for ages in years; it divides the distance of the
            bounds. Gives a bound on the error beforehand. Default: any number between them.
        max_rows_per_unit: Most rows of one unit; of more, so many are chosen at random. The error grows with it.
        ledger: Ledger that the answer is charged to before it is drawn, such as sqlite:///budget.db.
        account: The account of it.
        request: Id of your choice. The same question under the same id again gives the same answer, for nothing.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress, ledger=ledger, account=account)
        release = data.quantile(
            column,
            level,
            bounds=bounds,
            epsilon=epsilon,
            step=step,
            max_rows_per_unit=max_rows_per_unit,
            request=request,
        )
    show(release, as_json=as_json)


def price(
    source: str,
    column: str,
    /,
    *,
    unit: str,
    prices: Prices,
    epsilon: Number,
    max_rows_per_unit: Whole = 1,
    ledger: LedgerUrl = None,
    account: AccountName = None,
    request: RequestId = None,
    as_json: Json = False,
) -> None:
    """The price that earns the most, if everybody buys whose offer is at least the price.

    dpselect price offers.csv offer \\
        --unit customer --prices 4.99,9.99,19.99 --epsilon 0.5

    Args:
        source: CSV or Parquet file, or a quoted glob such as 'offers/*.parquet'.
        column: Column of numbers, the most that each would pay.
        unit: Column that says whose row it is: who is protected.
        prices: Public prices to choose from: a range 1..100, a list 4.99,9.99, or @file with one a line. The answer is
            one of them, and the error grows with the highest.
        epsilon: Privacy loss of this answer; smaller is more private and less accurate.
        max_rows_per_unit: Most rows of one unit; of more, so many are chosen at random. The error grows with it.
        ledger: Ledger that the answer is charged to before it is drawn, such as sqlite:///budget.db.
        account: The account of it.
        request: Id of your choice. The same question under the same id again gives the same answer, for nothing.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress, ledger=ledger, account=account)
        listed = public.parsed_prices(prices)
        release = data.best_price(
            column, prices=listed, epsilon=epsilon, max_rows_per_unit=max_rows_per_unit, request=request
        )
    show(release, as_json=as_json)
