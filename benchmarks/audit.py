"""How many broken mechanisms `dpselect.audit` finds, at how many draws, and how often it is wrong about right ones.

``python -m benchmarks.audit | python docs/blocks.py docs/auditing.md audit`` renews the tables of the document.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import chain

from tests.auditing.broken import BROKEN
from tests.auditing.cases import Case
from tests.auditing.right import RIGHT


def main() -> None:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__)
    parser.add_argument("--draws", type=int, default=50_000, help="for each neighbour of a broken mechanism")
    parser.add_argument("--seeds", type=int, default=5, help="audits of each broken mechanism")
    parser.add_argument("--runs", type=int, default=42, help="audits of each right mechanism, of 1,000 draws")
    given = parser.parse_args()
    for line in chain(broken(given.draws, given.seeds), [""], right(given.runs)):
        print(line, flush=True)


def broken(draws: int, seeds: int) -> Iterator[str]:
    """One row for each broken mechanism: audits that find it, the draws and the time that the median one takes."""
    yield f"| broken mechanism, claims epsilon = 1 | found, of {seeds} audits | draws | bound | seconds |"
    yield "|---|---|---|---|---|"
    every = 0
    for case in BROKEN:
        began = time.process_time()
        reports = sorted((case.audited(seed, draws) for seed in range(seeds)), key=lambda each: each.looks[-1][0])
        seconds = (time.process_time() - began) / seeds
        found, middle = sum(each.broken for each in reports), reports[seeds // 2]
        every += found == seeds
        cells = f"{found}", f"{middle.looks[-1][0]:,}", f"{middle.lower_bound:.2f}", f"{seconds:.2f}"
        yield f"| {case.what} | {' | '.join(cells)} |"
    yield ""
    yield f"Found in every audit: {every} of {len(BROKEN)}, with at most {draws:,} draws for each neighbour."


def right(runs: int) -> Iterator[str]:
    """One row for each right mechanism: audits at its own epsilon that call it broken, and at half of it."""
    yield f"| right mechanism | called broken, of {runs} audits | largest bound / epsilon | at half the epsilon |"
    yield "|---|---|---|---|"
    alarms = 0
    for case in RIGHT:
        reports = [case.audited(seed, 1000) for seed in range(runs)]
        false = sum(each.broken for each in reports)
        alarms += false
        largest = max(each.lower_bound for each in reports) / case.epsilon
        yield f"| {case.what} | {false} | {largest:.2f} | {_at_half(case)} |"
    yield ""
    yield f"False alarms: {alarms} in {runs * len(RIGHT):,} audits."


def _at_half(case: Case) -> str:
    report = case.audited(0, 8000, claimed_epsilon=case.epsilon / 2)
    return "broken" if report.broken else f"not refuted (epsilon is at least {report.lower_bound:.2f})"


if __name__ == "__main__":
    main()
