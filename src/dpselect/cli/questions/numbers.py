"""The commands for a column of numbers."""

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
    """Find the quantile at LEVEL: about this share of the values lies below it. 0.5 is the median.

    dpselect quantile adult.csv age 0.5 \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        level: Share of the values below the quantile, from 0 to 1.
        bounds: Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count
            as that bound.
        step: Distance between possible answers, starting at the lower bound, such as 1 for ages in years; it has to
            divide the distance between the bounds. Only with a step is there an error bound. Default: any number
            between the bounds.
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
    """Find the median: about half of the values lie below it.

    dpselect median adult.csv age \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        bounds: Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count
            as that bound.
        step: Distance between possible answers, starting at the lower bound, such as 1 for ages in years; it has to
            divide the distance between the bounds. Only with a step is there an error bound. Default: any number
            between the bounds.
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
    """Find several quantiles at the cost of one epsilon.

    dpselect quantiles adult.csv age 0.25,0.5,0.75 \\
        --unit person_id --bounds 0 120 --step 1 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        levels: Different shares of the values, from 0 to 1, separated by commas.
        bounds: Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count
            as that bound.
        step: Distance between possible answers, starting at the lower bound, such as 1 for ages in years; it has to
            divide the distance between the bounds. Use it if many units have the same value. Default: any number
            between the bounds.
        method: joint draws all quantiles at once. halving draws the middle one first, then the others on each side; it
            is better for very many levels.
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
        raise InvalidParameterError("levels", typed(levels), "numbers separated by commas, such as 0.25,0.5") from None


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
    """Find the mean of one value per unit. The number of units has to be public.

    dpselect mean adult.csv age \\
        --unit person_id --bounds 0 120 --step 0.5 --units 32561 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        bounds: Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count
            as that bound.
        step: Values are rounded to multiples of this above the lower bound; it has to divide the distance between the
            bounds.
        units: Number of units, as publicly known.
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
    """Find the price that earns the most if everybody buys who offers at least the price.

    dpselect best-price adult.csv capital_gain \\
        --unit person_id --prices 500,1000,2500,5000,7000 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'offers/*.parquet', or a PostgreSQL URL.
        column: Column of numbers: the most that each unit would pay.
        prices: Public prices to choose from: a range 1..100, a list 4.99,9.99, @file with one per line, or
            @codes.csv:column. The error grows with the highest price. Give either this or --bounds.
        bounds: Smallest and largest price, public; the answer is any price between them. There is no error bound then.
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
    """Find how the values are distributed: the share of the units in each bin.

    dpselect density adult.csv age \\
        --unit person_id --bounds 0 120 --bins 12 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column of numbers.
        bounds: Start of the first bin and end of the last. Public, never taken from the column; values beyond belong to
            the outer bins.
        bins: Number of bins of equal width.
        method: counts adds noise to the count of each bin and is nearly always more accurate. sample draws a sample
            that is close to the units in Kolmogorov-Smirnov distance.
        units: For a sample, the number of units (in each group), as publicly known.
        sample_size: For a sample, its number of points. Default: computed from epsilon and the number of units.
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
