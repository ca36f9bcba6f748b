"""Measure every line, print it with its verdict, write ``results.json``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import chain

from rich.console import Console

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
from benchmarks.results import machine, write

SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
BIG = 10**8


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--big", action="store_true", help="also 10^8 scores (needs 3 GB of memory) and 10^8 rows")
    sizes = [*SIZES, BIG] if parser.parse_args().big else SIZES
    console = Console()
    measured: list[Line] = []
    for line in all_lines(sizes):
        measured.append(line)
        console.print(" | ".join(row_of(line)), style=None if line.reached is not False else "red", soft_wrap=True)
    write(measured, machine())
    short = [line for line in measured if line.reached is False]
    console.print(f"{len(measured)} lines measured, {len(short)} fall short of what they had to reach")


def all_lines(sizes: list[int]) -> Iterator[Line]:
    """In the order of the tables: what is asked of one selection first."""
    return chain(
        lines_select.lines(sizes),
        lines_calls.lines(),
        lines_many.lines(),
        lines_rows.lines(),
        lines_unlike.lines(),
        lines_memory.lines(),
        lines_pmf.lines(),
        lines_planning.lines(),
        lines_optimal.lines(),
        lines_losses.lines(),
        lines_trees.lines(),
        lines_quantile.lines(),
        lines_density.lines(),
        lines_numbers.lines(),
        lines_counts.lines(),
        lines_means.lines(),
        lines_streams.lines(),
        lines_accounting.lines(),
        lines_leak.lines(),
        lines_ledger.lines(),
        lines_tables.lines(sizes),
        lines_engines.lines(),
        lines_spark.lines(),
        lines_peers.lines(),
    )


if __name__ == "__main__":
    main()
