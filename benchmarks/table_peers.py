"""The private top ten pages by distinct sessions with peers that ask tables, each in the way that is fastest for it.

With a public list of pages and without one. Neither has a top-k: each releases a noisy count of every page, and the ten
largest are computed from these. That is private as well, and says more than was asked; but a session is then in as many
counts as it has pages, so their number has to be cut, while a selection from a public list needs no such cut.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from pathlib import Path

import opendp.prelude as opendp
import pipeline_dp
import polars as pl
import pyarrow.parquet as pq

Call = Callable[[], object]

EPSILON = 1.0
DELTA = 1e-9
"""Only where there is no public list."""

K = 10
PAGES_PER_SESSION = 10
"""A session counts for no more of them; it has eight rows, on average."""

opendp.enable_features("contrib")


def opendp_polars(path: Path, pages: int) -> Call:
    """Each session cut to ten pages and to one row of each: a bound that OpenDP sees to, whatever is in the table.

    Grouping by session and page is the quickest way it accepts for the latter. For the former its default, to keep
    pages at random, fails in 0.16.0; to keep the first is quicker anyway.
    """
    keys = _public(pages)

    def top() -> object:
        rows = _context(path, opendp.unit_of(contributions=1, identifier=pl.col("session"))).query()
        cut = rows.truncate_num_groups(PAGES_PER_SESSION, by=["page"], keep="first")
        once = cut.group_by("session", "page").agg(pl.len().alias("rows"))
        return _largest(once.group_by("page").agg(opendp.len(signed=True).alias("sessions")).with_keys(keys))

    return top


def opendp_polars_promised(path: Path, pages: int) -> Call:
    """Distinct sessions of each page, where the caller vouches for the bound: less work; private only if it holds."""
    keys = _public(pages)
    bound = opendp.polars.Bound(by=["page"], per_group=1, num_groups=PAGES_PER_SESSION)

    def top() -> object:
        rows = _context(path, opendp.unit_of(contributions=[bound])).query()
        sessions = pl.col("session").dp.n_unique(signed=True).alias("sessions")
        return _largest(rows.group_by("page").agg(sessions).with_keys(keys))

    return top


def pipelinedp_local(path: Path, pages: int) -> Call:
    """Numbers of privacy ids by the local backend; its rows are Python's, which are made outside the timing."""
    rows, keys = _rows_in_python(path), list(range(1, pages + 1))
    return lambda: _largest_of_pipelinedp(rows, PAGES_PER_SESSION, delta=0.0, public_partitions=keys)


def opendp_polars_unlisted(path: Path, _pages: int) -> Call:
    """Without a list of pages: one row of each session, kept at random, and counts above a threshold."""

    def top() -> object:
        unit = opendp.unit_of(contributions=1, identifier=pl.col("session"))
        rows = _context(path, unit, delta=DELTA).query().truncate_per_group(1)
        return _largest(rows.group_by("page").agg(opendp.len(signed=True).alias("sessions")))

    return top


def pipelinedp_local_unlisted(path: Path, _pages: int) -> Call:
    """Without a list of pages: one page of each session; Google's library selects those that are shown."""
    rows = _rows_in_python(path)
    return lambda: _largest_of_pipelinedp(rows, 1, delta=DELTA, public_partitions=None)


def _rows_in_python(path: Path) -> list[tuple[int, int]]:
    table = pq.read_table(path)
    return list(zip(table["session"].to_pylist(), table["page"].to_pylist(), strict=True))


def _largest_of_pipelinedp(
    rows: list[tuple[int, int]], pages_per_session: int, *, delta: float, public_partitions: list[int] | None
) -> object:
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda _: 0
    )
    parameters = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=pages_per_session,
        max_contributions_per_partition=1,
    )
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=delta)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    counts = engine.aggregate(rows, parameters, extractors, public_partitions=public_partitions)
    accountant.compute_budgets()
    return heapq.nlargest(K, counts, key=lambda each: each[1].privacy_id_count)


def _public(pages: int) -> pl.LazyFrame:
    return pl.LazyFrame({"page": pl.Series(range(1, pages + 1), dtype=pl.Int64)})


def _context(path: Path, unit: object, delta: float | None = None) -> opendp.Context:
    """One use of epsilon, so it is made anew for each question."""
    return opendp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=unit,
        privacy_loss=opendp.loss_of(epsilon=EPSILON, delta=delta),
        split_evenly_over=1,
        margins=[opendp.polars.Margin(max_length=pq.ParquetFile(path).metadata.num_rows)],
    )


def _largest(query: opendp.polars.LazyFrameQuery) -> object:
    return query.release().collect().sort("sessions", descending=True).head(K)["page"].to_list()
