"""Numbers that a column of numbers leads to."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from dpselect.cli import candidates as public
from dpselect.cli.options import AccountName, Bounds, Json, LedgerUrl, Number, RequestId, Whole
from dpselect.cli.output import show
from dpselect.cli.progress import scan_progress
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import QuantilesMethod

Levels = Annotated[str, Parameter(allow_leading_hyphen=True)]
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


def quantiles(
    source: str,
    column: str,
    levels: Levels,
    /,
    *,
    unit: str,
    bounds: Bounds,
    epsilon: Number,
    step: Number | None = None,
    method: QuantilesMethod = "joint",
    max_rows_per_unit: Whole = 1,
    ledger: LedgerUrl = None,
    account: AccountName = None,
    request: RequestId = None,
    as_json: Json = False,
) -> None:
    """Numbers that about these shares of the values are below, for one price.

    dpselect quantiles adult.csv age 0.25,0.5,0.75 \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV or Parquet file, or a quoted glob such as 'people/*.csv'.
        column: Column of numbers.
        levels: Different shares of the values, from 0 to 1, with commas between them.
        unit: Column that says whose row it is: who is protected.
        bounds: Bounds of the answers, public and not taken from the column; values beyond count as the bound.
        epsilon: Privacy loss of all answers together; smaller is more private and less accurate.
        step: Answer in steps of this from the smallest on, such as 1 for ages in years; it divides the distance of the
            bounds. Wanted where many have the same value. Default: any number between them.
        method: All by one draw, or the middle one first and so on: better for very many levels.
        max_rows_per_unit: Most rows of one unit; of more, so many are chosen at random. The error grows with it.
        ledger: Ledger that the answer is charged to before it is drawn, such as sqlite:///budget.db.
        account: The account of it.
        request: Id of your choice. The same question under the same id again gives the same answer, for nothing.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress, ledger=ledger, account=account)
        release = data.quantiles(
            column,
            _numbers(levels),
            bounds=bounds,
            epsilon=epsilon,
            step=step,
            max_rows_per_unit=max_rows_per_unit,
            method=method,
            request=request,
        )
    show(release, as_json=as_json)


def _numbers(levels: str) -> list[float]:
    try:
        return [float(level) for level in levels.split(",")]
    except ValueError:
        raise InvalidParameterError("levels", levels, "numbers with commas between them, such as 0.25,0.5") from None


def price(
    source: str,
    column: str,
    /,
    *,
    unit: str,
    prices: Prices | None = None,
    bounds: Bounds | None = None,
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
            one of them, and the error grows with the highest. Either this or --bounds.
        bounds: Smallest and largest answer, public: any price between them. Gives no bound on the error.
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
        listed = None if prices is None else public.parsed_prices(prices)
        release = data.best_price(
            column,
            prices=listed,
            bounds=bounds,
            epsilon=epsilon,
            max_rows_per_unit=max_rows_per_unit,
            request=request,
        )
    show(release, as_json=as_json)


def density(
    source: str,
    column: str,
    /,
    *,
    unit: str,
    bounds: Bounds,
    bins: Whole,
    epsilon: Number,
    method: Literal["counts", "sample"] = "counts",
    units: Whole | None = None,
    sample_size: Whole | None = None,
    ledger: LedgerUrl = None,
    account: AccountName = None,
    request: RequestId = None,
    as_json: Json = False,
) -> None:
    """How the values are distributed: the share of the units in each bin.

    dpselect density adult.csv age \\
        --unit person_id --bounds 0 120 --bins 12 --epsilon 0.5

    Args:
        source: CSV or Parquet file, or a quoted glob such as 'people/*.csv'.
        column: Column of numbers.
        unit: Column that says whose row it is: who is protected.
        bounds: Where the first bin begins and the last one ends, public and not taken from the column; values beyond
            belong to the outer bins.
        bins: Number of bins, all of one width.
        epsilon: Privacy loss of this answer; smaller is more private and less accurate.
        method: Noise on the count of each bin, nearly always the more accurate one, or a sample that is close to the
            units in Kolmogorov and Smirnov's distance.
        units: For a sample, how many units there are, as far as is publicly known.
        sample_size: For a sample, of how many points. Default: by epsilon and the number of units.
        ledger: Ledger that the answer is charged to before it is drawn, such as sqlite:///budget.db.
        account: The account of it.
        request: Id of your choice. The same question under the same id again gives the same answer, for nothing.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress, ledger=ledger, account=account)
        release = data.density(
            column,
            bounds=bounds,
            bins=bins,
            epsilon=epsilon,
            method=method,
            units=units,
            sample_size=sample_size,
            request=request,
        )
    show(release, as_json=as_json)
