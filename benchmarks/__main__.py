"""Measure every line, print it with its verdict, write ``results.json``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from benchmarks import (
    lines_accounting,
    lines_calls,
    lines_counts,
    lines_density,
    lines_engines,
    lines_leak,
    lines_ledger,
    lines_losses,
    lines_many,
    lines_means,
    lines_memory,
    lines_numbers,
    lines_optimal,
    lines_peers,
    lines_planning,
    lines_pmf,
    lines_quantile,
    lines_rows,
    lines_select,
    lines_spark,
    lines_streams,
    lines_tables,
    lines_trees,
    lines_unlike,
)
from benchmarks.line import Line
from benchmarks.report import row_of
from benchmarks.results import machine, read, renewed, write

SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
BIG = 10**8


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--big", action="store_true", help="also 10^8 scores (needs 3 GB of memory) and 10^8 rows")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="measure these alone, and keep what else was measured"
    )
    given = parser.parse_args()
    sizes = [*SIZES, BIG] if given.big else SIZES
    measured: list[Line] = []
    for line in all_lines(sizes, given.only):
        measured.append(line)
        print(" | ".join(row_of(line)), flush=True)
    short = [line for line in measured if line.reached is False]
    print(f"{len(measured)} lines measured, {len(short)} fall short of what they had to reach")
    write(renewed(read()[0], measured) if given.only else measured, machine())


def all_lines(sizes: list[int], only: Sequence[str] | None = None) -> Iterator[Line]:
    """In the order of the tables: what is asked of one selection first."""
    parts: dict[str, Callable[[], Iterable[Line]]] = {
        "select": lambda: lines_select.lines(sizes),
        "calls": lines_calls.lines,
        "many": lines_many.lines,
        "rows": lines_rows.lines,
        "unlike": lines_unlike.lines,
        "memory": lines_memory.lines,
        "pmf": lines_pmf.lines,
        "planning": lines_planning.lines,
        "optimal": lines_optimal.lines,
        "losses": lines_losses.lines,
        "trees": lines_trees.lines,
        "quantile": lines_quantile.lines,
        "density": lines_density.lines,
        "numbers": lines_numbers.lines,
        "counts": lines_counts.lines,
        "means": lines_means.lines,
        "streams": lines_streams.lines,
        "accounting": lines_accounting.lines,
        "leak": lines_leak.lines,
        "ledger": lines_ledger.lines,
        "tables": lambda: lines_tables.lines(sizes),
        "engines": lines_engines.lines,
        "spark": lines_spark.lines,
        "peers": lines_peers.lines,
    }
    return chain.from_iterable(parts[name]() for name in only or parts)


if __name__ == "__main__":
    main()
