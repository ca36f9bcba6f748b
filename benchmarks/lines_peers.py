"""The top ten by distinct units, from a path to a release, beside the peers that can answer it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks import table_peers
from benchmarks.line import Line
from benchmarks.lines_tables import HERE, PAGES, ask, ask_unlisted, write_clicks, write_values
from benchmarks.timing import ratio

MANY, FEW = 10**7, 10**6
"""Rows; the fewer where Python reads each of them."""

BUDGET = 120.0
"""Seconds: some of theirs take twenty."""

PEERS: dict[str, tuple[Callable[[Path, int], table_peers.Call], int]] = {
    "OpenDP Polars, rows cut for each session": (table_peers.opendp_polars, MANY),
    "OpenDP Polars, the caller vouches for the bound": (table_peers.opendp_polars_promised, MANY),
    "PipelineDP, local": (table_peers.pipelinedp_local, FEW),
}

UNLISTED: dict[str, Callable[[Path, int], table_peers.Call]] = {
    "OpenDP Polars": table_peers.opendp_polars_unlisted,
    "PipelineDP, local, with Google's selection": table_peers.pipelinedp_local_unlisted,
}
UNLISTED_BUDGET = 30.0
"""Seconds."""


def lines() -> Iterator[Line]:
    """One for each peer, theirs in units of ours; with a public list and without."""
    with tempfile.TemporaryDirectory(prefix=".peers-", dir=HERE) as folder:
        paths = {rows: write_clicks(Path(folder, f"{rows}.parquet"), rows) for rows in (MANY, FEW)}
        for case, (peer, rows) in PEERS.items():
            ours = partial(ask, paths[rows])
            ours()
            yield Line.of(
                ratio(peer(paths[rows], PAGES), ours, pairs=3, budget=BUDGET),
                what="top 10 by distinct units by peers / ours",
                case=f"{case}, {PAGES:,} pages",
                n=rows,
                dtype="rows",
                unit="x",
                at_least=3.0,
            )
        path = write_values(Path(folder, "values.parquet"), FEW)
        ours = partial(ask_unlisted, path)
        ours()
        for case, peer in UNLISTED.items():
            yield Line.of(
                ratio(peer(path, PAGES), ours, pairs=3, budget=UNLISTED_BUDGET),
                what="top 10 without a public list by peers / ours",
                case=f"{case}, one page per session",
                n=FEW,
                dtype="rows",
                unit="x",
                at_least=3.0,
            )
