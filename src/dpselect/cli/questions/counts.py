"""What most units have."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from dpselect.cli import candidates as public
from dpselect.cli.options import AccountName, Json, LedgerUrl, Number, RequestId, Whole
from dpselect.cli.output import show
from dpselect.cli.progress import scan_progress
from dpselect.summaries import CandidateKind

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
    ledger: LedgerUrl = None,
    account: AccountName = None,
    request: RequestId = None,
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
        ledger: Ledger that the answer is charged to before it is drawn, such as sqlite:///budget.db.
        account: The account of it.
        request: Id of your choice. The same question under the same id again gives the same answer, for nothing.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress, ledger=ledger, account=account)
        values = public.parsed(candidates, kind=candidates_as or data.candidate_kind(column))
        release = data.most_common(column, candidates=values, epsilon=epsilon, request=request)
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
    ledger: LedgerUrl = None,
    account: AccountName = None,
    request: RequestId = None,
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
        ledger: Ledger that the answer is charged to before it is drawn, such as sqlite:///budget.db.
        account: The account of it.
        request: Id of your choice. The same question under the same id again gives the same answer, for nothing.
        as_json: Print the certificate as JSON instead of a table.
    """
    from dpselect.session import Dataset

    with scan_progress() as progress:
        data = Dataset(source, unit=unit, progress=progress, ledger=ledger, account=account)
        values = public.parsed(candidates, kind=candidates_as or data.candidate_kind(column))
        release = data.top_k(column, k, candidates=values, epsilon=epsilon, delta=delta, request=request)
    show(release, as_json=as_json)
