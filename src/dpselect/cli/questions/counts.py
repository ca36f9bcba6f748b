"""What most units have, what few have, and when most are free."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from dpselect.cli import candidates as public
from dpselect.cli.asking import NO_GROUPS, Asked, Chosen, InGroups
from dpselect.cli.options import Bounds, File, Number, Text, Whole


def most_common(source: File, column: str, /, *, chosen: Chosen, asked: Asked, grouped: InGroups = NO_GROUPS) -> int:
    """The value that the most units have.

    dpselect most-common clicks.parquet page \\
        --unit session --candidates 1..41270 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'clicks/*.parquet', or a PostgreSQL URL.
        column: Column to look at.
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
    """The value that the fewest units have; one that nobody has is the rarest of all.

    dpselect least-common adult.csv education_num \\
        --unit person_id --candidates 1..16 --epsilon 0.5

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'people/*.csv', or a PostgreSQL URL.
        column: Column to look at.
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
    """The K values that the most units have, best first.

    dpselect top-k clicks.parquet page 10 \\
        --unit session --candidates 1..41270 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob such as 'clicks/*.parquet', or a PostgreSQL URL.
        column: Column to look at.
        k: How many to select.
        delta: Probability with which the guarantee may fail; more than 0 helps from about ten values on.
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
    """The date on which the most units are free. A row says that its unit is free on a date.

    dpselect best-date free_days.csv free_on \\
        --unit person --bounds 2026-12-01 2026-12-31 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob, or a PostgreSQL URL.
        column: Column of dates.
        dates: Public dates to choose from: a list 2026-12-01,2026-12-08, @file with one a line, or @codes.csv:column.
        bounds: Instead of a list, the first and the last date.
        step: With --bounds, days from one date to the next.
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
    """The value of COLUMN for which the numbers in SUM add up to the most.

    dpselect best-by adult.csv education_num capital_gain \\
        --unit person_id --candidates 1..16 --clip 0 10000 --epsilon 1

    Args:
        source: CSV, Parquet or JSON lines file, a quoted glob, or a PostgreSQL URL.
        column: Column to look at.
        sum: Column of numbers to add up.
        clip: The least and the most that one unit adds to a value, public. The error grows with it.
        scale: The numbers are multiplied by this and rounded to whole ones: 100 counts cents.
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
