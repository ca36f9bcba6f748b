"""Numbers that a column of numbers leads to."""

from __future__ import annotations

from typing import Literal

from dpselect.cli import candidates as public
from dpselect.cli.asking import NO_GROUPS, ONE_ROW, Asked, InGroups, OfRows
from dpselect.cli.options import Bounds, File, Number, Step, Text, Whole
from dpselect.errors import InvalidParameterError, typed
from dpselect.mechanisms import QuantilesMethod


def quantile(
    source: File,
    column: str,
    level: Number,
    /,
    *,
    asked: Asked,
    bounds: Bounds,
    step: Step | None = None,
    rows: OfRows = ONE_ROW,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """A number that about the share LEVEL of the values is below; 0.5 is the median.

    dpselect quantile adult.csv age 0.5 \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        level: Share of the values, from 0 to 1.
        bounds: Smallest and largest answer, public and not taken from the column; values beyond count as the bound.
        step: Answer in steps of this from the smallest on, such as 1 for ages in years; it divides the distance of the
            bounds. Gives a bound on the error beforehand. Default: any number between them.
    """
    return asked.answer(
        source,
        lambda data: data.quantile(
            column,
            level,
            bounds=bounds,
            epsilon=asked.epsilon,
            step=step,
            max_rows_per_unit=rows.max_rows_per_unit,
            request=asked.request,
            **grouped.among(data, source),
        ),
    )


def median(
    source: File,
    column: str,
    /,
    *,
    asked: Asked,
    bounds: Bounds,
    step: Step | None = None,
    rows: OfRows = ONE_ROW,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """The number that about half of the values are below.

    dpselect median adult.csv age \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        bounds: Smallest and largest answer, public and not taken from the column; values beyond count as the bound.
        step: Answer in steps of this from the smallest on, such as 1 for ages in years; it divides the distance of the
            bounds. Gives a bound on the error beforehand. Default: any number between them.
    """
    return quantile(source, column, 0.5, asked=asked, bounds=bounds, step=step, rows=rows, grouped=grouped)


def quantiles(
    source: File,
    column: str,
    levels: Text,
    /,
    *,
    asked: Asked,
    bounds: Bounds,
    step: Step | None = None,
    method: QuantilesMethod = "joint",
    rows: OfRows = ONE_ROW,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """Numbers that about these shares of the values are below, for one price.

    dpselect quantiles adult.csv age 0.25,0.5,0.75 \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        levels: Different shares of the values, from 0 to 1, with commas between them.
        bounds: Bounds of the answers, public and not taken from the column; values beyond count as the bound.
        step: Answer in steps of this from the smallest on, such as 1 for ages in years; it divides the distance of the
            bounds. Wanted where many have the same value. Default: any number between them.
        method: All by one draw, or the middle one first and so on: better for very many levels.
    """
    wanted = _numbers(levels)
    return asked.answer(
        source,
        lambda data: data.quantiles(
            column,
            wanted,
            bounds=bounds,
            epsilon=asked.epsilon,
            step=step,
            max_rows_per_unit=rows.max_rows_per_unit,
            method=method,
            request=asked.request,
            **grouped.among(data, source),
        ),
    )


def _numbers(levels: str) -> list[float]:
    try:
        return [float(level) for level in levels.split(",")]
    except ValueError:
        raise InvalidParameterError(
            "levels", typed(levels), "numbers with commas between them, such as 0.25,0.5"
        ) from None


def mean(
    source: File,
    column: str,
    /,
    *,
    asked: Asked,
    bounds: Bounds,
    step: Step,
    units: Whole,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """The mean of the values, one of each unit, where how many units there are is public.

    dpselect mean adult.csv age \\
        --unit person_id --bounds 0 120 --step 0.5 --units 32561 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        bounds: Smallest and largest answer, public and not taken from the column; values beyond count as the bound.
        step: Answer in steps of this from the smallest on; it divides the distance of the bounds.
        units: How many units there are, as far as is publicly known.
    """
    return asked.answer(
        source,
        lambda data: data.mean(
            column,
            bounds=bounds,
            step=step,
            units=units,
            epsilon=asked.epsilon,
            request=asked.request,
            **grouped.among(data, source),
        ),
    )


def best_price(
    source: File,
    column: str,
    /,
    *,
    asked: Asked,
    prices: Text | None = None,
    bounds: Bounds | None = None,
    rows: OfRows = ONE_ROW,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """The price that earns the most, if everybody buys whose offer is at least the price.

    dpselect best-price adult.csv capital_gain \\
        --unit person_id --prices 500,1000,2500,5000,7000 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'offers/*.parquet', or a PostgreSQL URL.
        column: Column of numbers, the most that each would pay.
        prices: Public prices to choose from: a range 1..100, a list 4.99,9.99, @file with one a line, or
            @codes.csv:column. The answer is one of them, and the error grows with the highest. Either this or --bounds.
        bounds: Smallest and largest answer, public: any price between them. Gives no bound on the error.
    """
    listed = None if prices is None else public.parsed_prices(prices, private=source)
    return asked.answer(
        source,
        lambda data: data.best_price(
            column,
            prices=listed,
            bounds=bounds,
            epsilon=asked.epsilon,
            max_rows_per_unit=rows.max_rows_per_unit,
            request=asked.request,
            **grouped.among(data, source),
        ),
    )


def density(
    source: File,
    column: str,
    /,
    *,
    asked: Asked,
    bounds: Bounds,
    bins: Whole,
    method: Literal["counts", "sample"] = "counts",
    units: Whole | None = None,
    sample_size: Whole | None = None,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """How the values are distributed: the share of the units in each bin.

    dpselect density adult.csv age \\
        --unit person_id --bounds 0 120 --bins 12 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        bounds: Where the first bin begins and the last one ends, public and not taken from the column; values beyond
            belong to the outer bins.
        bins: Number of bins, all of one width.
        method: Noise on the count of each bin, nearly always the more accurate one, or a sample that is close to the
            units in Kolmogorov and Smirnov's distance.
        units: For a sample, how many units there are, as far as is publicly known; in each group.
        sample_size: For a sample, of how many points. Default: by epsilon and the number of units.
    """
    return asked.answer(
        source,
        lambda data: data.density(
            column,
            bounds=bounds,
            bins=bins,
            epsilon=asked.epsilon,
            method=method,
            units=units,
            sample_size=sample_size,
            request=asked.request,
            **grouped.among(data, source),
        ),
    )
