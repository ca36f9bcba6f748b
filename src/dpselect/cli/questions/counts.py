"""The commands for the most common and the rarest values, the best date and the largest sum."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from dpselect.cli import candidates as public
from dpselect.cli.asking import NO_GROUPS, Asked, Chosen, InGroups
from dpselect.cli.options import Bounds, File, Number, Text, Whole


def most_common(source: File, column: str, /, *, chosen: Chosen, asked: Asked, grouped: InGroups = NO_GROUPS) -> int:
    """Find the most common value.

    dpselect most-common clicks.parquet page \\
        --unit session --candidates 1..41270 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'clicks/*.parquet', or a PostgreSQL URL.
        column: Column with the values.
    """
    return asked.answer(
        source,
        lambda data: data.most_common(
            column,
            epsilon=asked.epsilon,
            request=asked.request,
            **chosen.among(data, column, source),
            **grouped.among(data, source),
        ),
    )


def least_common(source: File, column: str, /, *, chosen: Chosen, asked: Asked, grouped: InGroups = NO_GROUPS) -> int:
    """Find the rarest value. A value that nobody has is the rarest of all.

    dpselect least-common adult.csv education_num \\
        --unit person_id --candidates 1..16 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column with the values.
    """
    return asked.answer(
        source,
        lambda data: data.least_common(
            column,
            epsilon=asked.epsilon,
            request=asked.request,
            **chosen.among(data, column, source),
            **grouped.among(data, source),
        ),
    )


def top_k(
    source: File,
    column: str,
    k: Whole,
    /,
    *,
    chosen: Chosen,
    asked: Asked,
    delta: Number = 0.0,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """Find the K most common values, best first.

    dpselect top-k clicks.parquet page 10 \\
        --unit session --candidates 1..41270 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'clicks/*.parquet', or a PostgreSQL URL.
        column: Column with the values.
        k: Number of values to select.
        delta: Probability with which the guarantee may fail. A value above 0 reduces the error from about ten values
            on.
    """
    return asked.answer(
        source,
        lambda data: data.top_k(
            column,
            k,
            epsilon=asked.epsilon,
            delta=delta,
            request=asked.request,
            **chosen.among(data, column, source),
            **grouped.among(data, source),
        ),
    )


def best_date(
    source: File,
    column: str,
    /,
    *,
    asked: Asked,
    dates: Text | None = None,
    bounds: Annotated[tuple[str, str] | None, Parameter(negative="")] = None,
    step: Whole = 1,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """Find the date on which the most units are free. Each row states that a unit is free on a date.

    dpselect best-date free_days.csv free_on \\
        --unit person --bounds 2026-12-01 2026-12-31 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob, or a PostgreSQL URL.
        column: Column of dates.
        dates: Public dates to choose from: a list 2026-12-01,2026-12-08, @file with one per line, or @codes.csv:column.
        bounds: First and last date, instead of a list.
        step: With --bounds, the number of days from one date to the next.
    """
    listed = None if dates is None else public.parsed_dates(dates, private=source)
    return asked.answer(
        source,
        lambda data: data.best_date(
            column,
            dates=listed,
            bounds=bounds,
            step=step,
            epsilon=asked.epsilon,
            request=asked.request,
            **grouped.among(data, source),
        ),
    )


def best_by(
    source: File,
    column: str,
    sum: str,
    /,
    *,
    chosen: Chosen,
    asked: Asked,
    clip: Bounds,
    scale: Number = 1.0,
    grouped: InGroups = NO_GROUPS,
) -> int:
    """Find the value of COLUMN with the largest sum of the numbers in SUM.

    dpselect best-by adult.csv education_num capital_gain \\
        --unit person_id --candidates 1..16 --clip 0 10000 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob, or a PostgreSQL URL.
        column: Column with the values.
        sum: Column of numbers to add up.
        clip: Smallest and largest amount that one unit may add to a value; public. The error grows with the range.
        scale: Multiply the numbers by this and round them to whole numbers: 100 counts cents.
    """
    return asked.answer(
        source,
        lambda data: data.best_by(
            column,
            sum=sum,
            clip=clip,
            scale=scale,
            epsilon=asked.epsilon,
            request=asked.request,
            **chosen.among(data, column, source),
            **grouped.among(data, source),
        ),
    )
