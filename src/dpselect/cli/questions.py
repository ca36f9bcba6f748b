"""The commands that ask a table."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from dpselect.cli import candidates as public
from dpselect.cli.options import Bounds, Json, Number, Whole
from dpselect.cli.output import show
from dpselect.cli.progress import scan_progress
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import QuantilesMethod
from dpselect.summaries import CandidateKind

Levels = Annotated[str, Parameter(allow_leading_hyphen=True)]
Candidates = Annotated[str, Parameter(allow_leading_hyphen=True)]


def most_common(
    source: str,
    column: str,
    /,
    *,
    unit: str,
    candidates: Candidates,
    epsilon: Number,
    candidates_as: CandidateKind | None = None,
    as_json: Json = False,
) -> None:
    """The value that the most units have.

    dpselect most-common clicks.parquet page \\
        --unit session --candidates 1..41270 --epsilon 0.5

    Args:
        source: CSV or Parquet file, or a quoted glob such as 'clicks/*.parquet'.
        column: Column to look at.
        unit: Column that says whose row it is: who is protected.
        candidates: Public values to choose from: a range 1..100, a list red,green,blue, or @file with one a line. The
            answer is always one of them, even if none occurs.
        epsilon: Privacy loss of this answer; smaller is more private and less accurate.
        candidates_as: How to read the candidates. Default: as the column's type; in CSV, integers if all look like it.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress)
        values = public.parsed(candidates, kind=candidates_as or data.candidate_kind(column))
        release = data.most_common(column, candidates=values, epsilon=epsilon)
    show(release, as_json=as_json)


def top_k(
    source: str,
    column: str,
    k: Whole,
    /,
    *,
    unit: str,
    candidates: Candidates,
    epsilon: Number,
    delta: Number = 0.0,
    candidates_as: CandidateKind | None = None,
    as_json: Json = False,
) -> None:
    """The K values that the most units have, best first.

    dpselect top-k clicks.parquet page 10 \\
        --unit session --candidates @pages.txt --epsilon 1

    Args:
        source: CSV or Parquet file, or a quoted glob such as 'clicks/*.parquet'.
        column: Column to look at.
        k: How many to select.
        unit: Column that says whose row it is: who is protected.
        candidates: Public values to choose from: a range 1..100, a list red,green,blue, or @file with one a line. The
            answer is always one of them, even if none occurs.
        epsilon: Privacy loss of the whole answer; smaller is more private and less accurate.
        delta: Probability with which the guarantee may fail; more than 0 helps from about ten values on.
        candidates_as: How to read the candidates. Default: as the column's type; in CSV, integers if all look like it.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress)
        values = public.parsed(candidates, kind=candidates_as or data.candidate_kind(column))
        release = data.top_k(column, k, candidates=values, epsilon=epsilon, delta=delta)
    show(release, as_json=as_json)


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
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress)
        release = data.quantile(
            column, level, bounds=bounds, epsilon=epsilon, step=step, max_rows_per_unit=max_rows_per_unit
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
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress)
        release = data.quantiles(
            column,
            _numbers(levels),
            bounds=bounds,
            epsilon=epsilon,
            step=step,
            max_rows_per_unit=max_rows_per_unit,
            method=method,
        )
    show(release, as_json=as_json)


def _numbers(levels: str) -> list[float]:
    try:
        return [float(level) for level in levels.split(",")]
    except ValueError:
        raise InvalidParameterError("levels", levels, "numbers with commas between them, such as 0.25,0.5") from None
